#include "core/task/task_loader.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>
#include <utility>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/images/image_file.h"
#include "core/json/json_schema.h"
#include "core/task/findings_schema.h"
#include "core/task/functions.h"
#include "core/task/task_fields.h"
#include "core/task/tool_names.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// The file's name, with only allowed letters.
std::string default_name(const std::filesystem::path& file) {
  std::string name;
  for (const char c : file.stem().string().substr(0, 64)) {
    const char lower = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    const bool allowed = (lower >= 'a' && lower <= 'z') || (lower >= '0' && lower <= '9');
    name += allowed ? lower : '-';
  }
  return name.empty() ? "task" : name;
}

/// The byte offset of a place in its text.
std::size_t offset_of(std::string_view text, const TextPlace& place) {
  std::size_t at = 0;
  for (int line = 1; line < place.line && at < text.size(); ++line) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) return text.size();
    at = end + 1;
  }
  return std::min(text.size(), at + static_cast<std::size_t>(std::max(0, place.column - 1)));
}

std::size_t count_openings(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = text.find("{{"); at != std::string_view::npos; at = text.find("{{", at + 2))
    ++count;
  return count;
}

/// The place of a prompt's placeholder in the task file: counts the "{{" from the beginning of the
/// prompt, since YAML's folding and escapes keep their order.
TextPlace place_in_task(std::string_view text, const TextPlace& prompt, std::string_view decoded,
                        const PromptPart& part) {
  std::size_t skip = count_openings(decoded.substr(0, part.offset));
  std::size_t at = text.find("{{", offset_of(text, prompt));
  for (; skip > 0 && at != std::string_view::npos; --skip) at = text.find("{{", at + 2);
  if (at == std::string_view::npos) return prompt;
  return place_at(text, prompt.source, at, part.length);
}

std::string left_out(const std::string& tool) {
  return "the run does not have the " + tool + ": tools.enable leaves it out";
}

/// The error that a name or glob "mcp__SERVER__TOOL" matches no server of the task; or "".
std::string server_problem(const std::string& word, const std::vector<TaskMcpServer>& servers,
                           std::string& nearest) {
  const bool known = std::any_of(
      servers.begin(), servers.end(),
      [&word](const TaskMcpServer& server) { return may_mean_tool_of(word, server.name); });
  if (known) return {};
  std::vector<std::string> names;
  for (const TaskMcpServer& server : servers) names.push_back(server.name);
  const std::string text = word.substr(std::strlen("mcp__"));
  const std::size_t end = std::min(text.find("__"), text.size());
  const std::string server = nearest_name(text.substr(0, end), names);
  if (!server.empty()) nearest = "mcp__" + server + text.substr(end);
  return "'" + one_line(word, 80) + "' names no server of tools.mcp";
}

/// Why no run of the task can have the tool, as far as known when it is loaded; or "".
/// @param nearest  set to the name that was probably meant, or ""
std::string tool_problem(const std::string& name, const Task& task, std::string& nearest) {
  const std::string tool = "tool '" + one_line(name, 60) + "'";
  if (is_mcp_tool(name)) {
    // Which tools exist is known once the servers have listed them.
    const std::string problem = server_problem(name, task.mcp, nearest);
    if (!problem.empty() || name.find('*') != std::string::npos) return problem;
    return task.tools.empty() || enables_tool(task.tools, name) ? "" : left_out(tool);
  }
  std::vector<std::string> known = built_in_tool_names();
  for (const TaskFunction& function : task.functions) known.push_back(function.name);
  if (!is_one_of(name, known)) {
    nearest = nearest_name(name, known);
    return "there is no " + tool;
  }
  if (task.tools.empty() || enables_tool(task.tools, name)) return {};
  nearest = nearest_name(name, task.tools);
  return left_out(tool);
}

}  // namespace

TaskFile::TaskFile(const std::string& path, const std::string& text, const std::string& called) {
  if (path == "-") {
    source_ = findings_.add_source(called, text);
  } else {
    TextFile file = read_text_file(path, kMaxYamlBytes, Pipes::accepted);
    if (!file.problem.empty())
      throw InputError(one_line(path, 200) + ": error: " + file.problem +
                       (path.find(' ') == std::string::npos
                            ? ""
                            : "; a task is a YAML file, and the prompt is its 'prompt:'; "
                              "'sortie run -p PROMPT' takes a prompt without a file"));
    source_ = findings_.add_source(path, std::move(file.text));
    // The file of a shell's <(command) has no folder that paths could be relative to.
    if (!names_descriptor(path)) file_ = std::filesystem::absolute(path).lexically_normal();
  }
  folder_ = file_.empty() ? std::filesystem::current_path() : file_.parent_path();
  read();
}

