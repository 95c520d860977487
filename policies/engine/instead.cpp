#include "policies/engine/instead.h"

#include <algorithm>
#include <string_view>

#include "policies/shell/lookup.h"

namespace sortie {
namespace {

constexpr const char* kPatch = "change files with apply_patch";
constexpr const char* kDelete = "delete files with apply_patch: *** Delete File: PATH";
constexpr const char* kMove = "move files with apply_patch: *** Update File and *** Move to";
constexpr const char* kTree =
    "leave the changes in the files: the run's diff is taken from them, without a commit";
constexpr const char* kUndo = "undo a change with apply_patch; `git diff` shows it";
constexpr const char* kInstall =
    "use what is installed: packages can't be installed from a command here";
constexpr const char* kFetch =
    "use what is in the workspace: commands don't fetch from the network";
constexpr const char* kCode =
    "put the code into a file with apply_patch and run it with an allowed command, or read with "
    "grep, rg, sed -n or git";
constexpr const char* kShow = "use `cat FILE`, `head -n 50 FILE` or `sed -n '1,50p' FILE`";
constexpr const char* kPlain = "send the command itself";

/// The longest matching row counts: `word` is the first of its words after the name.
struct InsteadRow {
  std::string_view name;
  std::string_view word;  ///< "" for any; begins a word with the same letters
  const char* text;
};

constexpr InsteadRow kRows[] = {
    {"sed", "-i", kPatch},
    {"sed", "--in-place", kPatch},
    {"sed", "", "use `sed -n '10,20p' FILE`; to change a file use apply_patch"},
    {"perl", "", kCode},
    {"python", "", kCode},
    {"python3", "", kCode},
    {"node", "", kCode},
    {"ruby", "", kCode},
    {"awk", "", "only print: `awk '{print $1}' FILE`, without system(), getline, pipes or files"},
    {"tee", "", "leave out `| tee`: the output comes back by itself"},
    {"rm", "", kDelete},
    {"rmdir", "", kDelete},
    {"unlink", "", kDelete},
    {"mv", "", kMove},
    {"cp", "", "write the new file with apply_patch: *** Add File: PATH"},
    {"touch", "", "write the new file with apply_patch: *** Add File: PATH"},
    {"mkdir", "", "leave it out: apply_patch makes the folders of a new file"},
    {"ln", "", kPatch},
    {"chmod", "", "leave it out: call the file through its interpreter"},
    {"patch", "", kPatch},
    {"ed", "", kPatch},
    {"vi", "", kPatch},
    {"vim", "", kPatch},
    {"nano", "", kPatch},
    {"less", "", kShow},
    {"more", "", kShow},
    {"find", "-delete", kDelete},
    {"find", "-exec", "use `find … -exec COMMAND {} +` with an allowed command"},
    {"find", "-ok", "use `find … -exec COMMAND {} +` with an allowed command"},
    {"find", "-fprint", "leave it out: the output comes back by itself"},
    {"sort", "-o", "leave out -o: the output comes back by itself"},
    {"sort", "--output", "leave out -o: the output comes back by itself"},
    {"git", "add", kTree},
    {"git", "commit", kTree},
    {"git", "mv", kMove},
    {"git", "rm", kDelete},
    {"git", "apply", kPatch},
    {"git", "stash", kUndo},
    {"git", "checkout", kUndo},
    {"git", "restore", kUndo},
    {"git", "reset", kUndo},
    {"git", "clean", kDelete},
    {"git", "push", kTree},
    {"git", "pull", kFetch},
    {"git", "fetch", kFetch},
    {"git", "clone", kFetch},
    {"curl", "", kFetch},
    {"wget", "", kFetch},
    {"ssh", "", kFetch},
    {"apt", "", kInstall},
    {"apt-get", "", kInstall},
    {"brew", "", kInstall},
    {"pip", "install", kInstall},
    {"pip3", "install", kInstall},
    {"npm", "install", kInstall},
    {"npm", "i", kInstall},
    {"npm", "ci", kInstall},
    {"yarn", "add", kInstall},
    {"yarn", "install", kInstall},
    {"pnpm", "add", kInstall},
    {"pnpm", "install", kInstall},
    {"cargo", "install", kInstall},
    {"go", "get", kInstall},
    {"go", "install", kInstall},
    {"sudo", "", "leave out sudo: nothing runs with more rights here"},
    {"doas", "", "leave out doas: nothing runs with more rights here"},
    {"nohup", "", "leave out nohup: what is left in the background is ended"},
    {"setsid", "", "leave out setsid: what is left in the background is ended"},
    {"watch", "", kPlain},
    {"eval", "", kPlain},
    {"exec", "", kPlain},
    {"source", "", kPlain},
    {"env", "", "send the command itself, or NAME=VALUE COMMAND with a harmless variable"},
    {"timeout", "", "send `timeout 60 COMMAND` with an allowed command"},
};

/// What follows the sign at which reading ended.
struct ScriptRow {
  std::string_view sign;    ///< the part begins with it; "" for any
  std::string_view reason;  ///< and the reason contains it
  const char* text;
};

constexpr ScriptRow kScriptRows[] = {
    {"", "output can only be redirected",
     "write files with apply_patch; output comes back by itself"},
    {"", "writes a file", "write files with apply_patch; output comes back by itself"},
    {"", "substitutions", "run the inner command as a call of its own and write its output here"},
    {"", "variables are not supported", "write the value itself in place of the variable"},
    {"", "leave the assignment out", "send the command without the assignment"},
    {"", "background", "send the command without &; for one that goes on running start a session"},
    {"", "`~`", "write the path itself, relative to the workspace"},
    {"", "brace", "write the words out, or put a literal brace in '…'"},
    {"", "here-document", "write the file with apply_patch, or end it as <<'EOF'"},
    {"", "only `if", "send the commands one by one"},
};

}  // namespace

std::string instead_of(std::span<const std::string> argv, const std::string& otherwise) {
  const std::string_view name = base_name(argv[0]);
  const InsteadRow* best = nullptr;
  for (const InsteadRow& row : kRows) {
    if (row.name != name) continue;
    const bool fits =
        row.word.empty() || std::any_of(argv.begin() + 1, argv.end(), [&](const std::string& word) {
          return row.word.front() == '-' ? word.starts_with(row.word) : word == row.word;
        });
    if (fits && (best == nullptr || row.word.size() > best->word.size())) best = &row;
  }
  return best == nullptr ? otherwise : best->text;
}

std::string instead_of_script(std::string_view part, std::string_view reason) {
  for (const ScriptRow& row : kScriptRows)
    if (part.starts_with(row.sign) && reason.find(row.reason) != std::string_view::npos)
      return row.text;
  return "send plain commands joined by && || ; or |, with words literal or in quotes";
}

}  // namespace sortie
