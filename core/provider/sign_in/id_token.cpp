#include "core/provider/sign_in/id_token.h"

#include <algorithm>
#include <cctype>

#include "core/json/json.h"
#include "core/secrets/codings.h"

namespace sortie {
namespace {

constexpr std::size_t kLongestClaim = 100;
/// Somewhere in the year 2255: beyond 2262 the clock counts no more.
constexpr std::int64_t kLatest = 9'000'000'000;

/// One that can stand in a header and in a line for people.
std::string plain_claim(const Json& claims, std::string_view name) {
  std::string value = claims.string_at(name);
  const bool plain =
      value.size() <= kLongestClaim && std::all_of(value.begin(), value.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '-' || c == '_' || c == '.';
      });
  return plain ? value : std::string();
}

}  // namespace

TokenClaims read_claims(std::string_view token) {
  // header.payload.signature, each in base64url without padding (RFC 7515 §3.1).
  const std::size_t first = token.find('.');
  if (first == std::string_view::npos) return {};
  const std::size_t second = token.find('.', first + 1);
  if (second == std::string_view::npos) return {};
  TokenClaims claims;
  try {
    const Json payload = parse_json(base64_decoded(token.substr(first + 1, second - first - 1)));
    const Json& account = payload["https://api.openai.com/auth"];
    claims.plan = plain_claim(account, "chatgpt_plan_type");
    claims.account_id = plain_claim(account, "chatgpt_account_id");
    const auto seconds = payload["exp"].integer();
    if (seconds && *seconds >= 0 && *seconds <= kLatest)
      claims.expires = std::chrono::system_clock::time_point(std::chrono::seconds(*seconds));
  } catch (const JsonError&) {
    return {};
  }
  return claims;
}

}  // namespace sortie
