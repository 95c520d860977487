#include "core/task/task_loader.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/config/yaml.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/images/image_check.h"
#include "core/json/json_schema.h"
#include "core/task/functions.h"
#include "core/task/path_value.h"
#include "core/task/placeholders.h"
#include "core/task/task_fields.h"
#include "core/task/task_json.h"
#include "core/task/tool_names.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::uint64_t kMaxPromptBytes = 1u << 20;
constexpr std::uint64_t kMaxSchemaBytes = 1u << 20;

/// A name of the allowed letters from the file's.
std::string default_name(const std::filesystem::path& file) {
  std::string name;
  for (const char c : file.stem().string().substr(0, 64)) {
    const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool allowed = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    name += allowed ? lower : '-';
  }
  return name.empty() ? "task" : name;
}

/// Byte offset of a place in its text.
std::size_t offset_of(std::string_view text, const TextPlace& place) {
  std::size_t at = 0;
  for (int line = 1; line < place.line && at < text.size(); ++line) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) return text.size();
    at = end + 1;
  }
  return std::min(text.size(), at + static_cast<std::size_t>(std::max(0, place.column - 1)));
}

bool is_blank(std::string_view text) noexcept {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

std::size_t count_openings(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find("{{"); at != std::string_view::npos; at = text.find("{{", at + 2))
    ++count;
  return count;
}

/// Where a placeholder of a prompt in the task file stands: the same "{{" counted from where the
/// prompt begins, since YAML's folding and escapes keep their order.
TextPlace place_in_task(std::string_view text, const TextPlace& prompt, std::string_view decoded,
                        const PromptPart& part) {
  std::size_t skip = count_openings(decoded.substr(0, part.offset));
  std::size_t at = text.find("{{", offset_of(text, prompt));
  for (; skip > 0 && at != std::string_view::npos; --skip) at = text.find("{{", at + 2);
  if (at == std::string_view::npos) return prompt;
  return place_at(text, prompt.source, at, part.length);
}

/// Reads one task file; every finding is kept until the end.
class Loader {
 public:
  Loader(std::string shown, std::string text, std::filesystem::path folder, const FileJudge& judge)
      : folder_(std::move(folder)), judge_(judge) {
    source_ = findings_.add_source(std::move(shown), std::move(text));
  }

  Task load(const std::filesystem::path& file) {
    const YamlNode root = read_yaml(source_, findings_);
    if (root.kind == YamlNode::Kind::null)
      findings_.error({.source = source_},
                      "the task is empty; it needs at least 'version: 1' and 'prompt'");
    else if (root.kind != YamlNode::Kind::refused)
      read(root);
    findings_.throw_if_any();
    Task task = std::move(draft_.task);
    task.file = file;
    if (task.name.empty()) task.name = default_name(file);
    task.digest = task_digest(task);
    return task;
  }

 private:
  void read(const YamlNode& root) {
    task_fields(draft_, folder_).read(root, findings_);
    remember_places(root, "");
    if (!root.is_mapping()) return;
    check_prompt_sources(root);
    if (draft_.prompt && !draft_.task.prompt.empty())
      check_prompt(draft_.task.prompt, *draft_.prompt);
    if (!draft_.prompt_file.empty())
      draft_.task.prompt = read_prompt_file(draft_.prompt_file, *draft_.prompt_file_at);
    read_functions();
    for (const YamlNode& tool : draft_.enabled)
      if (tool.is_scalar() && tool.text != kDefaultTools) check_tool(tool.text, tool.place);
    for (std::size_t i = 0; i < draft_.stages.size(); ++i) {
      TaskStage& stage = draft_.task.stages[i];
      const auto& place = draft_.stages[i];
      if (!stage.prompt.empty()) check_prompt(stage.prompt, place.prompt);
      if (!place.prompt_file.empty())
        stage.prompt = read_prompt_file(place.prompt_file, place.prompt);
      check_stage_tools(stage, place);
      stage.place = shown(place.stage);
    }
    for (std::size_t i = 0; i < draft_.images.size(); ++i)
      read_image(draft_.task.images[i], draft_.images[i]);
    if (draft_.task.instructions_replace && draft_.task.instructions.empty())
      findings_.error(root.find("instructions_replace")->place,
                      "'instructions_replace' needs 'instructions'");
    if (draft_.schema_at) read_output_schema();
    const YamlNode* model = root.find("model");
    const YamlNode* cassette = model && model->is_mapping() ? model->find("cassette") : nullptr;
    if (cassette && !draft_.task.model.cassette.empty())  // read later, where it is needed
      may_read(draft_.task.model.cassette, "cassette", cassette->place);
  }

