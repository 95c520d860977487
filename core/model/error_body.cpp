#include "core/model/error_body.h"

#include "core/base/clock.h"
#include "core/text/text.h"

namespace sortie {

namespace {

using std::chrono::seconds;

constexpr std::int64_t kLongestReset = 366 * 86400;

/// A code is text mostly; some servers send the HTTP status as a number.
std::string word(const Json& value) { return value.is_string() ? value.text() : ""; }

}  // namespace

ErrorBody read_error_object(const Json& error, std::chrono::system_clock::time_point now) {
  ErrorBody result;
  result.message = error.string_at("message");
  if (result.message.empty()) result.message = word(error["detail"]);
  result.code = word(error["code"]);
  result.type = word(error["type"]);
  result.plan = one_line_of_words(error.string_at("plan_type"), 40);
  std::optional<std::int64_t> wait = error["resets_in_seconds"].integer();
  const auto at = error["resets_at"].integer();  // Unix time
  if (!wait && at && *at > 0)
    wait = std::max<std::int64_t>(
        0, *at - std::chrono::duration_cast<seconds>(now.time_since_epoch()).count());
  if (wait && *wait >= 0 && *wait < kLongestReset) {
    result.resets_in = seconds(*wait);
    result.resets_at = utc_timestamp(now + seconds(*wait)).substr(0, 19) + "Z";
  }
  return result;
}

ErrorBody read_error_body(std::string_view body, std::chrono::system_clock::time_point now) {
  ErrorBody result;
  try {
    Json whole = parse_json(body);
    // Google's servers send a list of one.
    if (whole.is_array() && !whole.items().empty()) whole = Json(whole.items().front());
    const Json& error = whole["error"];
    result = read_error_object(error.is_object() ? error : whole, now);
    if (error.is_string()) result.message = error.text();
  } catch (const JsonError&) {
  }
  if (result.message.empty()) result.message = one_line_of_words(body, 400);
  return result;
}

}  // namespace sortie
