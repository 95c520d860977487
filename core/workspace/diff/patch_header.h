#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// The lines before the content of one file's patch, as git writes and reads them.
///
/// Not left to libgit2: its version of 2023 neither terminates names with blanks like git, nor
/// writes the full index line that git requires for quoted binary files, nor reads either back.
///
///     diff --git a/OLD b/NEW
///     old mode M / new mode M      | new file mode M | deleted file mode M
///     similarity index N% / rename from OLD / rename to NEW
///     index ID..ID[ M]
///     --- a/OLD | /dev/null        only before text, with a tab behind names that hold a space
///     +++ b/NEW | /dev/null
///
/// Source: git, Documentation/diff-generate-patch.txt; quoting: git, quote.c.
struct PatchHeader {
  std::string old_path;
  std::string new_path;   ///< the same as old_path except in a rename
  unsigned old_mode = 0;  ///< 0: no such file before
  unsigned new_mode = 0;  ///< 0: no such file after
  int similarity = 0;     ///< per cent, for renames
  std::string old_id;     ///< 40 hex digits; both "" if the content is unchanged
  std::string new_id;
  bool text = false;  ///< hunks follow
  bool operator==(const PatchHeader&) const = default;
};

std::string write_header(const PatchHeader& header);

/// Parses what write_header wrote, and removes it from the text.
/// @throws Error  with the invalid line
PatchHeader read_header(std::string_view& text);

}  // namespace sortie
