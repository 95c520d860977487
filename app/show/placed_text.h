#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// A place in a file, for a note in a CI system.
struct CiPlace {
  std::string file{};  ///< "": none
  int line = 0;        ///< from 1; 0: unknown
  int column = 0;      ///< from 1; 0: unknown
  bool operator==(const CiPlace&) const = default;
};

/// What a line of an output says of a place in a file.
struct PlacedText {
  CiPlace place{};
  std::string text{};  ///< may be ""
  bool operator==(const PlacedText&) const = default;
};

/// Reads the place at the beginning of a line, behind blanks, as compilers and test programs write it:
/// "FILE:LINE: TEXT", "FILE:LINE:COLUMN: TEXT", "FILE(LINE,COLUMN): TEXT" (tsc), "--> FILE:LINE:COLUMN"
/// (rustc), `File "FILE", line LINE` (Python). Nothing if there is none; whether there is such a file
/// is not looked at.
std::optional<PlacedText> placed_text(std::string_view line);

/// The places in an output, each once, in order. A place without a text gets the line before it; those
/// of a Python traceback get its exception.
std::vector<PlacedText> placed_texts(std::string_view output);

}  // namespace sortie
