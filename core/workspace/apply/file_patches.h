#pragma once

#include <string>
#include <vector>

#include "core/workspace/diff/patch_header.h"

namespace sortie {

/// One file's part of a diff, read from its text. Nothing of it has been applied.
struct FilePatch {
  PatchHeader header;
  std::string body;  ///< hunks or a binary patch; "" if the content stays, or the file is empty

  bool moves_only() const { return header.old_mode == 0 && header.new_mode == 0; }
  bool adds() const { return header.old_mode == 0 && !moves_only(); }
  bool deletes() const { return header.new_mode == 0 && !moves_only(); }
};

/// Reads a diff as make_patch() writes it: names with "a/" and "b/", full ids, the modes of files
/// and links. The text may come from anybody.
/// @throws Error  ExitCode::integrity: it has another form, or names a path that path_problem()
///                refuses, or one path twice
std::vector<FilePatch> read_patches(const std::string& text);

}  // namespace sortie
