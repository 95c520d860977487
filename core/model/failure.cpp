#include "core/model/failure.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <system_error>

#include "core/base/clock.h"
#include "core/net/retry.h"
#include "core/text/pattern.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kBeforeStatus = "HTTP status ";

constexpr std::array<std::string_view, 13> kCodes = {
    "invalid_image",       "invalid_image_format", "invalid_base64_image",
    "invalid_image_url",   "invalid_image_mode",   "unsupported_image_media_type",
    "image_too_large",     "image_too_small",      "image_file_too_large",
    "image_parse_error",   "empty_image_file",     "failed_to_download_image",
    "image_file_not_found"};

/// "image" as a word or a field's name: not `view_image`, not `gpt-image-1`.
const Pattern& image_word() {
  static const Pattern pattern = Pattern::expression(
      R"((?:^|[^\w/-])(?:input_)?images?(?:_(?:url|data|file))?(?:[^\w-]|$))", LetterCase::ignored);
  return pattern;
}

/// Words for a problem with it.
const Pattern& problem_word() {
  static const Pattern pattern = Pattern::expression(
      "invalid|not (?:a |represent a )?valid|unsupported|support|could not|cannot|can't|unable|"
      "fail|exceed|too (?:large|small|big|many)|corrupt|not match|malformed|decod|pars|empty|"
      "truncated|unreadable|appears to be|at most|expected",
      LetterCase::ignored);
  return pattern;
}

/// A part of the request without images: a message about it is not about an image.
const Pattern& other_part() {
  static const Pattern pattern = Pattern::expression(
      R"(\btools?(?:\[|\.\w)|\btool_choice\b|\bresponse_format\b|_schema\b)", LetterCase::ignored);
  return pattern;
}

/// An error as providers describe it, on any wire:
/// {"error":{"message","type","code","plan_type","resets_at","resets_in_seconds"}}, the same
/// without "error" around it, {"error":"text"}, {"detail":"text"}, or plain text.
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

using std::chrono::seconds;

constexpr std::int64_t kLongestReset = 366 * 86400;

/// Codes are strings, but some servers send the HTTP status as a number.
std::string string_or_empty(const Json& value) { return value.is_string() ? value.text() : ""; }

