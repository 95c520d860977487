#pragma once

#include <string>

#include "policies/environment/environment.h"
#include "policies/rules/policy.h"

namespace sortie {

/// Which of {untrusted input, secrets in the tools' environment, open network} a run would have,
/// each with its reason; "" if it does not have it. Two are accepted; with all three, a stranger's
/// text could make the run send the secrets away.
struct TrustFactors {
  std::string input;
  std::string secrets;
  std::string network;
  bool all_three() const { return !input.empty() && !secrets.empty() && !network.empty(); }
};

/// The input and the network, which the policy alone decides. Web searches: count_web_search().
TrustFactors trust_factors(const Policy& policy);

/// Why a run has secrets; "" if it has none.
/// @param own  the environment that commands may inherit from
std::string secrets_reason(const Policy& policy, const Environment& own);

/// Counts web searches by the model's provider: the results are a stranger's text, and the queries
/// leave the machine past `network`.
void count_web_search(TrustFactors& factors);

/// The three reasons and what to do, a line each; "" unless all three hold.
std::string trust_problem(const TrustFactors& factors);

}  // namespace sortie
