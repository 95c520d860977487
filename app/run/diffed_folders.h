#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/record/file_events.h"

namespace sortie {

/// The folders of a tree without a repository that a recorded diff was applied to: that something was
/// removed beside the files of the diff shows in their names alone.
class DiffedFolders {
 public:
  /// @param workspace  where the tree is. All arguments outlive this
  /// @param apart      absolute paths that don't count
  DiffedFolders(const DiffWritten& diff, const std::filesystem::path& workspace,
                const std::vector<std::filesystem::path>& apart);
  /// Whether a folder holds what it held at the start, but for what the diff adds and removes.
  /// @param folder  "" for the workspace
  bool is_known(const std::string& folder) const;

 private:
  using Names = std::set<std::string>;
  bool counts(const std::string& folder, const std::string& name) const;
  Names expected(const std::string& folder, const Names* there) const;
  bool is_left_empty(const std::string& folder) const;

  const DiffWritten& diff_;
  const std::filesystem::path& workspace_;
  const std::vector<std::filesystem::path>& apart_;
  std::map<std::string, const DiffedFolder*> recorded_;
  mutable std::map<std::string, bool> left_empty_;  ///< what is_left_empty() has found
};

}  // namespace sortie
