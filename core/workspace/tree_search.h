#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// The criteria of a tree search. The functions are called by several threads.
struct TreeSearch {
  /// Whether an absolute path is hidden from commands; then nothing below it is searched.
  std::function<bool(const std::string& path)> hides{};
  /// Whether an absolute path is protected from commands; not called for paths below such a path,
  /// or in node_modules.
  std::function<bool(const std::string& path)> protects{};
  /// Tells names: a path in the root that has none of them is not hidden or protected, so that it need
  /// not be asked. Not set: each path may be.
  std::function<bool(std::string_view name)> concerns{};
  std::size_t entries = 300'000;  ///< limit for entries of all folders; then it gives up
};

/// The results of a tree search; paths are absolute and sorted.
struct TreeFinds {
  std::vector<std::filesystem::path> hidden{};
  std::vector<std::filesystem::path> guarded{};  ///< protected paths
  std::vector<std::filesystem::path> links{};    ///< except those in node_modules
  std::vector<std::filesystem::path> sockets{};
  /// Files of repositories, bare ones and submodules too, that may hold credentials
  /// (core/git/config/git_secrets.h).
  std::vector<std::filesystem::path> git_files{};
  bool complete = true;  ///< false if the limit was reached
};

/// Searches a tree breadth first, without following links, each level in as many threads as there
/// are processors, which have ended when it returns. In git folders (`.git`, bare repositories)
/// nothing is hidden, and objects, references and logs are skipped. Reads only names: no file is
/// opened, or queried if the file system reports the types of entries (readdir(3), d_type). Folders
/// that can't be listed are skipped: commands can't list them either.
/// @param root  a working tree, or a folder of git
TreeFinds search_tree(const std::filesystem::path& root, const TreeSearch& search = {});

}  // namespace sortie
