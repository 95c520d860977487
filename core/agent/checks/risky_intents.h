#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// A thing that must not be done, as it is told in English.
struct RiskyIntent {
  std::string name;  ///< "tests_off"
  /// One of these stands in each text that `what` finds, letters small and blanks single: few
  /// messages have any, and an expression takes milliseconds to make.
  std::vector<std::string> signs{};
  std::string what;    ///< expression, from the verb on
  std::string unless;  ///< in the words found, "¦" and the sentence's rest: then it is harmless
  std::string reason;  ///< why not, as a sentence
};

/// Several may share a name. They stand in risky_intents.json.
const std::vector<RiskyIntent>& risky_intents();

/// The file, compiled in: `parts` are expressions that others hold as `{{name}}`; an expression is a
/// text or the list of its pieces.
extern const std::string_view kRiskyIntentsJson;

}  // namespace sortie
