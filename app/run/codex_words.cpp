#include "app/run/codex_words.h"

#include <optional>

#include "core/model/failure.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// "429 Too Many Requests". Source: RFC 9110 §15, RFC 6585 §4, as the http crate of Rust spells them.
std::string status_text(int status) {
  constexpr struct {
    int status;
    const char* text;
  } kTexts[] = {
      {401, "Unauthorized"},      {402, "Payment Required"},      {403, "Forbidden"},
      {404, "Not Found"},         {405, "Method Not Allowed"},    {408, "Request Timeout"},
      {409, "Conflict"},          {413, "Payload Too Large"},     {422, "Unprocessable Entity"},
      {429, "Too Many Requests"}, {500, "Internal Server Error"}, {501, "Not Implemented"},
      {502, "Bad Gateway"},       {503, "Service Unavailable"},   {504, "Gateway Timeout"},
  };
  for (const auto& row : kTexts)
    if (row.status == status) return std::to_string(status) + " " + row.text;
  return std::to_string(status) + " <unknown status code>";
}

/// What codex says of a failure that has a name of its own, whatever its status; "" for others.
std::string_view words_of_kind(std::string_view kind) {
  if (kind == "quota") return "You've hit your usage limit.";
  if (kind == "billing") return "Quota exceeded. Check your plan and billing details.";
  if (kind == "overloaded") return "Selected model is at capacity. Please try a different model.";
  if (kind == "context_length")
    return "Codex ran out of room in the model's context window. Start a new thread or clear "
           "earlier history before retrying.";
  return "";
}

/// What codex says of a status; "" where it has nothing but the provider's own words.
std::string words_of_status(int status) {
  if (status == 429) return "exceeded retry limit, last status: " + status_text(status) + ";";
  if (status == 500)
    return "We're currently experiencing high demand, which may cause temporary errors.";
  if (status == 400) return "";
  return "unexpected status " + status_text(status) + ":";
}

/// Whether a status says more than the kind of the failure.
bool is_told_by_status(std::string_view kind) {
  return is_one_of(kind, {"auth", "unknown_model", "redirect", "status", "rate_limit",
                          "server_error", "invalid_request"});
}

/// Whether the exchange broke off, or its stream had an error.
bool is_of_stream(std::string_view kind) {
  return is_one_of(
      kind, {"cut", "connect", "first_event", "idle", "total", "server_error", "rate_limit"});
}

}  // namespace

// Source: Display of CodexErr in codex-rs/protocol/src/error.rs, and the failures that map_api_error()
// makes of HTTP statuses in codex-rs/codex-api/src/api_bridge.rs.
std::string with_codex_words(std::string_view kind, std::string_view reason) {
  std::string words(words_of_kind(kind));
  const auto status = is_told_by_status(kind) ? status_in(reason) : std::nullopt;
  if (words.empty() && status)
    words = words_of_status(*status);
  else if (words.empty() && is_of_stream(kind))
    words = "stream disconnected before completion:";
  return words.empty() ? std::string(reason) : words + " " + std::string(reason);
}

}  // namespace sortie
