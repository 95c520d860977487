#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/json/json.h"

namespace sortie {

/// What a provider says of an error, of each wire and of servers that are like them:
/// {"error":{"message","type","code","plan_type","resets_at","resets_in_seconds"}}, the same
/// without "error" around it, {"error":"text"}, {"detail":"text"}, or a page of text.
struct ErrorBody {
  std::string message{};
  std::string code{};
  std::string type{};
  std::string plan{};                                    ///< of the account: "plus"
  std::optional<std::chrono::milliseconds> resets_in{};  ///< until a limit ends
  std::string resets_at{};                               ///< the same as a time, for people
};

/// @param now  for a reset that is given as a time
ErrorBody read_error_body(std::string_view body, std::chrono::system_clock::time_point now);
/// The error object itself.
ErrorBody read_error_object(const Json& error, std::chrono::system_clock::time_point now);

}  // namespace sortie
