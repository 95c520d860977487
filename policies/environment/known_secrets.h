#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/secrets/redact.h"
#include "policies/environment/environment.h"

namespace sortie {

/// What a run knows of secrets before it begins.
struct KnownSecrets {
  std::vector<Secret> values;
  /// Variables whose value is not looked for although their name asks for it: too short, or an
  /// ordinary word (is_looked_for).
  std::vector<std::string> left_out;
};

/// The secrets that sortie's own environment and the policy hold: values of credential variables,
/// of those that `environment.exclude` matches (included by name or not), of `environment.set`
/// under such a name; passwords in the addresses that any variable holds (HTTPS_PROXY,
/// DATABASE_URL); what `redact.patterns` match in any of these values. Of a value of several lines
/// each line that can be told from text, and of a JSON document the members that are named as
/// secrets, are secrets too: a part of the value is printed more often than the whole.
KnownSecrets known_secrets(const Policy& policy, const Environment& own);

/// Replaces a run's secrets: the values, and what `redact.patterns` match.
/// @throws InputError  for a pattern that can't be read
void learn(Redactor& redactor, const Policy& policy, const std::vector<Secret>& secrets);

/// The one judgement of what is a secret where a name or a place asks for it, keys included: for
/// what is redacted, for what may not leave in a diff, and for what the canary looks for. Blanks
/// around a value say nothing; one of less than Redactor::kShortestSecret bytes is none.
bool is_looked_for(std::string_view value, const Environment& own);

}  // namespace sortie
