#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/end_to_end/command_run.h"
#include "tests/support/git_repository.h"
#include "tests/support/run_folder.h"

namespace sortie::test {

/// Relative path and content.
using ProjectFiles = std::vector<std::pair<std::string, std::string>>;

/// What `sortie init` makes in a repository without signs of another CI system, sorted.
inline const std::vector<std::string> kGitHubFiles = {
    ".github/sortie/action.yml",    ".github/sortie/land.sh",
    ".github/sortie/run.sh",        ".github/workflows/sortie-change.yml",
    ".github/workflows/sortie.yml", ".gitignore",
    ".sortie/policy.yaml",          ".sortie/task.yaml"};

/// A project for `sortie init`.
class InitRun : public RunFolder {
 public:
  explicit InitRun(const ProjectFiles& files = {}) {
    for (const auto& [name, content] : files) write("work/" + name, content);
  }
  void make_git() const {
    make_repository(workspace());
    commit_all(workspace());
  }
  /// `sortie WORDS…` in the project, or in a folder of it.
  ProgramEnd sortie(const Arguments& words, const std::string& below = {}) const {
    ProgramStart start = start_command(*this, words);
    if (!below.empty()) start.folder = workspace() / below;
    return run_program(start);
  }
  ProgramEnd init(Arguments words = {}, const std::string& below = {}) const {
    words.insert(words.begin(), "init");
    return sortie(words, below);
  }
  bool has(const std::string& name) const { return std::filesystem::exists(workspace() / name); }
  std::string text(const std::string& name) const { return read_file(workspace() / name); }
  /// All files that git would show as new or changed, sorted.
  std::vector<std::string> changed() const {
    const std::string said =
        git(workspace(), {"status", "--porcelain", "--untracked-files=all", "-z"});
    std::vector<std::string> names;
    for (std::size_t at = 0; at < said.size();) {
      const std::size_t end = said.find('\0', at);
      names.push_back(said.substr(at + 3, end - at - 3));
      at = end + 1;
    }
    std::sort(names.begin(), names.end());
    return names;
  }
  /// The task as sortie reads it.
  Json task(const std::string& below = {}) const {
    const ProgramEnd end = sortie({"task", "check", ".sortie/task.yaml"}, below);
    return end.status == 0 ? parse_json(end.output) : Json();
  }
};

}  // namespace sortie::test
