#pragma once

#include <fcntl.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/text/text.h"
#include "tests/fakes/fake_clock.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_folder.h"
#include "tools/git/git_status.h"

namespace sortie::test {

namespace fs = std::filesystem;

struct Repository {
  explicit Repository(const std::string& below = "") : workspace(folder.path() / below) {
    make_repository(folder.path());
    fs::create_directories(workspace);
    files.emplace(Fd(::open(workspace.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
  }
  void write(const std::string& name, std::string_view content) const {
    fs::create_directories((workspace / name).parent_path());
    write_file(workspace / name, content);
  }
  std::string status(HiddenPaths hidden = {}) const {
    GitStatus tool(*files, workspace, clock, {.hidden = std::move(hidden)});
    return tool.run(Json::object(), {}).text;
  }
  /// What `git status` says, in our words: the branch's line, and the sections of staged, unstaged
  /// and untracked paths.
  std::string by_git() const {
    std::string head;
    std::string upstream;
    std::string apart;
    std::string staged;
    std::string unstaged;
    std::string untracked;
    // Never goes into submodules, as we don't.
    const std::string said =
        git(workspace, {"-c", "core.quotePath=false", "-c", "status.relativePaths=true", "status",
                        "--porcelain=v2", "--branch", "--ignore-submodules=all", "."});
    for (const auto view : split_lines(said)) {
      const std::string line(view);
      const auto words = [&line](int count) {  // what stands behind so many words
        std::size_t at = 0;
        for (int i = 0; i < count; ++i) at = line.find(' ', at) + 1;
        return line.substr(at);
      };
      if (line.starts_with("# branch.head ")) head = words(2);
      if (line.starts_with("# branch.upstream ")) upstream = words(2);
      if (line.starts_with("# branch.ab ")) apart = words(2);
      if (line.starts_with("? ")) untracked += below(words(1)) + "\n";
      if (line.starts_with("u "))
        unstaged += "U " + below(words(10)) + " (" + conflict(line.substr(2, 2)) + ")\n";
      if (!line.starts_with("1 ") && !line.starts_with("2 ")) continue;
      const bool renamed = line[0] == '2';
      std::string path = words(renamed ? 9 : 8);
      std::string shown = path;
      if (renamed) {
        const std::size_t tab = path.find('\t');
        shown = below(path.substr(tab + 1)) + " -> " + below(path.substr(0, tab));
        path.resize(tab);
      } else {
        shown = below(path);
      }
      if (line[2] != '.') staged += std::string(1, line[2]) + " " + shown + "\n";
      if (line[3] != '.') unstaged += std::string(1, line[3]) + " " + below(path) + "\n";
    }
    return branch_line(head, upstream, apart) + section("staged", staged) +
           section("unstaged", unstaged) + section("untracked", untracked);
  }
  /// porcelain=v2 has paths from the repository's root.
  std::string below(const std::string& path) const {
    const std::string prefix = fs::relative(workspace, folder.path()).string() + "/";
    return path.starts_with(prefix) ? path.substr(prefix.size()) : path;
  }
  static std::string conflict(const std::string& letters) {
    const std::map<std::string, std::string> names = {
        {"DD", "both deleted"},  {"AU", "added by us"},   {"UD", "deleted by them"},
        {"UA", "added by them"}, {"DU", "deleted by us"}, {"AA", "both added"},
        {"UU", "both modified"}};
    return names.at(letters);
  }
  std::string branch_line(const std::string& head, const std::string& upstream,
                          const std::string& apart) const {
    if (head == "(detached)")
      return "HEAD is detached at " + git(workspace, {"rev-parse", "HEAD"}).substr(0, 10) + "\n";
    std::string line = "branch: " + head;
    if (!upstream.empty()) line += " (upstream " + upstream;
    if (!upstream.empty() && apart.empty()) line += ", which is gone";
    if (apart == "+0 -0") line += ", up to date";
    if (!apart.empty() && apart != "+0 -0") {
      const std::string ahead = apart.substr(1, apart.find(' ') - 1);
      const std::string behind = apart.substr(apart.find('-') + 1);
      if (ahead != "0") line += ", " + ahead + " ahead";
      if (behind != "0") line += ", " + behind + " behind";
    }
    return line + (upstream.empty() ? "\n" : ")\n");
  }
  static std::string section(const std::string& title, const std::string& lines) {
    if (lines.empty()) return "";
    return title + " (" + std::to_string(std::count(lines.begin(), lines.end(), '\n')) + "):\n" +
           lines;
  }

  TemporaryFolder folder;
  fs::path workspace;
  std::optional<DiskFiles> files;
  FakeClock clock;
};

/// Without what `git status` does not say.
inline std::string as_git_says(const std::string& status) {
  std::string text;
  const std::string told = status.substr(0, status.find("last commits:\n"));
  for (const auto line : split_lines(told))
    if (line != "no changes" && line != "no commit yet" && !line.starts_with("in the middle of a "))
      text += std::string(line) + "\n";
  return text;
}

inline std::string sections_of(const std::string& status) {
  const std::string text = as_git_says(status);
  return text.substr(text.find('\n') + 1);
}

}  // namespace sortie::test
