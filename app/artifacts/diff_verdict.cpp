#include "app/artifacts/diff_verdict.h"

#include <algorithm>
#include <map>

#include "core/files/file_name.h"
#include "core/text/text.h"
#include "core/workspace/diff/products.h"
#include "core/workspace/diff/whole_diff.h"

namespace sortie {
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

std::vector<std::string> left_out_as(LeftOut::Why why, const Diff& diff) {
  std::vector<std::string> paths;
  for (const LeftOut& one : diff.left_out)
    if (one.why == why) paths.push_back(one.path);
  return paths;
}

/// "/build/" for a folder, else what its name says; with an anchor for a single file.
std::string line_for_product(const std::string& path) {
  const bool is_folder = path.ends_with('/');
  std::string line = ignore_line_for(is_folder ? path + "x" : path);
  return line.empty() ? "/" + path : line;
}

std::string products_warning(const std::vector<std::string>& paths) {
  std::vector<std::string> lines;
  for (const std::string& path : paths)
    if (std::string line = "'" + path_text(line_for_product(path)) + "'";
        std::find(lines.begin(), lines.end(), line) == lines.end())
      lines.push_back(std::move(line));
  return "left out of the diff as build products: " + some_of(paths, 3) +
         "; output.diff.products: include takes them in, and " +
         (lines.size() == 1 ? "the line " : "the lines ") + some_of(lines, 5) +
         " in .gitignore would leave them to git";
}

/// Many new files that no patch wrote, such as a build tree without a sign.
std::string many_files_warning(const Diff& diff, const std::set<std::string>& patched) {
  constexpr std::size_t kMany = 100;
  std::map<std::string, std::size_t> by_folder;
  std::size_t count = 0;
  for (const DiffFile& file : all_files(diff)) {
    if (file.kind != ChangedPath::Kind::added || patched.contains(file.path)) continue;
    ++count;
    ++by_folder[file.path.substr(0, file.path.find('/') + 1)];
  }
  if (count <= kMany) return "";
  const auto most =
      std::max_element(by_folder.begin(), by_folder.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return "the diff adds " + std::to_string(count) + " files that no patch wrote, " +
         std::to_string(most->second) + " of them in " +
         (most->first.empty() ? "the workspace itself" : path_text(most->first)) +
         ": see whether they belong in it";
}

std::vector<std::string> large_files(const Diff& diff) {
  std::vector<std::string> paths;
  for (const TooLarge& one : diff.too_large) paths.push_back(one.path);
  return paths;
}

std::vector<std::string> added_files(const Diff& diff) {
  std::vector<std::string> paths;
  for (const DiffFile& file : all_files(diff))
    if (file.kind == ChangedPath::Kind::added) paths.push_back(file.path);
  return paths;
}

}  // namespace

bool is_loss(const LeftOut& one) {
  return one.why != LeftOut::Why::git_folder && one.why != LeftOut::Why::product;
}

std::string undiffable_changes(const Diff& diff, bool large_files_fail) {
  constexpr std::size_t kMostShown = 20;
  std::vector<std::string> told;
  for (const LeftOut& one : diff.left_out)
    if (is_loss(one)) told.push_back(path_text(one.path) + " (" + one.detail + ")");
  if (large_files_fail)
    for (const TooLarge& one : diff.too_large)
      told.push_back(path_text(one.path) + " (too large: " + one.detail + ")");
  return told.empty() ? ""
                      : "The diff can't hold these changes: " + some_of(told, kMostShown) + ".";
}

std::vector<std::string> diff_warnings(const Diff& diff,
                                       const std::set<std::string>& by_verification,
                                       const std::set<std::string>& patched) {
  std::vector<std::string> warnings;
  if (!diff.index_problem.empty())
    warnings.push_back("git's index can't be read (" + diff.index_problem +
                       "): HEAD was used instead, and it is not known whether the diff applies to "
                       "the index");
  if (!diff.too_large.empty())
    warnings.push_back("too large for the diff, which lacks them: " + some_of(large_files(diff)));
  if (!diff.lfs.empty())
    warnings.push_back(
        "files of git-lfs are in the diff with the bytes of the tree, and not as pointers: git "
        "apply needs `-c filter.lfs.clean= -c filter.lfs.smudge= -c filter.lfs.process= -c "
        "filter.lfs.required=false` for them: " +
        some_of(diff.lfs));
  if (!diff.line_ends.empty())
    warnings.push_back(
        "git ends lines or encodes text in another way than the run's files, by attributes of the "
        "repository: " +
        some_of(diff.line_ends));
  if (const auto folders = left_out_as(LeftOut::Why::git_folder, diff); !folders.empty())
    warnings.push_back("left out of the diff, since git takes no .git into a tree: " +
                       some_of(folders));
  if (const auto products = left_out_as(LeftOut::Why::product, diff); !products.empty())
    warnings.push_back(products_warning(products));
  if (!diff.patched_but_ignored.empty())
    warnings.push_back(
        "patches wrote files that are not in the diff, since ignore rules of the run hide them: " +
        some_of(diff.patched_but_ignored));
  if (auto many = many_files_warning(diff, patched); !many.empty())
    warnings.push_back(std::move(many));
  if (!diff.bound_to_place.empty())
    warnings.push_back(
        "new files contain the absolute path of the workspace, so that they may not "
        "work elsewhere: " +
        some_of(diff.bound_to_place));
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