ErrorBody read_error_object(const Json& error, std::chrono::system_clock::time_point now) {
  ErrorBody result;
  result.message = error.string_at("message");
  if (result.message.empty()) result.message = string_or_empty(error["detail"]);
  result.code = string_or_empty(error["code"]);
  result.type = string_or_empty(error["type"]);
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

ModelFailure final_failure(std::string kind, ExitCode code) {
  ModelFailure failure;
  failure.kind = std::move(kind);
  failure.transient = false;
  failure.code = code;
  return failure;
}

ModelFailure transient_failure(std::string kind, ExitCode code = ExitCode::unavailable) {
  ModelFailure failure;
  failure.kind = std::move(kind);
  failure.code = code;
  return failure;
}

/// Whether an error code means that an image of the request can't be used. The codes are those of
/// OpenAI's Responses (`invalid_image`, `image_parse_error`, …), which Chat Completions shares.
///
/// Source: ResponseError.code of OpenAI's API reference.
bool is_image_code(std::string_view code) {
  return std::find(kCodes.begin(), kCodes.end(), code) != kCodes.end();
}

/// The meaning of an error code or type; nothing if it is unknown.
std::optional<ModelFailure> known_code(std::string_view code) {
  // Time alone ends the one, and not the other.
  if (is_one_of(code, {"usage_limit_reached", "usage_limit_exceeded"}))
    return final_failure("quota", ExitCode::limited);
  if (is_one_of(code, {"insufficient_quota", "billing_hard_limit_reached", "usage_not_included",
                       "billing_error", "billing_not_active", "exceeded_current_quota_error",
                       "quota_exceeded"}))
    return final_failure("billing", ExitCode::limited);
  if (is_one_of(code, {"rate_limit_exceeded", "rate_limit_error", "too_many_requests", "requests",
                       "tokens", "RateLimitReached", "RESOURCE_EXHAUSTED"}))
    return transient_failure(std::string(kRateLimited), ExitCode::limited);
  if (is_one_of(code, {"overloaded_error", "overloaded", "server_is_overloaded", "slow_down",
                       "engine_overloaded_error", "engine_overloaded"}))
    return transient_failure("overloaded");
  if (is_one_of(code, {"context_length_exceeded", "string_above_max_length", "request_too_large",
                       "exceed_context_size_error", "context_window_exceeded"}))
    return final_failure("context_length", ExitCode::refused);
  if (is_one_of(code,
                {"content_filter", "content_policy_violation", "cyber_policy_violation",
                 "bio_policy", "ResponsibleAIPolicyViolation", "image_content_policy_violation"}))
    return final_failure("content_filter", ExitCode::refused);
  if (is_image_code(code)) return final_failure(kImageRefused, ExitCode::refused);
  if (is_one_of(code, {"model_not_found", "not_found_error", "DeploymentNotFound"}))
    return final_failure("unknown_model", ExitCode::refused);
  if (is_one_of(code, {"invalid_prompt", "invalid_request_error", "unsupported_parameter",
                       "unsupported_value", "invalid_value", "unknown_parameter",
                       "missing_required_parameter", "previous_response_not_found"}))
    return final_failure("invalid_request", ExitCode::refused);
  if (is_one_of(code, {"invalid_api_key", "authentication_error", "account_deactivated",
                       "permission_denied", "permission_error", "organization_deactivated"}))
    return final_failure("auth", ExitCode::auth);
  return std::nullopt;
}

/// Whether the message of a refused request says the same, for providers without such codes:
/// Messages, and servers of local models. The message must be about an image, not about a tool or
/// model with that word in its name.
bool says_image_is_unusable(std::string_view message) {
  return image_word().find(message) && problem_word().find(message) && !other_part().find(message);
}

/// The meaning of an error message, for a code that only says that the request was refused. Each
/// provider, and each server of local models, has its own messages.
std::optional<ModelFailure> known_message(std::string_view message) {
  const std::string text = ascii_lower(message);
  const auto has = [&text](std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(), [&text](std::string_view part) {
      return text.find(part) != std::string::npos;
    });
  };
  if (has({"prompt is too long", "maximum context length", "exceed context limit",
           "exceeds the context window", "available context size", "context length exceeded",
           "context_length_exceeded", "exceeds the maximum number of tokens",
           "input token count exceeds", "longer than the model's context", "input is too long"}))
    return final_failure("context_length", ExitCode::refused);
  if (has({"credit balance is too low", "insufficient balance", "exceeded your current quota"}))
    return final_failure("billing", ExitCode::limited);
  if (says_image_is_unusable(message)) return final_failure(kImageRefused, ExitCode::refused);
  return std::nullopt;
}

ModelFailure by_status(int status) {
  switch (status) {
    case 401:
    case 403:
      return final_failure("auth", ExitCode::auth);
    case 402:
      return final_failure("billing", ExitCode::limited);
    case 404:
      return final_failure("unknown_model", ExitCode::refused);
    case 408:
    case 409:
      return transient_failure("status");
    case 413:
      return final_failure("context_length", ExitCode::refused);
    case 429:
      return transient_failure(std::string(kRateLimited), ExitCode::limited);
    case 529:
      return transient_failure("overloaded");
    default:
      break;
  }
  if (status >= 500) return transient_failure("server_error");
  if (status >= 300 && status < 400) return final_failure("redirect", ExitCode::refused);
  return final_failure("invalid_request", ExitCode::refused);
}

/// Whether an error code may be more precise than the status it came with.
bool may_refine(int status, const ModelFailure& known) {
  if (status == 401 || status == 403 || status == 408 || status == 409 || status < 400)
    return false;
  // A 5xx is the server's failure, whatever it blames.
  if (status >= 500) return known.kind == "overloaded";
  // 429 is a rate limit or an exhausted quota; no other 4xx is worth a retry.
  if (status == 429) return known.code == ExitCode::limited || known.kind == "overloaded";
  return !known.transient;
}

void add_limit(const ErrorBody& error, ModelFailure& failure) {
  if (!failure.retry_after) failure.retry_after = error.resets_in;
  if (!failure.retry_after) failure.retry_after = find_retry_after(error.message);
  failure.plan = error.plan;
  if (!error.resets_at.empty()) failure.message += " (resets at " + error.resets_at + ")";
}

