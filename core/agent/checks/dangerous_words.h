#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// An announcement of something that must not be done.
struct DangerousWords {
  std::string name;    ///< of the table's row: "tests_off"
  std::string words;   ///< as they stand in the message
  std::string reason;  ///< why not, as a sentence for the model and for people
};

/// Finds what the agent announces in a message, or says it has done, that must not be done: tests
/// switched off, a forced push, TLS verification turned off …
///
/// A sentence counts only where its writer is the one who acts ("I'll …", "Let me …", "Disabling
/// …"), and not where it is denied, asked or quoted: code that does such a thing can be talked
/// about. English only; nothing here keeps anyone from anything, which is the policy's work.
///
/// The table with the reasons stands in risky_intents.json, the sentences that it has to know and
/// those that it has to let pass in tests/data/checks.
std::vector<DangerousWords> find_dangerous_words(std::string_view message);

}  // namespace sortie
