#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/exit_code.h"
#include "core/json/json.h"
#include "core/net/http.h"

namespace sortie {

/// ModelError::kind() if the provider refused an image of the request.
inline constexpr const char* kImageRefused = "invalid_image";

/// ModelError::kind() if the run's time was over while the provider was waited for.
inline constexpr std::string_view kWaitedForModel = "waited_for_model";

/// ModelError::kind() and ModelFailure::kind if the provider's limits of a time were reached.
inline constexpr std::string_view kRateLimited = "rate_limit";

/// The provider's own text in the message of a ModelError: the part after "HTTP status 400: ", or
/// all of it.
std::string_view provider_words(std::string_view message);

/// The HTTP status in the message of a ModelError: that of "HTTP status 400: …".
std::optional<int> status_in(std::string_view message);

/// Whether the message of a ModelError says that the server's certificate was refused.
bool says_certificate_refused(std::string_view message);

/// Why an attempt gave no complete response, and how the run ends if there is no retry.
struct ModelFailure {
  int status = 0;            ///< HTTP status; 0: no reply arrived
  std::string kind = "cut";  ///< as in RetryRecord and ModelError
  std::string message{};     ///< the provider's message, if it sent one
  bool transient = true;     ///< a retry may help
  ExitCode code = ExitCode::unavailable;
  std::optional<std::chrono::milliseconds> retry_after{};
  /// Bytes of text received before a response was cut off; nothing: none had begun.
  std::optional<std::uint64_t> lost_bytes{};
  std::string plan{};  ///< the account's plan, if the provider names it with a limit: "plus"
};

/// The failure of a reply that is not a stream.
ModelFailure failure_of_status(const HttpHead& head, std::string_view body,
                               std::chrono::system_clock::time_point now);

/// An error object of a stream (`response.failed`, `error`) by its code or type:
/// "server_error", "rate_limit_exceeded", "insufficient_quota", …
ModelFailure failure_of_code(std::string_view code, std::string_view message);

/// An error object of a stream, with code or type, message, reset and plan.
ModelFailure failure_of_error(const Json& error, std::chrono::system_clock::time_point now);

/// An exchange that broke off. @param status  0: no reply arrived
ModelFailure failure_of_ending(const HttpResult& result, int status);

}  // namespace sortie
