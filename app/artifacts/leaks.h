#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/secrets/redact.h"
#include "core/workspace/diff/diff_text.h"

namespace sortie {

/// A place in a diff that must not be handed on. Never holds a value.
struct Leak {
  enum class Kind {
    value,   ///< a known secret
    marker,  ///< an added line with a mark of this run's redactor, "[REDACTED:NAME]": the model
             ///< wrote what it saw instead of the value. Other programs have such marks too
    shape,   ///< an added token that no one knows of; it could be test data
  };
  Kind kind = Kind::value;
  std::string name;        ///< of the secret or shape; "" of a marker
  std::string place;       ///< "src/main.c:12", in the new file if it has the line
  bool in_binary = false;  ///< in the content of a binary patch, which no text search finds

  /// "the value of API_KEY at src/main.c:12"
  std::string text() const;
};

/// Searches a diff file by file: header, old lines and new lines, each without the diff's own first
/// column, so that secrets over several lines are found. In the order found, each name once per line.
/// @param binary   gives the new content of a file with a binary patch; may be empty
/// @param read_on  called every now and then
std::vector<Leak> find_leaks(
    const Redactor& redactor, std::string_view diff,
    const std::function<std::optional<std::string>(const std::string& path)>& binary = {},
    const ReadOn& read_on = {});

/// Describes the leaks of one kind: "the value of API_KEY at a.c:1, and 3 more"; "" for none.
std::string describe_leaks(const std::vector<Leak>& leaks, Leak::Kind kind);

}  // namespace sortie
