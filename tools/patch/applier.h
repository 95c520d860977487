#pragma once

#include <filesystem>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/files/files.h"
#include "tools/patch/parser.h"

namespace sortie::patch {

/// How the paths of a patch are resolved.
struct Place {
  std::filesystem::path root{};    ///< absolute; absolute paths must be in it, "" refuses them
  std::filesystem::path folder{};  ///< relative to the root; where relative paths start
  /// Whether a file, relative to the root and with links resolved, must not be written.
  std::function<bool(const std::filesystem::path&)> refused{};
  /// A hint about a missing path, relative to the root, to append to "no such file", or "".
  std::function<std::string(const std::filesystem::path&)> hint{};
  bool digests = true;  ///< whether effects get their sha256 members
  /// Checked before each chunk: a stop is a failure that changes nothing, like any other.
  std::stop_token stop{};
};

/// A file that a patch changed.
struct FileEffect {
  char letter = 'M';                   ///< A, M or D
  std::filesystem::path path;          ///< relative to the root, links resolved
  std::filesystem::path moved_from{};  ///< set for a move
  unsigned mode = 0644;                ///< after the change; for a delete: before
  std::string sha256_before{};         ///< hex; "" if there was no file, or a special one
  std::string sha256_after{};          ///< hex; "" if there is none
};

struct Applied {
  std::string text;  ///< "Success. Updated the following files:\nM a.txt\n"
  std::vector<FileEffect> effects;
};

/// The files that the hunks would write or remove, relative to the root, links resolved.
/// @throws ToolError  for an invalid path
std::vector<std::filesystem::path> touched_paths(const std::vector<Hunk>& hunks, const Files& files,
                                                 const Place& place);

/// Parses a patch and applies its hunks in order, each on the result of those before it. Everything
/// is computed in memory first, then written; on any failure the tree stays as it was.
///
/// @throws ToolError  worded for the model, with the nearest place if lines were not found
Applied apply_patch(std::string_view text, Files& files, const Place& place);

}  // namespace sortie::patch
