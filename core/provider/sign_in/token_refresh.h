#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <variant>

#include "core/model/failure.h"
#include "core/net/http.h"
#include "core/provider/sign_in/auth_file.h"

namespace sortie {

inline constexpr const char* kDefaultRefreshAddress = "https://auth.openai.com/oauth/token";

/// Where refresh tokens go.
/// @param given  SORTIE_AUTH_URL, the operator's word; "" is the default
/// @throws InputError  for an address that can't be used; plain http is for loopback hosts only
Url refresh_address(const std::string& given);

/// Gets the next tokens for a refresh token, which is spent by that (RFC 6749 §6). What the answer
/// leaves out is "". One request; what came of it otherwise is a failure, worded for the operator:
/// transient where another try may help, else with ExitCode::auth.
/// @throws Stopped  when a stop was requested
std::variant<SignInTokens, ModelFailure> request_tokens(Http& http, const Url& address,
                                                        const std::string& refresh_token,
                                                        const HttpLimits& limits,
                                                        std::chrono::system_clock::time_point now,
                                                        std::stop_token stop);

}  // namespace sortie
