#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/exit_code.h"
#include "core/json/json.h"
#include "core/net/http.h"

namespace sortie {

/// ModelError::kind() of a request that the provider refused for an image in it.
inline constexpr const char* kImageRefused = "invalid_image";

/// Whether an error's code says that an image of the request can't be used: those of OpenAI's
/// Responses (`invalid_image`, `image_parse_error`, …), which Chat Completions shares.
///
/// Source: ResponseError.code of OpenAI's API reference.
bool is_image_code(std::string_view code);

/// Whether the words of a refused request say so, where its code tells no more than that it was
/// refused: Messages has no other way, and servers of local models have words of their own. Only
/// words that speak of an image, and not of a tool or model with that word in its name.
bool says_image_is_unusable(std::string_view message);

/// The provider's words in the message of a ModelError: what stands behind "HTTP status 400: ",
/// where that is in it.
std::string_view provider_words(std::string_view message);

/// Why a try gave no complete response, and what the run ends in where there is no other try.
struct ModelFailure {
  int status = 0;            ///< HTTP status; 0: no reply arrived
  std::string kind = "cut";  ///< as in RetryRecord and ModelError
  std::string message{};     ///< the provider's words where it had some
  bool transient = true;     ///< another try may help
  ExitCode code = ExitCode::unavailable;
  std::optional<std::chrono::milliseconds> retry_after{};
  /// What an answer that had begun took, as text, before it was cut off; nothing: none had begun.
  std::optional<std::uint64_t> lost_bytes{};
  std::string plan{};  ///< of the account, where the provider names it with a limit: "plus"
};

/// A reply that is no stream: its status, headers and body.
ModelFailure failure_of_status(const HttpHead& head, std::string_view body,
                               std::chrono::system_clock::time_point now);

/// An error object of a stream (`response.failed`, `error`) by its code or type:
/// "server_error", "rate_limit_exceeded", "insufficient_quota", …
ModelFailure failure_of_code(std::string_view code, std::string_view message);

/// An error object of a stream, with all that it says: code or type, message, reset and plan.
ModelFailure failure_of_error(const Json& error, std::chrono::system_clock::time_point now);

/// An exchange that broke, with its HTTP status as far as one came.
ModelFailure failure_of_ending(const HttpResult& result, int status);

}  // namespace sortie
