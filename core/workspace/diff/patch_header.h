#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// The lines before the content of one file's patch, as git writes and reads them.
///
/// Written here and not by libgit2: the one of 2023 neither ends names with blanks as git does, nor
/// gives quoted binary files the full index line that git asks for, nor reads either back.
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
  std::string new_path;   ///< the same as old_path but in a rename
  unsigned old_mode = 0;  ///< 0: there is no such file before
  unsigned new_mode = 0;  ///< 0: there is none after
  int similarity = 0;     ///< per cent; of renames
  std::string old_id;     ///< 40 hex digits; both are "" where the content stays
  std::string new_id;
  bool text = false;  ///< hunks follow
  bool operator==(const PatchHeader&) const = default;
};

std::string write_header(const PatchHeader& header);

/// Reads what write_header wrote, and takes it off the text.
/// @throws Error  with the line that is not as it should be
PatchHeader read_header(std::string_view& text);

/// As in C and in double quotes where it holds a control byte, a quote, a backslash, a byte of
/// more than 7 bits or " /", else as it is.
std::string quote_path(std::string_view path);

}  // namespace sortie
