#pragma once

#include <string>

#include "policies/environment/environment.h"
#include "policies/rules/policy.h"

namespace sortie {

/// What of {untrusted input, secrets in the tools' environment, open network} a run would have,
/// each with its reason in words; "" where it has it not. Two are borne; with all three a
/// stranger's text could have the secrets sent away.
struct TrustFactors {
  std::string input;
  std::string secrets;
  std::string network;
  bool all_three() const { return !input.empty() && !secrets.empty() && !network.empty(); }
};

/// @param own  the environment that commands may inherit from
TrustFactors trust_factors(const Policy& policy, const Environment& own);

/// Counts a search of the web that the model's provider runs: what it finds is a stranger's text,
/// and what is looked for leaves the machine past `network`.
void count_web_search(TrustFactors& factors);

/// The three reasons and the ways out, a line each; "" unless there are all three.
std::string trust_problem(const TrustFactors& factors);

}  // namespace sortie