void TaskFile::read() {
  root_ = read_yaml(source_, findings_);
  if (root_.kind == YamlNode::Kind::null)
    findings_.error({.source = source_},
                    "the task is empty; it needs at least 'version: 1' and 'prompt'");
  if (root_.kind == YamlNode::Kind::null || root_.kind == YamlNode::Kind::refused) return;
  task_fields(draft_, folder_).read(root_, findings_);
  remember_places(root_, "");
  if (!draft_.functions.empty())
    draft_.task.functions_file = absolute_path(folder_, draft_.functions);
}

/// For later errors: a value may ask for more than the policy allows.
void TaskFile::remember_places(const YamlNode& node, const std::string& prefix) {
  for (const auto& member : node.members) {
    const std::string key = prefix + member.key.text;
    const TextPlace& place = member.value.place;
    draft_.task.places[key] = shown(place);
    if (std::count(key.begin(), key.end(), '.') < 2) remember_places(member.value, key + ".");
  }
}

std::filesystem::path TaskFile::prompt_path(const std::string& named) const {
  return (folder_ / named).lexically_normal();
}

std::vector<std::filesystem::path> TaskFile::named_files() const {
  std::vector<std::filesystem::path> files;
  const Task& task = draft_.task;
  if (!draft_.prompt_file.empty()) files.push_back(prompt_path(draft_.prompt_file));
  if (!task.functions_file.empty()) files.push_back(task.functions_file);
  for (const auto& stage : draft_.stages)
    if (!stage.prompt_file.empty()) files.push_back(prompt_path(stage.prompt_file));
  for (const TaskImage& image : task.images) files.push_back(image.path);
  if (draft_.schema_at) files.push_back(task.output.schema_file);
  if (!task.model.cassette.empty()) files.push_back(task.model.cassette);
  return files;
}

Task TaskFile::load(const RefusedFiles& refused) {
  ReferencedFiles files(refused, findings_);
  if (root_.is_mapping()) check(files);
  findings_.throw_if_any();
  Task task = std::move(draft_.task);
  if (!draft_.tool_success) task.expect.tool_success = task.expect.changes != ExpectedChanges::any;
  task.file = file_;
  if (task.name.empty()) task.name = default_name(file_);
  return task;
}

void TaskFile::refuse(const std::string& policy, const std::string& others) {
  ReferencedFiles files(findings_);
  if (root_.is_mapping()) check(files);
  const YamlNode* named = root_.find("policy");
  std::string rest = policy;
  if (named != nullptr && !policy.empty()) {
    const bool has_places = policy.find('\n') != std::string::npos;
    findings_.error(named->place, has_places ? "the policy has errors:" : "'policy': " + policy);
    if (!has_places) rest.clear();
  }
  std::string text = findings_.render();
  for (const std::string& more : {rest, others})
    if (!more.empty()) text += (text.empty() ? "" : "\n") + more;
  throw InputError(text);
}

/// Reads the named files, and checks what depends on them.
void TaskFile::check(ReferencedFiles& files) {
  Task& task = draft_.task;
  names_are_known_ = files.are_read() || task.functions_file.empty();
  check_prompt_sources();
  if (draft_.prompt && !task.prompt.empty()) check_prompt(task.prompt, *draft_.prompt);
  if (!draft_.prompt_file.empty())
    task.prompt = read_prompt_file(draft_.prompt_file, *draft_.prompt_file_at, files);
  read_functions(files);
  check_tools();
  for (std::size_t i = 0; i < draft_.stages.size(); ++i)
    check_stage(task.stages[i], draft_.stages[i], files);
  for (std::size_t i = 0; i < draft_.images.size(); ++i)
    files.read_image(task.images[i], draft_.images[i]);
  if (task.instructions_replace && task.instructions.empty())
    findings_.error(root_.find("instructions_replace")->place,
                    "'instructions_replace' needs 'instructions'");
  if (draft_.schema_at)
    task.output.schema = files.read_schema(task.output.schema_file, *draft_.schema_at);
  else if (task.output.findings)
    task.output.schema = findings_schema();
  // Read later, when it is needed.
  if (!task.model.cassette.empty())
    files.may_read(task.model.cassette, "cassette", root_.find("model")->find("cassette")->place);
}

