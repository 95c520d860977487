#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// A sentence of a message that announces something forbidden.
struct AnnouncedRisk {
  std::string name;    ///< the row of the table: "tests_off"
  std::string words;   ///< as written in the message
  std::string reason;  ///< why not: a sentence for the model and for people
};

/// Finds what the agent announces, or says it has done, that must not be done: tests switched off,
/// a forced push, TLS verification turned off …
///
/// A sentence counts only if its writer is the one who acts ("I'll …", "Let me …", "Disabling …"),
/// and not if it negates, asks or quotes: the agent may talk about code that does such a thing.
/// English only. This prevents nothing; the policy does.
///
/// The table with the reasons is risky_intents.json; tests/data/checks has sentences that must
/// match and sentences that must not.
std::vector<AnnouncedRisk> find_risky_intents(std::string_view message);

/// risky_intents.json, compiled in. `parts` are expressions that others include as `{{name}}`; an
/// expression is a string or a list of its pieces.
extern const std::string_view kRiskyIntentsJson;

}  // namespace sortie
