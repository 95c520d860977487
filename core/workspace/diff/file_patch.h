#pragma once

#include <string>
#include <string_view>

#include "core/workspace/diff/diff_text.h"
#include "core/workspace/diff/patch_header.h"

namespace sortie {

/// One file's part of a diff. Nothing of it has been applied.
struct FilePatch {
  PatchHeader header;
  /// Hunks or a binary patch; "" if the content stays, or the file is empty. Refers to the diff.
  std::string_view body;

  bool moves_only() const { return header.old_mode == 0 && header.new_mode == 0; }
  bool adds() const { return header.old_mode == 0 && !moves_only(); }
  bool deletes() const { return header.new_mode == 0 && !moves_only(); }
  /// The file that it changes, by the name that it has afterwards.
  const std::string& path() const { return deletes() ? header.old_path : header.new_path; }
};

/// Removes the first patch from a diff as make_patch() writes it: names with "a/" and "b/", full ids,
/// the modes of files and links. It ends before the next "diff --git ". No other line begins so:
/// content lines begin with one of " +-\", and lines of binary patches contain no space.
/// @param read_on  called every now and then
/// @throws Error   ExitCode::integrity: it has another form
FilePatch take_patch(std::string_view& diff, const ReadOn& read_on = {});

/// What a patch makes of the content of its file.
/// @param before  "" for a file that it adds
/// @return        "" for a file that it deletes
/// @throws Error  ExitCode::integrity: it does not apply, or makes another content than it says
std::string patched_content(const FilePatch& patch, const std::string& before);

/// Whether that is this content. A text is compared line by line, not made: it may be very large.
/// @param read_on  called every now and then
/// @throws Error   ExitCode::integrity: it does not apply, or names another content
bool patch_gives(const FilePatch& patch, const std::string& before, const std::string& after,
                 const ReadOn& read_on = {});

}  // namespace sortie