/// Checks that there is exactly one of prompt, prompt_file and stages.
void TaskFile::check_prompt_sources() {
  const YamlNode* first = nullptr;
  const char* first_name = nullptr;
  for (const char* name : {"prompt", "prompt_file", "stages"}) {
    const YamlNode* node = root_.find(name);
    if (node && first)
      findings_.error(node->place, std::string("both '") + first_name + "' and '" + name +
                                       "' are given; leave one of them out");
    if (node && !first) {
      first = node;
      first_name = name;
    }
  }
  if (!first)
    findings_.error(root_.place, "key 'prompt', 'prompt_file' or 'stages' is missing in task");
  const auto& stages = draft_.task.stages;
  const bool verifies = std::any_of(stages.begin(), stages.end(),
                                    [](const TaskStage& stage) { return stage.verify; });
  if (verifies && draft_.task.verify.commands.empty())
    findings_.error(root_.find("stages")->place,
                    "the stage 'verify' needs commands in the task's 'verify'");
}

void TaskFile::check_prompt(const std::string& prompt, const TextPlace& place) {
  if (is_blank_prompt(prompt)) findings_.error(place, "'prompt' must not be blank");
  check_parts(prompt, [&](const PromptPart& part) {
    return place_in_task(findings_.text(source_), place, prompt, part);
  });
}

/// Finds unknown placeholders, and keeps the places of the others.
template <typename PlaceOf>
void TaskFile::check_parts(const std::string& prompt, const PlaceOf& place_of) {
  for (auto& problem : check_placeholders(prompt, draft_.task.vars))
    findings_.error(place_of(problem.part), std::move(problem.message), std::move(problem.nearest));
  auto& uses = draft_.task.uses;
  for (const PromptPart& part : split_prompt(prompt)) {
    if (part.kind != PromptPart::Kind::variable || uses.contains(part.text)) continue;
    const TextPlace place = place_of(part);
    uses[part.text] = {findings_.name(place.source), place.line, place.column};
  }
}

namespace {

/// A prompt file with a part for the system prompt: "System:", its text, "User:", the prompt. Each
/// of the two stands at the beginning of a line; the first one begins the file.
struct PromptFileParts {
  std::string system{};
  std::size_t prompt_at = 0;
  bool system_without_user = false;
};

PromptFileParts prompt_file_parts(const std::string& text) {
  constexpr std::string_view kSystem = "System:";
  constexpr std::string_view kUser = "\nUser:";
  PromptFileParts parts;
  if (!text.starts_with(kSystem)) return parts;
  const std::size_t user = text.find(kUser);
  if (user == std::string::npos) {
    parts.system_without_user = true;
    return parts;
  }
  parts.system = trimmed(std::string_view(text).substr(kSystem.size(), user - kSystem.size()));
  parts.prompt_at = std::min(text.find_first_not_of(" \t\r\n", user + kUser.size()), text.size());
  parts.system_without_user = parts.prompt_at == text.size();
  return parts;
}

}  // namespace

/// @param named  the file's path as the task has it
std::string TaskFile::read_prompt_file(const std::string& named, const TextPlace& place,
                                       ReferencedFiles& files) {
  const std::filesystem::path path = prompt_path(named);
  if (!files.may_read(path, "prompt file", place)) return {};
  draft_.task.prompt_files.push_back(path);
  std::optional<std::string> text = files.read_prompt(path, place);
  if (!text) return {};
  const std::size_t source = findings_.add_source(named, *text);
  const auto parts = prompt_file_parts(*text);
  if (parts.system_without_user)
    findings_.error(
        place_at(*text, source, 0, 7),
        "a prompt file that begins with 'System:' needs a line 'User:' before its prompt");
  else if (!parts.system.empty() && named != draft_.prompt_file)
    findings_.error(place_at(*text, source, 0, 7),
                    "'System:' is for the task's own prompt_file: all stages share 'instructions'");
  std::string& instructions = draft_.task.instructions;
  if (!parts.system.empty()) instructions += (instructions.empty() ? "" : "\n") + parts.system;
  check_parts(text->substr(parts.prompt_at), [&](const PromptPart& part) {
    return place_at(*text, source, parts.prompt_at + part.offset, part.length);
  });
  return text->substr(parts.prompt_at);
}

void TaskFile::read_functions(ReferencedFiles& files) {
  Task& task = draft_.task;
  if (task.functions_file.empty()) return;
  const TextPlace& place = *draft_.functions_at;
  if (files.may_read(task.functions_file, "manifest", place))
    task.functions =
        sortie::read_functions(task.functions_file, draft_.functions, place, findings_);
}

