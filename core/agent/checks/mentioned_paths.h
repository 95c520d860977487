#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// A path that a message names as one of a file or folder that is there.
struct NamedPath {
  std::string path;  ///< without "./" and ":LINE"
  /// It is one only where its first folder exists: `docs/api` may as well be a branch's name.
  bool needs_first_folder = false;
  bool operator==(const NamedPath&) const = default;
};

/// The paths in a message's prose, each once, in their order. In doubt a word is none, since a
/// false alarm costs a turn: taken are words with a slash and a file's extension (`src/a.py`),
/// names with one of the common extensions (`a.py`), and, in backticks or quotes, words with a
/// slash alone. Left out are fenced code, commands and code in backticks, URLs, globs,
/// placeholders, MIME types, "and/or", names of libraries ("Node.js"), what is made by builds
/// (`node_modules/…`), paths with "..", and sentences that say that the path is new, gone or not
/// there.
std::vector<NamedPath> named_paths(std::string_view message);

}  // namespace sortie
