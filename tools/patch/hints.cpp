#include "tools/patch/hints.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include "core/text/text.h"
#include "tools/patch/matcher.h"

namespace sortie::patch {
namespace {

constexpr std::size_t kLongestShown = 200;  ///< bytes shown of a line

/// The letters in lower case: a header without its blanks and signs.
std::string letters_of(std::string_view text) {
  std::string letters;
  for (const unsigned char c : text)
    if (std::isalpha(c) != 0) letters += static_cast<char>(std::tolower(c));
  return letters;
}

/// The header that was probably meant; "" if none.
std::string_view meant_header(const std::string& letters) {
  static constexpr struct {
    std::string_view letters;
    std::string_view header;
  } kMeant[] = {
      {"updatefile", "*** Update File: "}, {"modifyfile", "*** Update File: "},
      {"editfile", "*** Update File: "},   {"changefile", "*** Update File: "},
      {"update", "*** Update File: "},     {"addfile", "*** Add File: "},
      {"createfile", "*** Add File: "},    {"newfile", "*** Add File: "},
      {"add", "*** Add File: "},           {"deletefile", "*** Delete File: "},
      {"removefile", "*** Delete File: "}, {"delete", "*** Delete File: "},
      {"moveto", "*** Move to: "},         {"movefile", "*** Move to: "},
      {"renameto", "*** Move to: "},       {"renamefile", "*** Move to: "},
      {"endpatch", "*** End Patch"},       {"endoffile", "*** End of File"},
  };
  for (const auto& row : kMeant)
    if (row.letters == letters) return row.header;
  return "";
}

/// Whether it is the line range of a unified diff: "-1,3 +1,4 @@".
bool is_line_range(std::string_view anchor) {
  return anchor.size() >= 2 && anchor[0] == '-' && std::isdigit(anchor[1]) != 0 &&
         anchor.find(" +") != std::string_view::npos;
}

/// Whether it begins like "12: ", "L12:", "12|" or "12 →", or with a number and a tab.
bool begins_with_number(std::string_view line) {
  line = trim(line);
  if (line.starts_with('L')) line.remove_prefix(1);
  const auto end =
      std::find_if(line.begin(), line.end(), [](char c) { return c < '0' || c > '9'; });
  std::string_view rest = line.substr(static_cast<std::size_t>(end - line.begin()));
  if (rest.size() == line.size()) return false;
  if (rest.starts_with('\t')) return true;
  rest = trim(rest);
  return rest.starts_with(':') || rest.starts_with('|') || rest.starts_with("→");
}

std::optional<std::size_t> line_with(const FileLines& file, const std::string& part,
                                     std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i)
    if (comparable(file.text(i), Leniency::signs).find(part) != std::string::npos) return i;
  return std::nullopt;
}

}  // namespace

std::string header_hint(std::string_view line) {
  line = trim(line);
  if (!line.starts_with("**")) return "";
  const std::size_t colon = line.find(':');
  const std::string_view header = meant_header(letters_of(line.substr(0, colon)));
  if (header.empty()) return "";
  const std::string_view path = colon == std::string_view::npos ? "" : trim(line.substr(colon + 1));
  if (header.ends_with(' ') && path.empty()) return " The header must be followed by a path.";
  return " Did you mean " + in_quotes(std::string(header) + std::string(path), kLongestShown) + "?";
}

std::string begin_hint(std::string_view first) {
  first = trim(first);
  if (first.starts_with("```")) return ". Leave out the ``` around the patch";
  for (const std::string_view sign : {"--- ", "diff ", "Index: ", "@@ -"})
    if (first.starts_with(sign))
      return ". Unified diffs are not supported: after '*** Begin Patch' write "
             "'*** Update File: PATH', then chunks that begin with '@@' and have no line numbers";
  return ", not " + in_quotes(first, kLongestShown);
}

std::string end_hint(std::string_view last) {
  return ", not " + in_quotes(last, kLongestShown) +
         ". If the patch was cut off there, split it into smaller patches";
}

std::string anchor_hint(const FileLines& file, std::string_view anchor, std::size_t from) {
  if (is_line_range(anchor))
    return "'@@' takes no line numbers: write '@@' alone, or '@@ ' and a whole line of the file.\n";
  const std::string part = comparable(anchor, Leniency::signs);
  if (part.empty()) return "";
  auto found = line_with(file, part, from, file.size());
  if (!found) found = line_with(file, part, 0, std::min(from, file.size()));
  if (!found || comparable(file.text(*found), Leniency::signs) == part) return "";
  return "An anchor must be a whole line; line " + std::to_string(*found + 1) +
         " contains it: " + in_quotes(file.text(*found), kLongestShown) +
         (*found < from ? ", but comes before this chunk" : "") + ".\n";
}

std::string lines_hint(const std::vector<std::string_view>& pattern) {
  bool numbered = false;
  for (const std::string_view line : pattern) {
    if (trim(line).empty()) continue;
    if (!begins_with_number(line)) return "";
    numbered = true;
  }
  return numbered ? "Leave out the line numbers: they are not part of the file.\n" : "";
}

}  // namespace sortie::patch
