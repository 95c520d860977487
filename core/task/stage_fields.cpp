#include "core/task/stage_fields.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/text/text.h"

namespace sortie {
namespace {

constexpr TextLimits kStageName = {.pattern = "[a-z0-9][a-z0-9-]{0,63}",
                                   .meaning = "1 to 64 of a-z, 0-9 and '-'"};
constexpr TextLimits kSavedName = {.pattern = "[A-Za-z0-9_][A-Za-z0-9._-]{0,127}",
                                   .meaning = "a file name without folders"};
constexpr std::size_t kMaxStages = 50;
constexpr const char* kVerify = "verify";

/// A stage while it is read.
struct StageDraft {
  TaskStage stage;
  TaskDraft::StagePlace place;
};

FieldValue placed_text(std::string& target, TextPlace& place) {
  FieldValue value = text_value(target);
  value.read = [read = std::move(value.read), &place](const YamlNode& node, const std::string& name,
                                                      Diagnostics& findings) {
    place = node.place;
    read(node, name, findings);
  };
  return value;
}

/// Names whose places are kept: which tools there are is known once the whole task is.
FieldValue tools_value(StageDraft& draft) {
  FieldValue value = texts_value(draft.stage.tools);
  value.read = [read = std::move(value.read), &draft](const YamlNode& node, const std::string& name,
                                                      Diagnostics& findings) {
    if (node.is_list() && node.items.empty())
      findings.error(node.place, "'tools' of a stage has no tool");
    for (const auto& item : node.items) draft.place.tools.push_back(item.place);
    read(node, name, findings);
  };
  return value;
}

/// What sortie itself writes into the output folder, in any case: some disks know no case.
bool is_artifact(const std::string& name) {
  const std::string lower = ascii_lower(name);
  const auto is = [&](const char* one) { return lower == one; };
  constexpr const char* kArtifacts[] = {"result.json",
                                        "transcript.jsonl",
                                        "blobs",
                                        "kept",
                                        "changes.diff",
                                        "partial.diff",
                                        "last-message.txt",
                                        "last-message.json",
                                        "summary.md",
                                        "report.html",
                                        "report.json",
                                        "attestation.json",
                                        "state",
                                        "lock",
                                        "commit-message.txt",
                                        "change.mbox",
                                        "pr.json",
                                        "review.json",
                                        "junit.xml",
                                        "results.sarif"};
  return std::any_of(std::begin(kArtifacts), std::end(kArtifacts), is) ||
         lower.starts_with("attempt-") || lower.starts_with('.') || lower.ends_with(".tmp");
}

FieldValue save_value(StageDraft& draft) {
  FieldValue value = text_value(draft.stage.save, kSavedName);
  value.read = [read = std::move(value.read), &draft](const YamlNode& node, const std::string& name,
                                                      Diagnostics& findings) {
    draft.place.save = node.place;
    read(node, name, findings);
    if (is_artifact(draft.stage.save))
      findings.error(node.place, "'" + draft.stage.save + "' is a file of sortie's own");
  };
  return value;
}

FieldValue turns_value(std::optional<int>& target) {
  FieldValue value = whole_value(
      1, 1, 1'000'000, [&target](std::int64_t turns) { target = static_cast<int>(turns); });
  value.schema = Json::object({{"type", "integer"}, {"minimum", 1}, {"maximum", 1'000'000}});
  return value;
}

Fields long_form(StageDraft& draft) {
  TaskStage& stage = draft.stage;
  return Fields("stage")
      .require("name", text_value(stage.name, kStageName), "Of the stage, for people.")
      .add("prompt", placed_text(stage.prompt, draft.place.prompt), "What is sent.")
      .add("prompt_file", placed_text(draft.place.prompt_file, draft.place.prompt),
           "A file with the prompt instead, relative to the task file.")
      .add("tools", tools_value(draft), "Of the run's tools, those that this stage has.")
      .add(
          "sandbox", choice_value(stage.sandbox, {"read-only", "workspace-write"}),
          "read-only: nothing of the workspace can be written in this stage; never looser than the "
          "policy's.")
      .add("max_turns", turns_value(stage.max_turns),
           "Requests to the model in this stage; one that takes more ends the run with code 4.")
      .add("save", save_value(draft), "A file in the output folder for the stage's last message.");
}

void read_long_form(const YamlNode& node, StageDraft& draft, Diagnostics& findings) {
  long_form(draft).read(node, findings);
  const YamlNode* prompt = node.find("prompt");
  const YamlNode* file = node.find("prompt_file");
  if (prompt && file)
    findings.error(file->place, "both 'prompt' and 'prompt_file' are given; leave one of them out");
  if (!prompt && !file) findings.error(node.place, "key 'prompt' or 'prompt_file' is missing");
}

/// `NAME: prompt`.
void read_short_form(const YamlNode& node, StageDraft& draft, Diagnostics& findings) {
  const YamlMember& member = node.members.front();
  if (const auto name = read_text(member.key, "stage name", kStageName, findings))
    draft.stage.name = *name;
  placed_text(draft.stage.prompt, draft.place.prompt).read(member.value, member.key.text, findings);
}

void read_stage(const YamlNode& node, StageDraft& draft, Diagnostics& findings) {
  draft.place.stage = draft.place.prompt = node.place;
  if (node.is_scalar() && node.text == kVerify) {
    draft.stage.name = kVerify;
    draft.stage.verify = true;
    return;
  }
  if (!node.is_mapping() || node.members.empty()) {
    findings.error(node.place,
                   "a stage is 'NAME: prompt', the word 'verify', or a mapping with 'name'");
    return;
  }
  if (node.members.size() == 1 && !node.find("name"))
    read_short_form(node, draft, findings);
  else
    read_long_form(node, draft, findings);
  if (draft.stage.name == kVerify)
    findings.error(node.place, "the stage 'verify' is written as the plain word, without a prompt");
}

Json stage_schema() {
  StageDraft any;
  const Json prompt = Json::object({{"type", "string"}, {"minLength", 1}});
  return Json::object(
      {{"anyOf",
        Json::array({Json::object({{"const", kVerify}}), long_form(any).schema(),
                     Json::object({{"type", "object"},
                                   {"propertyNames",
                                    Json::object({{"pattern", "^[a-z0-9][a-z0-9-]{0,63}$"}})},
                                   {"additionalProperties", prompt},
                                   {"minProperties", 1},
                                   {"maxProperties", 1}})})}});
}

}  // namespace

FieldValue stages_value(TaskDraft& draft) {
  Json schema = Json::object({{"type", "array"},
                              {"items", stage_schema()},
                              {"minItems", 1},
                              {"maxItems", static_cast<std::int64_t>(kMaxStages)}});
  return {.schema = std::move(schema),
          .read = [&draft](const YamlNode& node, const std::string& name, Diagnostics& findings) {
            if (!check_list(node, name, "a list of stages", findings)) return;
            if (node.items.empty()) findings.error(node.place, "'stages' has no stage");
            if (node.items.size() > kMaxStages)
              findings.error(node.place,
                             "'stages' has more than " + std::to_string(kMaxStages) + " stages");
            for (const auto& item : node.items) {
              StageDraft stage;
              read_stage(item, stage, findings);
              const auto same = [&](const TaskStage& other) {
                return !stage.stage.verify && other.name == stage.stage.name;
              };
              auto& stages = draft.task.stages;
              if (!stage.stage.name.empty() && std::any_of(stages.begin(), stages.end(), same))
                findings.error(item.place, "two stages are called '" + stage.stage.name + "'");
              const auto saves = [&](const TaskStage& other) {
                return ascii_lower(other.save) == ascii_lower(stage.stage.save);
              };
              if (!stage.stage.save.empty() && std::any_of(stages.begin(), stages.end(), saves))
                findings.error(stage.place.save, "two stages save '" + stage.stage.save + "'");
              stages.push_back(std::move(stage.stage));
              draft.stages.push_back(std::move(stage.place));
            }
          }};
}

}  // namespace sortie
