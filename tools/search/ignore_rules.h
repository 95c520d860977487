#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/git/git_ignore.h"
#include "core/text/pattern.h"

namespace sortie {

/// A glob of an ignore file or of a call: without a slash in it, it is about a name in any folder;
/// with one, about a path. `*`, `?` and sets stay within one folder, `**` between slashes crosses
/// them (gitignore(5)). The usual forms, a plain name and "*.ext", are compared without RE2.
class NameGlob {
 public:
  /// @throws PatternError
  explicit NameGlob(std::string_view glob);

  /// @param path  relative to where the glob counts from
  /// @param name  its last part
  bool matches(std::string_view path, std::string_view name) const;

 private:
  enum class Form { name, name_end, name_glob, path, path_glob };
  Form form_ = Form::name;
  std::string text_{};                ///< of `name`, `name_end` and `path`
  std::optional<Pattern> pattern_{};  ///< of the globs
};

/// What ignore files say of a path.
enum class IgnoreVerdict {
  nothing,
  ignored,
  kept,  ///< a rule with `!` takes it in again
};

/// The rules of one ignore file (gitignore(5)): the last that matches decides. Lines may end in CR
/// LF; of a file only the first megabyte and 20,000 rules count.
class IgnoreFile {
 public:
  IgnoreFile() = default;
  explicit IgnoreFile(std::string_view text);

  /// @param path  relative to the folder that the rules are about
  IgnoreVerdict judge(std::string_view path, std::string_view name, bool is_folder) const;
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

/// The ignore files of the folders from the workspace down to the one that is being looked at. Of
/// one kind those of the deeper folder win; `.ignore` wins over `.gitignore`, that over
/// `.git/info/exclude`.
class IgnoreRules {
 public:
  enum class Kind { ignore, gitignore, exclude };
  static constexpr std::size_t kKinds = 3;

  /// Rules of a folder above the workspace, or of its repository.
  /// @param prefix  the workspace's path from where they count: "services/web"; or ""
  void add_outer(Kind kind, std::string prefix, std::string_view text);
  /// Rules of a folder that paths below go through from now on; `folder` is "" for the workspace.
  void add(Kind kind, std::string folder, std::string_view text);
  /// Drops those of this folder.
  void leave(std::string_view folder);

  /// @param path  relative to the workspace, in the last folder that rules were added for or below
  IgnoreVerdict judge(std::string_view path, std::string_view name, bool is_folder) const;

 private:
  struct Level {
    std::string folder;
    std::string prefix;  ///< of one above the workspace
    IgnoreFile file;
  };
  std::vector<Level> levels_[kKinds];
};

/// The rules that a walk begins with.
IgnoreRules outer_rules(const std::vector<OuterIgnoreFile>& files);

}  // namespace sortie
