#include "app/commands/doctor_task.h"

#include <vector>

#include "app/commands/task_programs.h"
#include "core/text/text.h"

namespace sortie {
namespace {

Json texts(const std::vector<std::string>& list) {
  Json array = Json::array();
  for (const std::string& one : list) array.push_back(one);
  return array;
}

Json command_report(const VerifyCommand& command, const TaskPrograms& programs, Json& problems,
                    Json& notes) {
  const std::string shown = "'" + one_line(command.text, 80) + "'";
  for (const std::string& name : programs.missing)
    problems.push_back(name + " is not on the PATH of commands; " + shown + " needs it");
  for (const std::string& name : programs.unusable)
    problems.push_back(name + " is not executable; " + shown + " needs it");
  for (const std::string& note : programs.notes) notes.push_back(note);
  return Json::object({{"command", command.text},
                       {"programs", texts(programs.found)},
                       {"missing", texts(programs.missing)},
                       {"unchecked", texts(programs.unchecked)}});
}

/// "python3" or "a, b"
std::string listed(const Json& list) {
  std::vector<std::string> words;
  for (const Json& one : list.items()) words.push_back(one_line(one.text(), 80));
  return joined(words, ", ");
}

/// "on PATH or here: python3; not looked at: the Python module pytest"
std::string found_text(const Json& command) {
  std::vector<std::string> parts;
  if (!command["missing"].items().empty())
    parts.push_back("NOT on PATH: " + listed(command["missing"]));
  if (!command["programs"].items().empty())
    parts.push_back("found: " + listed(command["programs"]));
  if (!command["unchecked"].items().empty())
    parts.push_back("not looked at: " + listed(command["unchecked"]));
  return parts.empty() ? "needs no program" : joined(parts, "; ");
}

}  // namespace

Json task_report(const LoadedTask& loaded, const std::string& policy, const CommandPath& path,
                 const StartProblems& start) {
  Json problems = texts(start.problems);
  Json notes = Json::array();
  Json commands = Json::array();
  for (const auto* list : {&loaded.task.verify.setup, &loaded.task.verify.commands})
    for (const VerifyCommand& command : *list)
      commands.push_back(command_report(
          command, find_programs(command, path, loaded.places.workspace), problems, notes));
  if (commands.items().empty()) notes.push_back("the task has no verification");
  for (const std::string& note : start.notes) notes.push_back(note);
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
    text += "  " + one_line(one.string_at("command"), 80) + ": " + found_text(one) + "\n";
  for (const Json& one : report["problems"].items()) text += "  problem: " + one.text() + "\n";
  for (const Json& one : report["notes"].items()) text += "  note: " + one.text() + "\n";
  text.pop_back();
  return text;
}

}  // namespace sortie
