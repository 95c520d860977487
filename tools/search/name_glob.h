#pragma once

#include <optional>
#include <string>
#include <string_view>

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

}  // namespace sortie
