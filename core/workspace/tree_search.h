#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace sortie {

/// What one walk over a tree looks for.
struct TreeSearch {
  /// Whether a path (absolute) is hidden from commands; what is below it is not looked at then.
  std::function<bool(const std::string& path)> hides{};
  /// Whether a path (absolute) is protected from commands; asked of none below such a path, nor of
  /// what lies in node_modules.
  std::function<bool(const std::string& path)> protects{};
  std::size_t entries = 300'000;  ///< of all folders, after which it gives up
};

/// What it found; paths are absolute, sorted.
struct TreeFinds {
  std::vector<std::filesystem::path> hidden{};
  std::vector<std::filesystem::path> guarded{};  ///< what is protected
  std::vector<std::filesystem::path> links{};    ///< but those in node_modules
  std::vector<std::filesystem::path> sockets{};
  /// Files of repositories, bare ones and submodules too, that may hold credentials
  /// (core/git/config/git_secrets.h).
  std::vector<std::filesystem::path> git_files{};
  bool complete = true;  ///< false where there were more entries
};

/// Walks over a tree, breadth first, at every depth; links are not followed. In the folders of git
/// (`.git`, bare repositories) nothing is hidden, and objects, references and logs are passed over.
/// Reads names alone: no file is opened or asked about where the file system tells kinds by names
/// (readdir(3), d_type). What can't be listed is passed over: nor can commands.
/// @param root  a working tree, or a folder of git
TreeFinds search_tree(const std::filesystem::path& root, const TreeSearch& search = {});

}  // namespace sortie