/// Checks a tool choice that is no plain word, and whether a required call can be made.
/// @param tools  those that the choice is among; empty: the run's
/// @param who    "the stage" or "the run"
void TaskFile::check_choice(const std::string& choice, const std::vector<std::string>& tools,
                            const std::string& who, const TextPlace& place) {
  if (choice == "auto" || choice == "none" || !names_are_known_) return;
  const bool has_any = !is_one_of(kNoTools, tools);
  if (choice == "required" || !has_any) {
    if (!has_any)
      findings_.error(place, "'choice': " + who + " has no tools, so none can be called");
    return;
  }
  std::string nearest;
  std::string problem = tool_problem(choice, draft_.task, nearest);
  if (problem.empty() && !tools.empty() && !enables_tool(tools, choice))
    problem = who + " does not have the tool '" + choice + "'";
  if (problem.empty()) return;
  const std::vector<std::string> words(std::begin(kToolChoices), std::end(kToolChoices));
  if (const std::string word = nearest_name(choice, words); !word.empty()) nearest = word;
  findings_.error(place, "'choice': " + problem, std::move(nearest));
}

/// Checks the names of tools.enable and tools.choice.
void TaskFile::check_tools() {
  if (!names_are_known_) return;
  for (const YamlNode& tool : draft_.enabled) {
    if (!tool.is_scalar() || tool.text == kDefaultTools) continue;
    std::string nearest;
    if (std::string problem = tool_problem(tool.text, draft_.task, nearest); !problem.empty())
      findings_.error(tool.place, std::move(problem), std::move(nearest));
  }
  if (draft_.choice)
    check_choice(draft_.task.tool_choice, draft_.task.tools, "the run", *draft_.choice);
}

void TaskFile::check_stage(TaskStage& stage, const TaskDraft::StagePlace& place,
                           ReferencedFiles& files) {
  if (!stage.prompt.empty()) check_prompt(stage.prompt, place.prompt);
  if (!place.prompt_file.empty())
    stage.prompt = read_prompt_file(place.prompt_file, place.prompt, files);
  if (!stage.tool_choice.empty()) {
    const auto& tools = stage.tools.empty() ? draft_.task.tools : stage.tools;
    check_choice(stage.tool_choice, tools, "the stage", place.choice);
  }
  const std::size_t checked =
      names_are_known_ ? std::min(stage.tools.size(), place.tools.size()) : 0;
  for (std::size_t i = 0; i < checked; ++i) {
    std::string nearest;
    std::string problem = tool_problem(stage.tools[i], draft_.task, nearest);
    if (problem.empty() && stage.tools[i] == "run_tests" && draft_.task.verify.commands.empty())
      problem = "run_tests needs commands in the task's 'verify'";
    if (!problem.empty()) findings_.error(place.tools[i], std::move(problem), std::move(nearest));
  }
  stage.place = shown(place.stage);
}

std::string TaskFile::shown(const TextPlace& place) const {
  return findings_.name(source_) + ":" + std::to_string(place.line) + ":" +
         std::to_string(place.column);
}

std::string error_at(const Task& task, std::initializer_list<const char*> keys) {
  for (const char* key : keys)
    if (const auto place = task.places.find(key); place != task.places.end())
      return place->second + ": error: ";
  return "";
}

Task load_task(const std::string& path, const std::string& stdin_text) {
  return TaskFile(path, stdin_text).load();
}

namespace {

/// Names the paths below a folder from there: the same files in another place are the same task.
/// @param folder  with a slash at its end
void name_from(const std::string& folder, Json& value) {
  if (value.is_string() && value.text().starts_with(folder))
    value = Json(value.text().substr(folder.size()));
  else if (value.is_string() && value.text() + "/" == folder)
    value = Json(".");
  for (Json& item : value.items()) name_from(folder, item);
  for (auto& [name, member] : value.members()) name_from(folder, member);
}

}  // namespace

Json task_json(const Task& task) {
  TaskDraft draft{.task = task};
  return task_fields(draft, {}).write();
}

std::string task_digest(const Task& task) {
  Json effective = task_json(task);
  if (!task.file.empty()) name_from(task.file.parent_path().string() + "/", effective);
  auto& members = effective.members();
  std::erase_if(members, [](const Json::Member& member) { return member.first == "budget"; });
  if (task.output.schema) effective.set("output_schema", *task.output.schema);
  if (!task.functions.empty()) effective.set("functions", functions_json(task.functions));
  Json images = Json::array();
  for (const TaskImage& image : task.images) images.push_back(sha256_hex(image.content));
  if (!task.images.empty()) effective.set("image_contents", std::move(images));
  return "sha256:" + sha256_hex(write_json(effective));
}

Json task_schema() {
  TaskDraft draft;
  Json schema = file_schema(task_fields(draft, {}), "sortie task");
  return with_one_of(std::move(schema), {"prompt", "prompt_file", "stages"});
}

}  // namespace sortie