  /// One of prompt, prompt_file and stages.
  void check_prompt_sources(const YamlNode& root) {
    const YamlNode* first = nullptr;
    const char* first_name = nullptr;
    for (const char* name : {"prompt", "prompt_file", "stages"}) {
      const YamlNode* node = root.find(name);
      if (node && first)
        findings_.error(node->place, std::string("both '") + first_name + "' and '" + name +
                                         "' are given; leave one of them out");
      if (node && !first) {
        first = node;
        first_name = name;
      }
    }
    if (!first)
      findings_.error(root.place, "key 'prompt', 'prompt_file' or 'stages' is missing in task");
    const auto& stages = draft_.task.stages;
    const bool verifies = std::any_of(stages.begin(), stages.end(),
                                      [](const TaskStage& stage) { return stage.verify; });
    if (verifies && draft_.task.verify.commands.empty())
      findings_.error(root.find("stages")->place,
                      "the stage 'verify' needs commands in the task's 'verify'");
  }

  void read_functions() {
    if (draft_.functions.empty()) return;
    Task& task = draft_.task;
    task.functions_file = absolute_path(folder_, draft_.functions);
    if (!may_read(task.functions_file, "manifest", *draft_.functions_at)) return;
    task.functions = sortie::read_functions(task.functions_file, draft_.functions,
                                            *draft_.functions_at, findings_);
  }

  /// Of tools.enable: not whether it leaves the tool out.
  void check_tool(const std::string& name, const TextPlace& place) {
    std::string nearest;
    if (std::string problem = tool_problem(name, draft_.task, nearest); !problem.empty())
      findings_.error(place, std::move(problem), std::move(nearest));
  }

  void check_stage_tools(const TaskStage& stage, const TaskDraft::StagePlace& place) {
    for (std::size_t i = 0; i < std::min(stage.tools.size(), place.tools.size()); ++i) {
      std::string nearest;
      std::string problem = tool_problem(stage.tools[i], draft_.task, nearest);
      if (problem.empty() && stage.tools[i] == "run_tests" && draft_.task.verify.commands.empty())
        problem = "run_tests needs commands in the task's 'verify'";
      if (!problem.empty()) findings_.error(place.tools[i], std::move(problem), std::move(nearest));
    }
  }

  /// Whether a file that the task names may be read for it; a finding where not.
  bool may_read(const std::filesystem::path& file, const char* what, const TextPlace& place) {
    const std::string problem = judge_ ? judge_(file, draft_.task) : "";
    if (problem.empty()) return true;
    findings_.error(place, what + (" '" + one_line(file.string()) + "': ") + problem);
    return false;
  }

  /// What it is says its content, not its name.
  void read_image(TaskImage& image, const TextPlace& place) {
    if (!may_read(image.path, "image", place)) return;
    TextFile file = read_bytes_file(image.path, kMaxImageBytes);
    const auto header = read_image_header(file.text);
    if (file.problem.empty() && !header)
      file.problem = file.text.empty() ? "is empty" : "is no PNG, JPEG, GIF or WebP image";
    else if (file.problem.empty())
      file.problem = image_problem(file.text, *header);
    if (!file.problem.empty())
      return findings_.error(place,
                             "image '" + one_line(image.path.string()) + "': " + file.problem);
    image.header = *header;
    image.content = std::move(file.text);
  }

  std::string shown(const TextPlace& place) const {
    return findings_.name(source_) + ":" + std::to_string(place.line) + ":" +
           std::to_string(place.column);
  }

  /// For what is found later, when a value asks for more than the policy lets it.
  void remember_places(const YamlNode& node, const std::string& prefix) {
    for (const auto& member : node.members) {
      const std::string key = prefix + member.key.text;
      const TextPlace& place = member.value.place;
      draft_.task.places[key] = shown(place);
      if (std::count(key.begin(), key.end(), '.') < 2) remember_places(member.value, key + ".");
    }
  }

