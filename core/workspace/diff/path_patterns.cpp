#include "core/workspace/diff/path_patterns.h"

#include <string_view>

#include "core/base/error.h"

namespace sortie {
namespace {

constexpr std::size_t kMostReadings = 64;

/// The pattern, and once more for each "**/" without it.
std::vector<std::string> readings_of(std::string_view pattern) {
  const std::string sign(pattern.starts_with('!') ? "!" : "");
  pattern.remove_prefix(sign.size());
  while (pattern.starts_with("./")) pattern.remove_prefix(2);
  constexpr std::string_view kFolders = "**/";
  std::vector<std::string> readings = {std::string(pattern)};
  for (std::size_t i = 0; i < readings.size() && readings.size() < kMostReadings; ++i) {
    const std::string one = readings[i];
    for (auto at = one.find(kFolders); at != one.npos; at = one.find(kFolders, at + 1))
      if ((at == 0 || one[at - 1] == '/') && one.size() > at + kFolders.size())
        readings.push_back(one.substr(0, at) + one.substr(at + kFolders.size()));
  }
  for (std::string& one : readings) one.insert(0, sign);
  return readings;
}

}  // namespace

PathPatterns::PathPatterns(const std::vector<std::string>& patterns, const std::string& what) {
  if (patterns.empty()) return;
  start_libgit2();
  std::vector<std::string> readings;
  for (const std::string& pattern : patterns)
    for (std::string& one : readings_of(pattern)) readings.push_back(std::move(one));
  std::vector<char*> texts;
  for (std::string& one : readings) texts.push_back(one.data());
  const git_strarray list{texts.data(), texts.size()};
  check_git(git_pathspec_new(GitOut(patterns_), &list), what, ExitCode::usage);
}

bool PathPatterns::match(const std::string& path) const {
  return patterns_ &&
         git_pathspec_matches_path(patterns_.get(), GIT_PATHSPEC_USE_CASE, path.c_str());
}

}  // namespace sortie
