#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/git/git_ignore.h"
#include "core/text/pattern.h"

namespace sortie {

/// A glob of an ignore file or of a call. Without a slash it matches names in any folder, with one
/// it matches paths. `*`, `?` and sets do not match slashes, `**` between slashes matches any
/// folders (gitignore(5)). The usual forms, a plain name and "*.ext", are compared without RE2.
class NameGlob {
 public:
  /// @throws PatternError
  explicit NameGlob(std::string_view glob);

  /// @param path  relative to the folder that the glob applies to
  /// @param name  its last part
  bool matches(std::string_view path, std::string_view name) const;

 private:
  enum class Form { name, name_end, name_glob, path, path_glob };
  Form form_ = Form::name;
  std::string text_{};                ///< for `name`, `name_end` and `path`
  std::optional<Pattern> pattern_{};  ///< for the globs
};

/// What ignore files say about a path.
enum class IgnoreVerdict {
  nothing,
  ignored,
  kept,  ///< a rule with `!` includes it again
};

/// The rules of one ignore file (gitignore(5)): the last match decides. Lines may end in CR LF;
/// only the first megabyte of a file and 20,000 rules are read.
class IgnoreFile {
 public:
  IgnoreFile() = default;
  explicit IgnoreFile(std::string_view text);

  /// @param path  relative to the folder that the rules apply to
  IgnoreVerdict verdict(std::string_view path, std::string_view name, bool is_folder) const;
  bool empty() const noexcept { return rules_.empty(); }

 private:
  struct Rule {
    NameGlob glob;
    bool folders_only = false;
    bool keeps = false;
  };
  void add(std::string_view line);

  std::vector<Rule> rules_;
};

/// The ignore files of the folders from the workspace down to the current one of a walk. Within one
/// kind deeper folders win; `.ignore` wins over `.gitignore`, and that over `.git/info/exclude`.
class IgnoreRules {
 public:
  enum class Kind { ignore, gitignore, exclude };
  static constexpr std::size_t kKinds = 3;

  /// Adds rules of a folder above the workspace, or of its repository.
  /// @param prefix  the workspace's path relative to where they apply: "services/web"; or ""
  void add_outer(Kind kind, std::string prefix, std::string_view text);
  /// Adds rules of a folder on the way to the next paths; `folder` is "" for the workspace.
  void add(Kind kind, std::string folder, std::string_view text);
  /// Drops the rules of this folder.
  void leave(std::string_view folder);

  /// @param path  relative to the workspace, in or below the last folder that rules were added for
  IgnoreVerdict verdict(std::string_view path, std::string_view name, bool is_folder) const;

 private:
  struct Level {
    std::string folder;
    std::string prefix;  ///< set for rules from above the workspace
    IgnoreFile file;
  };
  std::vector<Level> levels_[kKinds];
};

/// The rules at the start of a walk.
IgnoreRules outer_rules(const std::vector<OuterIgnoreFile>& files);

}  // namespace sortie
