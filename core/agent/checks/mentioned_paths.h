#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/files/files.h"

namespace sortie {

/// A path in a message that should exist.
struct MentionedPath {
  std::string path;  ///< without "./" and ":LINE"
  /// It only counts if its first folder exists: `docs/api` may be the name of a branch.
  bool needs_first_folder = false;
  bool operator==(const MentionedPath&) const = default;
};

/// The paths in a message's prose, each once, in order. A false alarm costs a turn, so doubtful
/// words are skipped.
///
/// Paths are words with a slash and a file's extension (`src/a.py`), names with a common extension
/// (`a.py`), and, in backticks or quotes, words with just a slash. Skipped are fenced code,
/// commands and code in backticks, URLs, globs, placeholders, MIME types, "and/or", names of
/// libraries ("Node.js"), build products (`node_modules/…`), paths with "..", and sentences which
/// say that the path is new, deleted or missing.
std::vector<MentionedPath> mentioned_paths(std::string_view message);

/// Looks for mentioned paths in the workspace. Lists the tree once, when first needed: make another
/// one after the tree has changed.
class PathLookup {
 public:
  /// @param view       the run's current workspace
  /// @param workspace  its path as the model knows it; absolute
  /// @param is_hidden  whether the policy hides an absolute path: nothing is revealed about those
  PathLookup(const Files& view, std::filesystem::path workspace,
             std::function<bool(const std::filesystem::path&)> is_hidden)
      : view_(view), workspace_(std::move(workspace)), is_hidden_(std::move(is_hidden)) {}

  /// Whether it exists, or may exist: a path outside the workspace, a hidden one, or any path if
  /// the tree is too large to list. "a.py" and "util/a.py" also match "src/util/a.py".
  bool may_exist(const std::string& path);

 private:
  bool exists_at(const std::filesystem::path& path) const;
  void list();

  const Files& view_;
  std::filesystem::path workspace_;
  std::function<bool(const std::filesystem::path&)> is_hidden_;
  bool listed_ = false;
  bool complete_ = false;            ///< all of the tree is in `tree_`
  std::vector<std::string> tree_{};  ///< all paths, each with a leading slash
};

}  // namespace sortie
