#pragma once

#include <string>
#include <vector>

namespace sortie {

/// A thing that must not be done, as it is told in English.
struct DangerousDeed {
  const char* name;  ///< "tests_off"
  /// One of these stands in each text that `what` finds, letters small and blanks single: few
  /// messages have any, and an expression takes milliseconds to make.
  std::vector<std::string> signs;
  std::string what;    ///< expression, from the verb on
  std::string unless;  ///< in the words found, "¦" and the sentence's rest: then it is harmless
  const char* reason;  ///< why not, as a sentence
};

/// Several may share a name.
const std::vector<DangerousDeed>& dangerous_deeds();

}  // namespace sortie