  void check_prompt(const std::string& prompt, const TextPlace& place) {
    if (is_blank(prompt)) findings_.error(place, "'prompt' must not be blank");
    check_parts(prompt, [&](const PromptPart& part) {
      return place_in_task(findings_.text(source_), place, prompt, part);
    });
  }

  /// Finds the placeholders that name nothing, and keeps where the others stand.
  template <typename PlaceOf>
  void check_parts(const std::string& prompt, const PlaceOf& place_of) {
    for (auto& problem : check_placeholders(prompt, draft_.task.vars))
      findings_.error(place_of(problem.part), std::move(problem.message),
                      std::move(problem.nearest));
    auto& uses = draft_.task.uses;
    for (const PromptPart& part : split_prompt(prompt)) {
      if (part.kind != PromptPart::Kind::variable || uses.contains(part.text)) continue;
      const TextPlace place = place_of(part);
      uses[part.text] = {findings_.name(place.source), place.line, place.column};
    }
  }

  /// @param named  the file as the task names it
  std::string read_prompt_file(const std::string& named, const TextPlace& place) {
    const std::filesystem::path path = (folder_ / named).lexically_normal();
    if (!may_read(path, "prompt file", place)) return {};
    draft_.task.prompt_files.push_back(path);
    TextFile file = read_text_file(path, kMaxPromptBytes);
    if (file.problem.empty() && is_blank(file.text)) file.problem = "is blank";
    if (!file.problem.empty()) {
      findings_.error(place, "prompt file '" + one_line(path.string()) + "': " + file.problem);
      return {};
    }
    const std::size_t source = findings_.add_source(named, file.text);
    check_parts(file.text, [&](const PromptPart& part) {
      return place_at(file.text, source, part.offset, part.length);
    });
    return std::move(file.text);
  }

  /// The schema has to be one that can be checked in full; else misfits would pass.
  void read_output_schema() {
    const std::filesystem::path& path = draft_.task.output.schema_file;
    if (!may_read(path, "schema file", *draft_.schema_at)) return;
    TextFile file = read_text_file(path, kMaxSchemaBytes);
    const std::string name = "schema file '" + one_line(path.string()) + "'";
    if (!file.problem.empty())
      return findings_.error(*draft_.schema_at, name + ": " + file.problem);
    try {
      Json schema = parse_json(file.text);
      if (!schema.is_object())
        return findings_.error(*draft_.schema_at, name + ": is no JSON object");
      JsonSchema compiled(schema);
      draft_.task.output.schema = std::move(schema);
    } catch (const JsonError& error) {
      const std::size_t source = findings_.add_source(path.string(), file.text);
      findings_.error(place_at(file.text, source, error.offset()), error.what());
    } catch (const InputError& error) {
      findings_.error(*draft_.schema_at, name + ": " + error.what());
    }
  }

  std::filesystem::path folder_;
  const FileJudge& judge_;
  Diagnostics findings_;
  std::size_t source_ = 0;
  TaskDraft draft_;
};

}  // namespace

Task load_task(const std::string& path, const std::string& stdin_text) {
  return load_task(path, stdin_text, {});
}

Task load_task(const std::string& path, const std::string& stdin_text, const FileJudge& judge) {
  if (path == "-")
    return Loader("<stdin>", stdin_text, std::filesystem::current_path(), judge).load({});
  TextFile file = read_text_file(path, kMaxYamlBytes, Pipes::accepted);
  if (!file.problem.empty()) throw InputError(path + ": error: " + file.problem);
  const std::filesystem::path absolute = std::filesystem::absolute(path).lexically_normal();
  // What a shell's <(command) names lies in no folder of the task's.
  if (names_descriptor(path))
    return Loader(path, std::move(file.text), std::filesystem::current_path(), judge).load({});
  return Loader(path, std::move(file.text), absolute.parent_path(), judge).load(absolute);
}

Json task_schema() {
  TaskDraft draft;
  Json schema = file_schema(task_fields(draft, {}), "sortie task");
  schema.set("oneOf", Json::array({Json::object({{"required", Json::array({"prompt"})}}),
                                   Json::object({{"required", Json::array({"prompt_file"})}}),
                                   Json::object({{"required", Json::array({"stages"})}})}));
  return schema;
}

}  // namespace sortie
