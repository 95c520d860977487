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

/// Where the paths of a patch lead.
struct Place {
  std::filesystem::path root{};    ///< absolute: what an absolute path must lie in; "" refuses them
  std::filesystem::path folder{};  ///< relative to the root: what relative paths begin at
  /// Whether a file, relative to the root and with links resolved, must not be written.
  std::function<bool(const std::filesystem::path&)> refused{};
  /// What was probably meant by a path, relative to the root, at which nothing stands: words that
  /// go on from "no such file", or "".
  std::function<std::string(const std::filesystem::path&)> near{};
  bool digests = true;  ///< whether the effects are to have any
  /// Asked before each chunk: a stop is a failure like others, which changes nothing.
  std::stop_token stop{};
};

/// A file that a patch changed.
struct FileEffect {
  char letter = 'M';                   ///< A, M or D
  std::filesystem::path path;          ///< relative to the root, links resolved
  std::filesystem::path moved_from{};  ///< of a move
  unsigned mode = 0644;                ///< after it; of a delete: before it
  std::string sha256_before{};         ///< hex; "" where there was no file
  std::string sha256_after{};          ///< hex; "" where there is none
};

struct Applied {
  std::string text;  ///< "Success. Updated the following files:\nM a.txt\n"
  std::vector<FileEffect> effects;
};

/// Applies the hunks in their order, each seeing the effect of those before it. All is worked out
/// in memory first, then written; whatever fails, the tree is as it was before.
///
/// @throws ToolError  worded for the model, with the nearest place where lines were not found
Applied apply_hunks(const std::vector<Hunk>& hunks, Files& files, const Place& place);

/// All files that the hunks would write or remove, relative to the root, links resolved.
/// @throws ToolError  for a path that is not acceptable
std::vector<std::filesystem::path> touched_paths(const std::vector<Hunk>& hunks, const Files& files,
                                                 const Place& place);

/// parse_patch and apply_hunks.
Applied apply_patch(std::string_view text, Files& files, const Place& place);

}  // namespace sortie::patch
