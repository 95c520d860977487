#pragma once

#include <chrono>
#include <string>

#include "app/inputs/options.h"
#include "core/json/json.h"
#include "policies/rules/policy.h"

namespace sortie {

/// The credential that a run would use for each provider, its source, and the hosts that the policy
/// allows for it: one object per provider. For a sign-in also its plan, age and problems of its file.
/// Never shows a value, refreshes nothing, uses no network.
/// @param options  the flags that name a credential
Json credentials_json(const RunOptions& options, const Policy& policy,
                      std::chrono::system_clock::time_point now);

/// The same in lines for people.
std::string credentials_text(const Json& credentials);

}  // namespace sortie
