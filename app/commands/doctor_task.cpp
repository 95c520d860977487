#include "app/commands/doctor_task.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "core/text/text.h"
#include "policies/shell/script.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Commands of the shell itself, which are no files.
constexpr std::string_view kBuiltIns[] = {".",    ":",    "[",      "cd",     "command", "echo",
                                          "eval", "exec", "exit",   "export", "false",   "printf",
                                          "pwd",  "read", "return", "set",    "shift",   "source",
                                          "test", "trap", "true",   "umask",  "unset",   "wait"};

/// The names of the programs that a command starts, as far as its text tells them for certain.
std::vector<std::string> programs_of(const VerifyCommand& command) {
  if (command.argv.size() != 3 || command.argv[0] != "sh" || command.argv[1] != "-c")
    return {command.argv.front()};
  std::vector<std::string> names;
  for (const SimpleCommand& one : read_script(command.argv[2]).commands)
    names.push_back(one.words.front().text);
  return names;
}

bool is_program(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

/// Whether it is looked up on PATH and not found there. A path is not judged: setup may make it.
bool is_missing(const std::string& name, const CommandPath& path) {
  if (name.find('/') != std::string::npos) return false;
  if (std::find(std::begin(kBuiltIns), std::end(kBuiltIns), name) != std::end(kBuiltIns))
    return false;
  return std::none_of(path.folders.begin(), path.folders.end(),
                      [&](const fs::path& folder) { return is_program(folder / name); });
}

Json command_report(const VerifyCommand& command, const CommandPath& path, Json& problems) {
  Json programs = Json::array();
  Json missing = Json::array();
  for (const std::string& name : programs_of(command)) {
    programs.push_back(name);
    if (!is_missing(name, path)) continue;
    missing.push_back(name);
    const std::string problem =
        name + " is not on the PATH of commands; '" + one_line(command.text, 80) + "' needs it";
    problems.push_back(problem);
  }
  return Json::object({{"command", command.text},
                       {"programs", std::move(programs)},
                       {"missing", std::move(missing)}});
}

/// What stands in the way of the model's key; "" for nothing.
std::string key_note(const TaskModel& model, const Json& credentials) {
  if (model.provider == "replay") return "";
  const Json& one = credentials[model.provider];
  if (one["from"].is_null() || one["available"].boolean()) return "";
  if (!model.api_key_env.empty()) return "";  // a variable that the task names
  return "no key for the model: set the " + one.string_at("from") +
         ", or use --api-key-file or --auth-file";
}

}  // namespace

Json task_report(const LoadedTask& loaded, const std::string& policy, const CommandPath& path,
                 const Json& credentials) {
  Json problems = Json::array();
  Json notes = Json::array();
  Json commands = Json::array();
  for (const auto* list : {&loaded.task.verify.setup, &loaded.task.verify.commands})
    for (const VerifyCommand& command : *list)
      commands.push_back(command_report(command, path, problems));
  if (commands.items().empty()) notes.push_back("the task has no verification");
  if (const std::string note = key_note(loaded.task.model, credentials); !note.empty())
    notes.push_back(note);
  return Json::object({{"file", loaded.task.file.string()},
                       {"policy", policy},
                       {"workspace", loaded.places.workspace.string()},
                       {"verification", std::move(commands)},
                       {"problems", std::move(problems)},
                       {"notes", std::move(notes)}});
}

std::string task_report_text(const Json& report) {
  std::string text = "task " + report.string_at("file") + "\n  valid, with the policy " +
                     report.string_at("policy") + "\n";
  for (const Json& one : report["verification"].items())
    text += "  " + one.string_at("command") + ": " +
            (one["missing"].items().empty() ? "its programs are on PATH" : "NOT on PATH") + "\n";
  for (const Json& one : report["problems"].items()) text += "  problem: " + one.text() + "\n";
  for (const Json& one : report["notes"].items()) text += "  note: " + one.text() + "\n";
  text.pop_back();
  return text;
}

}  // namespace sortie
