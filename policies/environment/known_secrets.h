#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/secrets/redact.h"
#include "policies/environment/environment.h"

namespace sortie {

/// The secrets that a run knows before it begins.
struct KnownSecrets {
  std::vector<Secret> values;
  std::vector<Secret> of_variables;  ///< environment_secrets() of sortie's own environment
  /// Variables with a secret's name whose value is not redacted: too short, or an ordinary word
  /// (is_looked_for).
  std::vector<std::string> left_out;
};

/// The secrets that sortie's own environment and the policy hold: values of credential variables,
/// of those that `environment.exclude` matches (included by name or not), of `environment.set`
/// under such a name; passwords in the addresses that any variable holds (HTTPS_PROXY,
/// DATABASE_URL); matches of `redact.patterns` in any of these values. In a value of several lines
/// each line that looks like part of a key, and in a JSON document each member with a secret's
/// name, is a secret too: a part of the value is printed more often than the whole.
KnownSecrets known_secrets(const Policy& policy, const Environment& own);

/// The secrets of another program that the run starts: as known_secrets() those of its variables, and in
/// its words the value of a flag with a secret's name ("--token X", "--api-key=X"), the credential of a
/// header with such a name or a scheme ("Authorization: Bearer X"), passwords in addresses.
std::vector<Secret> program_secrets(const Policy& policy, const Environment& own,
                                    const std::vector<std::string>& argv,
                                    const Environment& variables);

/// Adds a run's secrets to the redactor: the values, and the policy's `redact.patterns`.
/// @throws InputError  for a pattern that can't be read
void learn(Redactor& redactor, const Policy& policy, const std::vector<Secret>& secrets);

/// Whether a value with a secret's name counts as a secret, keys included: the one rule for
/// redaction, for leaks in a diff, and for the canary. Blanks around a value are ignored; a value
/// of less than Redactor::kShortestSecret bytes is not a secret.
bool is_looked_for(std::string_view value, const Environment& own);

}  // namespace sortie
