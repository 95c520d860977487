#pragma once

#include <string>
#include <string_view>

namespace sortie {

/// What `*`, `?` and sets of a glob may match: any character of a word, or none but '/' of a path.
enum class GlobSpan { word, folder };

/// A glob in the form in which it is matched (Pattern::word_glob, Pattern::path_glob).
struct GlobExpression {
  std::string expression;  ///< RE2 syntax, over bytes
  /// The longest run of ASCII characters that each match contains; empty where there is none.
  std::string needed;
};

GlobExpression glob_expression(std::string_view glob, GlobSpan span);

}  // namespace sortie
