#include "app/artifacts/diff_verdict.h"

#include <algorithm>

#include "app/artifacts/build_products.h"
#include "core/files/file_name.h"

namespace sortie {
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
  constexpr std::size_t kMostTold = 20;
  std::vector<std::string> told;
  for (const LeftOut& one : diff.left_out)
    if (is_loss(one)) told.push_back(path_text(one.path) + " (" + one.detail + ")");
  for (const std::string& line : diff.too_large) told.push_back(line + " (too large)");
  return told.empty() ? "" : "The diff can't hold these changes: " + some_of(told, kMostTold) + ".";
}

std::vector<std::string> diff_warnings(const Diff& diff,
                                       const std::set<std::string>& by_verification) {
  std::vector<std::string> warnings;
  if (!diff.index_problem.empty())
    warnings.push_back("git's index can't be read (" + diff.index_problem +
                       "): HEAD stood in for it, and it is not known whether the diff applies to "
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

}  // namespace sortie
