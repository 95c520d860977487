#pragma once

#include <chrono>
#include <string>

#include "app/inputs/options.h"
#include "core/json/json.h"
#include "policies/rules/policy.h"

namespace sortie {

/// Which credential a run would use for each provider, where from, and where the policy lets it go:
/// an object a provider. Of a sign-in also its plan, ages and what is wrong with its file. Never a
/// value, nothing is refreshed, no network.
/// @param options  the flags that name a credential
Json credentials_json(const RunOptions& options, const Policy& policy,
                      std::chrono::system_clock::time_point now);

/// The same in lines for people.
std::string credentials_text(const Json& credentials);

}  // namespace sortie
