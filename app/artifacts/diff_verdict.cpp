#include "app/artifacts/diff_verdict.h"

#include <algorithm>
#include <array>

#include "core/files/file_name.h"

namespace sortie {
namespace {

/// Folders that tools make for themselves. Source: github.com/github/gitignore and the tools' docs.
constexpr std::array<std::string_view, 22> kFolders = {
    "__pycache__",       ".pytest_cache", ".mypy_cache",
    ".ruff_cache",       ".tox",          ".nox",
    ".hypothesis",       ".eggs",         ".venv",
    "htmlcov",           "node_modules",  ".nyc_output",
    ".parcel-cache",     ".gradle",       ".ccls-cache",
    "CMakeFiles",        "_deps",         ".stack-work",
    "dist-newstyle",     ".dart_tool",    ".terraform",
    ".ipynb_checkpoints"};

/// Names of single files.
constexpr std::array<std::string_view, 7> kProductNames = {
    ".coverage",     "CMakeCache.txt", "cmake_install.cmake", ".DS_Store", ".eslintcache",
    "npm-debug.log", "core.dump"};

/// Endings of files that compilers and test tools write.
constexpr std::array<std::string_view, 14> kEndings = {
    ".pyc", ".pyo", ".o",  ".obj",  ".class", ".gcda",        ".gcno",
    ".lo",  ".la",  ".hi", ".rlib", ".rmeta", ".tsbuildinfo", ".profraw"};

std::string_view name_of_path(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

/// "X.egg-info/" and folders of the list, anywhere above the file.
std::string folder_line(std::string_view path) {
  for (auto slash = path.find('/'); slash != path.npos; slash = path.find('/')) {
    const std::string_view folder = path.substr(0, slash);
    if (folder.ends_with(".egg-info")) return "*.egg-info/";
    if (std::find(kFolders.begin(), kFolders.end(), folder) != kFolders.end())
      return std::string(folder) + "/";
    // Cargo's and Maven's, which people's own folders of that name don't look like.
    path.remove_prefix(slash + 1);
    if (folder == "target" &&
        (path.starts_with("debug/") || path.starts_with("release/") ||
         path.starts_with("classes/") || path == ".rustc_info.json" || path == "CACHEDIR.TAG"))
      return "target/";
  }
  return "";
}

}  // namespace

std::string ignore_line_for(std::string_view path) {
  if (std::string line = folder_line(path); !line.empty()) return line;
  const std::string_view name = name_of_path(path);
  if (std::find(kProductNames.begin(), kProductNames.end(), name) != kProductNames.end())
    return std::string(name);
  for (const std::string_view ending : kEndings)
    if (name.ends_with(ending) && name.size() > ending.size()) return "*" + std::string(ending);
  return "";
}

std::vector<BuildProducts> find_build_products(const std::vector<std::string>& paths) {
  std::vector<BuildProducts> groups;
  for (const std::string& path : paths) {
    std::string line = ignore_line_for(path);
    if (line.empty()) continue;
    const auto found = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& group) { return group.ignore_line == line; });
    if (found == groups.end())
      groups.push_back({std::move(line), {path}});
    else
      found->paths.push_back(path);
  }
  return groups;
}

namespace {

std::vector<std::string> git_folders(const Diff& diff) {
  std::vector<std::string> paths;
  for (const LeftOut& one : diff.left_out)
    if (!is_loss(one)) paths.push_back(one.path);
  return paths;
}

std::vector<std::string> added_files(const Diff& diff) {
  std::vector<std::string> paths;
  for (const DiffFile& file : diff.files)
    if (file.kind == ChangedPath::Kind::added) paths.push_back(file.path);
  return paths;
}

}  // namespace

bool is_loss(const LeftOut& one) { return one.why != LeftOut::Why::git_folder; }

std::string undiffable_changes(const Diff& diff) {
  constexpr std::size_t kMostShown = 20;
  std::vector<std::string> told;
  for (const LeftOut& one : diff.left_out)
    if (is_loss(one)) told.push_back(path_text(one.path) + " (" + one.detail + ")");
  for (const std::string& line : diff.too_large) told.push_back(line + " (too large)");
  return told.empty() ? ""
                      : "The diff can't hold these changes: " + some_of(told, kMostShown) + ".";
}

std::vector<std::string> diff_warnings(const Diff& diff,
                                       const std::set<std::string>& by_verification) {
  std::vector<std::string> warnings;
  if (!diff.index_problem.empty())
    warnings.push_back("git's index can't be read (" + diff.index_problem +
                       "): HEAD was used instead, and it is not known whether the diff applies to "
                       "the index");
  if (const auto folders = git_folders(diff); !folders.empty())
    warnings.push_back("left out of the diff, since git takes no .git into a tree: " +
                       some_of(folders));
  if (!diff.outward_links.empty())
    warnings.push_back("the diff adds links that lead out of the tree: " +
                       some_of(diff.outward_links));
  if (!diff.already.empty())
    warnings.push_back(
        "the workspace has these changes already, made by somebody else since the "
        "start: " +
        some_of(diff.already));
  std::vector<std::string> made;
  for (const std::string& path : added_files(diff)) {
    if (by_verification.contains(path) && ignore_line_for(path).empty()) made.push_back(path);
  }
  for (const BuildProducts& group : find_build_products(added_files(diff)))
    warnings.push_back("the diff holds what a build left: " + some_of(group.paths, 3) +
                       "; the line '" + group.ignore_line + "' in .gitignore leaves it out");
  if (!made.empty())
    warnings.push_back("the diff holds files that only the verification made: " + some_of(made) +
                       "; a line for each in .gitignore ('/" + path_text(made.front()) +
                       "') leaves them out");
  return warnings;
}

LineCounts count_lines(std::string_view diff) {
  LineCounts counts;
  bool in_hunk = false;
  while (!diff.empty()) {
    const std::size_t end = std::min(diff.find('\n'), diff.size());
    const std::string_view line = diff.substr(0, end);
    // Within a hunk each line begins with its own sign: no content can look like a header.
    if (line.starts_with("@@ "))
      in_hunk = true;
    else if (line.starts_with("diff --git "))
      in_hunk = false;
    else if (in_hunk && line.starts_with('+'))
      ++counts.added;
    else if (in_hunk && line.starts_with('-'))
      ++counts.removed;
    diff.remove_prefix(std::min(end + 1, diff.size()));
  }
  return counts;
}

}  // namespace sortie
