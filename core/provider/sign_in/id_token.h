#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace sortie {

/// What a JSON web token says of an account with ChatGPT. Its signature is not verified: these are
/// words to be shown, and nothing is decided by them.
struct TokenClaims {
  std::string plan;        ///< chatgpt_plan_type of "https://api.openai.com/auth"
  std::string account_id;  ///< chatgpt_account_id of the same
  std::optional<std::chrono::system_clock::time_point> expires;  ///< exp (RFC 7519 §4.1.4)
};

/// Nothing in it where the text is no such token.
TokenClaims read_claims(std::string_view token);

}  // namespace sortie
