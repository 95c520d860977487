#include "app/commands/task_programs.h"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/text/text.h"
#include "policies/shell/script.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<std::string>;

/// Commands of the shell itself, which are no files.
constexpr std::string_view kBuiltIns[] = {".",    ":",    "[",      "cd",     "command", "echo",
                                          "eval", "exec", "exit",   "export", "false",   "printf",
                                          "pwd",  "read", "return", "set",    "shift",   "source",
                                          "test", "trap", "true",   "umask",  "unset",   "wait"};

/// Modules of Python's own library that are run by -m.
constexpr std::string_view kPythonModules[] = {"compileall", "doctest",    "ensurepip", "json.tool",
                                               "pip",        "py_compile", "unittest",  "venv"};

bool is_program(const fs::path& file) {
  std::error_code error;
  return fs::is_regular_file(file, error) && ::access(file.c_str(), X_OK) == 0;
}

bool is_on(const CommandPath& path, const std::string& name) {
  return std::any_of(path.folders.begin(), path.folders.end(),
                     [&](const fs::path& folder) { return is_program(folder / name); });
}

/// The words of one command in a line that the strict grammar refuses, mostly for a variable:
/// `PLACE="$TMPDIR/x" program …`. Nothing where more than blanks parts them.
std::optional<Words> loose_words(const std::string& line) {
  if (line.find_first_of("\n;|&()<>`#\\") != std::string::npos) return std::nullopt;
  Words words;
  for (std::size_t at = 0; (at = line.find_first_not_of(" \t", at)) != std::string::npos;) {
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    std::string word = line.substr(at, end - at);
    at = end;
    if (std::count(word.begin(), word.end(), '"') % 2 != 0 || word.find('\'') < word.size()) {
      if (words.empty()) return std::nullopt;  // a name with a blank in it
      continue;
    }
    std::erase(word, '"');
    const bool assignment =
        words.empty() && word.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") ==
                             std::min(word.find('='), word.size() - 1);
    if (!(assignment && word.find('=') != std::string::npos)) words.push_back(std::move(word));
  }
  return words.empty() || is_reserved_word(words.front()) ? std::nullopt : std::optional(words);
}

/// The words of each command in it; nothing if its text can't be read for certain.
std::optional<std::vector<Words>> commands_of(const VerifyCommand& command) {
  if (command.argv.size() != 3 || command.argv[0] != "sh" || command.argv[1] != "-c")
    return std::vector<Words>{command.argv};
  const ScriptReading script = read_script(command.argv[2]);
  if (script.refused) {
    const auto words = loose_words(command.argv[2]);
    return words ? std::optional(std::vector<Words>{*words}) : std::nullopt;
  }
  std::vector<Words> all;
  for (const SimpleCommand& one : script.commands) {
    Words words;
    for (const ScriptWord& word : one.words) words.push_back(word.text);
    all.push_back(std::move(words));
  }
  return all;
}

class Finder {
 public:
  Finder(const CommandPath& path, fs::path workspace)
      : path_(path), workspace_(std::move(workspace)) {}

  void look(const Words& words) {
    const std::string& name = words.front();
    if (name.find('$') != std::string::npos)
      add(programs.unchecked, name + ", whose place is known only then");
    else if (name.find('/') != std::string::npos)
      look_at_file(name);
    else if (std::find(std::begin(kBuiltIns), std::end(kBuiltIns), name) == std::end(kBuiltIns))
      add(is_on(path_, name) ? programs.found : programs.missing, name);
    look_at_runtime(fs::path(name).filename().string(), words);
  }
  void give_up() { add(programs.unchecked, "this script"); }

  TaskPrograms programs;

 private:
  static void add(Words& list, const std::string& text) {
    if (!is_one_of(text, list)) list.push_back(text);
  }

  void look_at_file(const std::string& name) {
    const fs::path file = workspace_ / name;
    std::error_code error;
    if (is_program(file))
      add(programs.found, name);
    else if (fs::exists(file, error))
      add(programs.unusable, name);
    else
      add(programs.unchecked, name + ", which is not there yet");
  }

  /// What a program is known to need besides.
  void look_at_runtime(const std::string& name, const Words& words) {
    if (is_one_of(name, {"mvnw", "gradlew", "mvn", "gradle"}) && !is_on(path_, "java"))
      add(programs.notes, "java is not on the PATH of commands; " + name +
                              " needs it, or a JAVA_HOME of the policy's environment.set");
    if (name.starts_with("python") && words.size() > 2 && words[1] == "-m" &&
        std::find(std::begin(kPythonModules), std::end(kPythonModules), words[2]) ==
            std::end(kPythonModules))
      add(programs.unchecked, "the Python module " + words[2]);
  }

  const CommandPath& path_;
  fs::path workspace_;
};

}  // namespace

TaskPrograms find_programs(const VerifyCommand& command, const CommandPath& path,
                           const fs::path& workspace) {
  Finder finder(path, workspace);
  if (const auto commands = commands_of(command))
    for (const Words& words : *commands) finder.look(words);
  else
    finder.give_up();
  return std::move(finder.programs);
}

}  // namespace sortie
