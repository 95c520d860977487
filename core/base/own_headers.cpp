#include "core/base/own_headers.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace sortie {
namespace {

// clang-format off
constexpr std::string_view kWritten[] = {
    "host", "content-length", "content-type", "content-encoding", "connection", "keep-alive",
    "upgrade", "te", "trailer", "expect", "accept", "user-agent", "accept-encoding",
    "transfer-encoding", "originator", "session_id", "forwarded", "via", "anthropic-version",
    "conversation_id"};

constexpr std::string_view kNames[] = {
    "x-real-ip", "api-key", "x-api-key", "apikey", "x-session-id", "x-http-method",
    "x-original-url", "x-rewrite-url", "x-user", "x-user-id", "x-http-method-override"};
// clang-format on

/// Prefixes of vendors' and gateways' own headers: account, project, sign-in.
constexpr std::string_view kBegins[] = {"openai-",     "chatgpt-",  "x-goog-",    "x-amz-",
                                        "x-ms-",       "proxy-",    "sec-",       "x-auth",
                                        "x-forwarded", "cf-access", "x-litellm-", "helicone-"};

constexpr std::string_view kWords[] = {
    "authoriz", "authentic",  "cookie",       "token",       "secret",  "password",
    "passwd",   "api-key",    "apikey",       "api_key",     "account", "organization",
    "tenant",   "credential", "subscription", "impersonate", "-key"};

std::string lower_case(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

}  // namespace

bool is_written_header(std::string_view name) {
  const std::string lower = lower_case(name);
  return lower.starts_with("proxy-") ||
         std::find(std::begin(kWritten), std::end(kWritten), lower) != std::end(kWritten);
}

bool is_own_header(std::string_view name) {
  const std::string lower = lower_case(name);
  const auto begins = [&lower](std::string_view text) { return lower.starts_with(text); };
  const auto holds = [&lower](std::string_view text) {
    return lower.find(text) != std::string::npos;
  };
  return is_written_header(name) ||
         std::find(std::begin(kNames), std::end(kNames), lower) != std::end(kNames) ||
         std::any_of(std::begin(kBegins), std::end(kBegins), begins) ||
         std::any_of(std::begin(kWords), std::end(kWords), holds);
}

}  // namespace sortie
