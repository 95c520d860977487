#include "app/init/init_files.h"

#include "core/json/json.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kIgnoredOutput = "/sortie-out*/";

/// A block list with its key, "" for an empty one.
std::string yaml_list(const std::string& indent, const std::string& key,
                      const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string text = indent + key + ":\n";
  for (const std::string& item : items) text += indent + "  - " + yaml_text(item) + "\n";
  return text;
}

/// "Node.js with npm (package.json)"
std::string described(const Toolchain& toolchain) {
  return toolchain.shown +
         (toolchain.sign.empty() ? "" : " (" + one_line(toolchain.sign, 60) + ")");
}

constexpr const char* kPlainWork =
    "version: 1\n"
    "policy: policy.yaml\n"
    "prompt: |\n"
    "  Correct the spelling mistakes in the documentation (*.md, *.txt). Change nothing else.\n"
    "\n"
    "# Nothing is left to correct: that is a success, too.\n"
    "expect: {changes: any}\n"
    "\n"
    "# What must hold in the end; sortie runs it itself. Without it, success means that the agent\n"
    "# has finished.\n"
    "# verify: [make test]\n";

std::string verified_work(const Toolchain& toolchain) {
  std::string text =
      "version: 1\n"
      "policy: policy.yaml\n"
      "prompt: |\n"
      "  The tests fail. Find the cause and correct it in the code. Do not change the tests.\n"
      "  The tool run_tests runs them.\n"
      "\n"
      "# What must hold in the end. sortie runs it itself, on the start and the diff; the agent does so\n"
      "# by run_tests.\n"
      "verify:\n";
  text += yaml_list("  ", "setup", toolchain.setup);
  text += yaml_list("  ", "commands", toolchain.commands);
  text +=
      "  # The next key is for a prompt that corrects what fails; take it out for another one.\n"
      "  # If all tests pass at the start, the run ends at once, and costs nothing.\n"
      "  before: fail\n";
  if (!toolchain.restore.empty()) {
    text +=
        "  # Tests are verified as they were at the start, whatever the agent did to them. Take it out\n"
        "  # where the agent is to write tests.\n";
    text += yaml_list("  ", "restore", toolchain.restore);
  }
  if (!toolchain.may_change.empty()) {
    text += "  # What the test runner notes for its next run: nothing that the tests check.\n";
    text += yaml_list("  ", "may_change", toolchain.may_change);
  }
  return text;
}

}  // namespace

std::string yaml_text(const std::string& text) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _./=-$\"";
  const bool simple = text.find_first_not_of(kLetters) == std::string::npos;
  // One word alone could be a number, a date, true or null.
  const bool several = text.find_first_of(" /") != std::string::npos;
  if (simple && several && text.find_first_of("0123456789=- _\"") != 0 && text.back() != ' ')
    return text;
  const bool quotes = text.find('"') != std::string::npos;
  return simple && quotes ? "'" + text + "'" : write_json(Json(text));
}

std::string first_task(const Toolchain& toolchain, const FirstModel& model) {
  std::string text =
      "# A first task for " + described(toolchain) +
      ", made by `sortie init`. Run it in the folder above:\n"
      "#\n"
      "#   sortie run .sortie/task.yaml\n"
      "#\n"
      "# The result is sortie-out/changes.diff; with --apply it is also written into "
      "the folder.\n"
      "# All keys: docs/task.md of sortie, or `sortie schema task`.\n";
  text += toolchain.commands.empty() ? kPlainWork : verified_work(toolchain);
  text += "\n" + model_lines(model);
  return text;
}

std::string first_policy(const Toolchain& toolchain, const FirstModel& model,
                         const std::string& ci_folder) {
  std::string text = "# What an agent may do here, for " + described(toolchain) +
                     ", made by `sortie init`.\n"
                     "# What no rule allows is denied. Every command runs in a sandbox, which "
                     "keeps this file as it is.\n"
                     "#\n"
                     "#   sortie policy check .sortie/policy.yaml -- git push     # which rule "
                     "decides?\n"
                     "#\n"
                     "# All keys: docs/policy.md of sortie, or `sortie schema policy`.\n"
                     "version: 1\n";
  std::vector<std::string> presets = {"strict"};
  presets.insert(presets.end(), toolchain.presets.begin(), toolchain.presets.end());
  text += "extends: [" + joined(presets, ", ") + "]\n";
  if (toolchain.presets.empty())
    text +=
        "# The agent reads, edits by apply_patch, and runs the task's tests by run_tests. To allow a\n"
        "# command besides, name its first words:\n"
        "# commands:\n"
        "#   - allow: [make, lint]\n";
  if (toolchain.hosts.empty()) {
    text += "\n# Commands have no network.\n";
  } else {
    text +=
        "\n# The task's setup fetches packages from here; commands reach nothing else. Take it out "
        "where\n# packages are in the repository or installed before.\n";
    for (const std::string& note : toolchain.notes) text += "# Note: " + note + ".\n";
    text += "network:\n  mode: allow-list\n";
    text += yaml_list("  ", "allow", toolchain.hosts);
  }
  text += "\nenvironment:\n  set:\n    CI: \"true\"\n";
  for (const auto& [name, value] : toolchain.variables)
    text += "    " + name + ": " + write_json(Json(value)) + "\n";
  text += model_bounds(model);
  text +=
      "\n# Neither a run nor a diff that is landed may change them.\npaths:\n  protect: [.sortie" +
      (ci_folder.empty() ? "" : ", " + ci_folder) + "]\n";
  return text;
}

std::string with_ignored_output(const std::string& found) {
  for (const std::string_view line : split_lines(found))
    if (const auto word = trimmed(line);
        word == kIgnoredOutput || is_one_of(word, {"sortie-out*/", "sortie-out*", "/sortie-out*"}))
      return found;
  const std::string end = found.find("\r\n") != std::string::npos ? "\r\n" : "\n";
  return found + (found.empty() || found.ends_with('\n') ? "" : end) + std::string(kIgnoredOutput) +
         end;
}

}  // namespace sortie