/// "HTTP status 400: …" taken apart.
struct StatusText {
  std::optional<int> status;
  std::string_view rest;  ///< behind the number
};

StatusText behind_status(std::string_view message) {
  const std::size_t before = message.find(kBeforeStatus);
  if (before == std::string_view::npos) return {};
  const std::string_view text = message.substr(before + kBeforeStatus.size());
  int status = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), status);
  if (read.ec != std::errc()) return {};
  return {status, text.substr(static_cast<std::size_t>(read.ptr - text.data()))};
}

}  // namespace

std::string_view provider_words(std::string_view message) {
  const std::string_view rest = behind_status(message).rest;
  return rest.starts_with(": ") ? rest.substr(2) : message;
}

bool says_certificate_refused(std::string_view message) {
  return message.find(kCertificateRefused) != std::string_view::npos;
}

std::optional<int> status_in(std::string_view message) { return behind_status(message).status; }

ModelFailure failure_of_status(const HttpHead& head, std::string_view body,
                               std::chrono::system_clock::time_point now) {
  const ErrorBody error = read_error_body(body, now);
  ModelFailure failure = by_status(head.status);
  for (const auto& code : {error.code, error.type}) {
    const auto known = known_code(code);
    if (!known || !may_refine(head.status, *known)) continue;
    failure = *known;
    break;
  }
  if (failure.kind == "invalid_request" || failure.kind == kRateLimited)
    if (const auto known = known_message(error.message);
        known && head.status >= 400 && (head.status != 429 || known->kind == "billing"))
      failure = *known;
  failure.status = head.status;
  failure.message = std::string(kBeforeStatus) + std::to_string(head.status) +
                    (error.message.empty() ? "" : ": " + one_line_of_words(error.message, 1000));
  failure.retry_after = parse_retry_after_ms(header_value(head.headers, "retry-after-ms"));
  if (!failure.retry_after)
    failure.retry_after = parse_retry_after(header_value(head.headers, "Retry-After"), now);
  add_limit(error, failure);
  if (!failure.retry_after && failure.kind == kRateLimited)
    failure.retry_after = rate_limit_reset(head.headers, now);
  return failure;
}

ModelFailure failure_of_code(std::string_view code, std::string_view message) {
  // An unknown code counts as a server error: retries are limited.
  ModelFailure failure = known_code(code).value_or(transient_failure("server_error"));
  if (failure.kind == "invalid_request")
    if (const auto known = known_message(message)) failure = *known;
  // Only a real 429 ends as "limited" after its retries.
  if (failure.transient) failure.code = ExitCode::unavailable;
  failure.status = 200;
  failure.message = one_line_of_words(message, 1000);
  if (failure.message.empty()) failure.message = "the provider gave no reason";
  if (!code.empty()) failure.message = one_line_of_words(code, 80) + ": " + failure.message;
  failure.retry_after = find_retry_after(message);
  return failure;
}

ModelFailure failure_of_error(const Json& error, std::chrono::system_clock::time_point now) {
  const ErrorBody body = read_error_object(error, now);
  // "error" is the type of the event, not of the error.
  const std::string& code = body.code.empty() && body.type != "error" ? body.type : body.code;
  ModelFailure failure = failure_of_code(code, body.message);
  add_limit(body, failure);
  return failure;
}

ModelFailure failure_of_ending(const HttpResult& result, int status) {
  using Ending = HttpResult::Ending;
  ModelFailure failure = transient_failure("cut");
  switch (result.ending) {
    case Ending::no_connection:
    case Ending::connect_timeout:
      failure = transient_failure("connect");
      break;
    case Ending::first_byte_timeout:
      failure = transient_failure("first_event");
      break;
    case Ending::idle_timeout:
      failure = transient_failure("idle");
      break;
    case Ending::total_timeout:
      failure = transient_failure("total");
      break;
    case Ending::redirect_refused:
      failure = final_failure("redirect", ExitCode::refused);
      break;
    case Ending::proxy_credentials:
      failure = final_failure("proxy_auth", ExitCode::auth);
      break;
    default:
      break;
  }
  failure.status = status;
  failure.message = result.detail.empty() ? "the stream was cut" : result.detail;
  return failure;
}

}  // namespace sortie
