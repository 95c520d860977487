#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace sortie {

/// What a run shows of the repository around its workspace, beyond what lies in the workspace. A
/// value; all paths are absolute, links resolved.
struct GitView {
  std::vector<std::filesystem::path> folders;  ///< shown read-only, so that git finds them
  std::vector<std::filesystem::path> covered;  ///< in these, and shown empty: --out
  /// Files that are shown with another content, wherever the view has them: configurations without
  /// their credentials.
  std::vector<std::pair<std::filesystem::path, std::string>> files;
  bool operator==(const GitView&) const = default;
};

}  // namespace sortie
