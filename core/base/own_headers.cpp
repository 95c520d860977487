#include "core/base/own_headers.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace sortie {
namespace {

// clang-format off
constexpr std::string_view kNames[] = {
    "host", "content-length", "content-type", "content-encoding", "connection", "keep-alive",
    "upgrade", "te", "trailer", "expect", "accept", "user-agent", "accept-encoding",
    "transfer-encoding", "originator", "session_id", "forwarded", "via", "x-real-ip", "api-key",
    "x-api-key", "apikey", "anthropic-version", "conversation_id", "x-session-id",
    "x-http-method", "x-original-url", "x-rewrite-url", "x-user", "x-user-id",
    "x-http-method-override"};
// clang-format on

/// Prefixes of vendors' and gateways' own headers: account, project, sign-in.
constexpr std::string_view kBegins[] = {"openai-",     "chatgpt-",  "x-goog-",    "x-amz-",
                                        "x-ms-",       "proxy-",    "sec-",       "x-auth",
                                        "x-forwarded", "cf-access", "x-litellm-", "helicone-"};

constexpr std::string_view kWords[] = {
    "authoriz", "authentic",  "cookie",       "token",       "secret",  "password",
    "passwd",   "api-key",    "apikey",       "api_key",     "account", "organization",
    "tenant",   "credential", "subscription", "impersonate", "-key"};

}  // namespace

bool is_own_header(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto begins = [&lower](std::string_view text) { return lower.starts_with(text); };
  const auto holds = [&lower](std::string_view text) {
    return lower.find(text) != std::string::npos;
  };
  return std::find(std::begin(kNames), std::end(kNames), lower) != std::end(kNames) ||
         std::any_of(std::begin(kBegins), std::end(kBegins), begins) ||
         std::any_of(std::begin(kWords), std::end(kWords), holds);
}

}  // namespace sortie
