#include "app/run/diffed_folders.h"

#include <algorithm>
#include <utility>

#include "core/workspace/tree.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// The folder of a path and its last name.
std::pair<std::string, std::string> split_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == path.npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

}  // namespace

DiffedFolders::DiffedFolders(const DiffWritten& diff, const fs::path& workspace,
                             const std::vector<fs::path>& apart)
    : diff_(diff), workspace_(workspace), apart_(apart) {
  for (const DiffedFolder& folder : diff.folders) recorded_.emplace(folder.path, &folder);
}

bool DiffedFolders::counts(const std::string& folder, const std::string& name) const {
  const fs::path path = workspace_ / child_path(folder, name);
  return !in_git_folder(name) && std::find(apart_.begin(), apart_.end(), path) == apart_.end();
}

/// The names that the diff leaves in a recorded folder.
/// @param there  those that are in it; null: it is not looked at
DiffedFolders::Names DiffedFolders::expected(const std::string& folder, const Names* there) const {
  const auto& before = recorded_.at(folder)->names;
  Names names;
  if (before)
    for (const std::string& name : *before)
      if (counts(folder, name)) names.insert(name);
  for (const DiffedFile& file : diff_.files) {
    const auto [above, name] = split_path(file.old_path.empty() ? file.path : file.old_path);
    if (above == folder && (!file.after || !file.old_path.empty())) names.erase(name);
  }
  for (const DiffedFile& file : diff_.files) {
    const auto [above, name] = split_path(file.path);
    if (above == folder && file.after) names.insert(name);
  }
  for (const auto& [path, recorded] : recorded_) {
    const auto [above, name] = split_path(path);
    if (path.empty() || above != folder) continue;
    if (!is_left_empty(path))
      names.insert(name);
    else if (there == nullptr || there->count(name) == 0)
      names.erase(name);  // git removes a folder that its diff has emptied; others may leave it
  }
  return names;
}

bool DiffedFolders::is_left_empty(const std::string& folder) const {
  const auto found = left_empty_.find(folder);
  if (found != left_empty_.end()) return found->second;
  return left_empty_[folder] = expected(folder, nullptr).empty();
}

bool DiffedFolders::is_known(const std::string& folder) const {
  if (recorded_.count(folder) == 0) return false;
  Names there;
  std::error_code error;
  for (fs::directory_iterator entry(workspace_ / folder, error), end; !error && entry != end;
       entry.increment(error))
    if (std::string name = entry->path().filename().string(); counts(folder, name))
      there.insert(std::move(name));
  return !error && there == expected(folder, &there);
}

}  // namespace sortie
