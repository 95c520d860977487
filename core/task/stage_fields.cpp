#include "core/task/task_fields.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/task/tool_names.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using namespace std::chrono_literals;

constexpr TextLimits kStageName = {.pattern = "[a-z0-9][a-z0-9-]{0,63}",
                                   .meaning = "1 to 64 of a-z, 0-9 and '-'"};
constexpr TextLimits kSavedName = {.pattern = "[A-Za-z0-9_][A-Za-z0-9._-]{0,127}",
                                   .meaning = "a file name without folders or a leading dot"};
constexpr std::size_t kMaxStages = 50;
constexpr const char* kVerify = "verify";

/// A stage while it is read.
struct StageDraft {
  TaskStage stage{};
  TaskDraft::StagePlace place{};
};

FieldValue placed_text(std::string& target, TextPlace& place, TextLimits limits = {}) {
  FieldValue value = text_value(target, limits);
  value.read = [read = std::move(value.read), &place](const YamlNode& node, const std::string& name,
                                                      Diagnostics& findings) {
    place = node.place;
    read(node, name, findings);
  };
  return value;
}

/// Keeps the places of the names, which are checked once the whole task is known.
FieldValue tools_value(StageDraft& draft) {
  FieldValue value = texts_value(draft.stage.tools);
  value.read = [read = std::move(value.read), &draft](const YamlNode& node, const std::string& name,
                                                      Diagnostics& findings) {
    for (const auto& item : node.items) draft.place.tools.push_back(item.place);
    read(node, name, findings);
    if (node.is_list() && node.items.empty()) draft.stage.tools = {kNoTools};
  };
  // All tools are null, which differs from none: [].
  value.write = [&draft] {
    return draft.stage.tools.empty() ? Json() : written_tools(draft.stage.tools);
  };
  return value;
}

/// Names that sortie itself writes to the output folder, in any letter case, since some file
/// systems ignore it.
bool is_artifact(const std::string& name) {
  const std::string lower = ascii_lower(name);
  const auto is = [&](const char* one) { return lower == one; };
  constexpr const char* kArtifacts[] = {
      "result.json",        "transcript.jsonl",  "blobs",      "kept",
      "changes.diff",       "partial.diff",      "submodules", "partial-submodules",
      "last-message.txt",   "last-message.json", "summary.md", "report.html",
      "report.json",        "attestation.json",  "state",      "lock",
      "commit-message.txt", "change.mbox",       "pr.json",    "review.json",
      "junit.xml",          "results.sarif"};
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
      findings.error(node.place, "'" + draft.stage.save + "' is a file that sortie itself writes");
  };
  return value;
}

Fields long_form(StageDraft& draft) {
  TaskStage& stage = draft.stage;
  FieldValue prompt_file = placed_text(draft.place.prompt_file, draft.place.prompt);
  prompt_file.write = kNotWritten;  // the prompt is
  return Fields("stage")
      .require("name", text_value(stage.name, kStageName), "The stage's name, for people.")
      .add("prompt", placed_text(stage.prompt, draft.place.prompt), "The prompt that is sent.")
      .add("prompt_file", std::move(prompt_file),
           "A file with the prompt instead, relative to the task file.")
      .add("tools", tools_value(draft),
           "The tools of the run that this stage has; [] for none, by default all.")
      .add("choice", placed_text(stage.tool_choice, draft.place.choice, kToolChoice),
           "As the task's tools.choice, which it replaces in this stage.")
      .add("sandbox", enum_value(stage.sandbox),
           "read-only: this stage can't write to the workspace; never looser than the policy's.")
      .add("max_turns", integer_value(stage.max_turns, 1, 1'000'000),
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
                   "expected a stage: 'NAME: prompt', the word 'verify', or a mapping with 'name'");
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
        Json::array({Json::object({{"const", kVerify}}),
                     with_one_of(long_form(any).schema(), {"prompt", "prompt_file"}),
                     Json::object({{"type", "object"},
                                   {"propertyNames",
                                    Json::object({{"pattern", "^[a-z0-9][a-z0-9-]{0,63}$"}})},
                                   {"additionalProperties", prompt},
                                   {"minProperties", 1},
                                   {"maxProperties", 1}})})}});
}

/// Refuses two stages of one name, or that save one file.
void add_stage(StageDraft stage, const TextPlace& at, TaskDraft& draft, Diagnostics& findings) {
  auto& stages = draft.task.stages;
  const auto same = [&](const TaskStage& other) {
    return !stage.stage.verify && other.name == stage.stage.name;
  };
  if (!stage.stage.name.empty() && std::any_of(stages.begin(), stages.end(), same))
    findings.error(at, "two stages are called '" + stage.stage.name + "'");
  const auto saves = [&](const TaskStage& other) {
    return ascii_lower(other.save) == ascii_lower(stage.stage.save);
  };
  if (!stage.stage.save.empty() && std::any_of(stages.begin(), stages.end(), saves))
    findings.error(stage.place.save, "two stages save '" + stage.stage.save + "'");
  stages.push_back(std::move(stage.stage));
  draft.stages.push_back(std::move(stage.place));
}

void read_stages(const YamlNode& node, TaskDraft& draft, Diagnostics& findings) {
  if (node.items.empty()) findings.error(node.place, "'stages' is empty");
  if (node.items.size() > kMaxStages)
    findings.error(node.place, "'stages' has more than " + std::to_string(kMaxStages) + " stages");
  for (const auto& item : node.items) {
    StageDraft stage;
    read_stage(item, stage, findings);
    add_stage(std::move(stage), item.place, draft, findings);
  }
}

/// null if there are none
Json written_stages(const std::vector<TaskStage>& stages) {
  Json list = stages.empty() ? Json() : Json::array();
  for (const TaskStage& stage : stages) {
    StageDraft draft{.stage = stage};
    list.push_back(stage.verify ? Json(kVerify) : long_form(draft).write());
  }
  return list;
}

}  // namespace

FieldValue stages_value(TaskDraft& draft) {
  return {.schema =
              [] {
                return Json::object({{"type", "array"},
                                     {"items", stage_schema()},
                                     {"minItems", 1},
                                     {"maxItems", static_cast<std::int64_t>(kMaxStages)}});
              },
          .read =
              [&draft](const YamlNode& node, const std::string& name, Diagnostics& findings) {
                if (check_list(node, name, "a list of stages", findings))
                  read_stages(node, draft, findings);
              },
          .write = [&draft] { return written_stages(draft.task.stages); }};
}

}  // namespace sortie
