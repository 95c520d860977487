#include "core/model/failure.h"

#include <algorithm>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/net/retry.h"

namespace sortie {

namespace {

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

/// What an error code means, wherever it stands; nothing for codes that are not known.
std::optional<ModelFailure> known_code(std::string_view code) {
  const auto is = [code](std::initializer_list<std::string_view> names) {
    return std::find(names.begin(), names.end(), code) != names.end();
  };
  if (is({"insufficient_quota", "billing_hard_limit_reached", "usage_limit_reached",
          "usage_not_included", "billing_error"}))
    return final_failure("quota", ExitCode::limited);
  if (is({"rate_limit_exceeded", "rate_limit_error", "too_many_requests", "requests", "tokens"}))
    return transient_failure("rate_limit", ExitCode::limited);
  if (code == "overloaded_error") return transient_failure("overloaded");
  if (is({"context_length_exceeded", "string_above_max_length", "request_too_large"}))
    return final_failure("context_length", ExitCode::refused);
  if (is({"content_filter", "content_policy_violation", "cyber_policy_violation", "bio_policy"}))
    return final_failure("content_filter", ExitCode::refused);
  if (is({"model_not_found", "not_found_error", "DeploymentNotFound"}))
    return final_failure("unknown_model", ExitCode::refused);
  if (is({"invalid_prompt", "invalid_request_error", "unsupported_parameter", "unsupported_value",
          "invalid_value", "unknown_parameter", "missing_required_parameter", "invalid_image",
          "invalid_image_url", "image_too_large", "image_parse_error",
          "previous_response_not_found"}))
    return final_failure("invalid_request", ExitCode::refused);
  if (is({"invalid_api_key", "authentication_error", "account_deactivated", "permission_denied",
          "permission_error", "organization_deactivated"}))
    return final_failure("auth", ExitCode::auth);
  return std::nullopt;
}

/// The same, where a provider has one code for much and says what it means in words alone.
std::optional<ModelFailure> known_error(std::string_view code, std::string_view message) {
  const auto says = [message](std::string_view words) {
    return message.find(words) != std::string_view::npos;
  };
  if (code == "invalid_request_error") {
    if (says("prompt is too long") || says("exceed context limit"))
      return final_failure("context_length", ExitCode::refused);
    if (says("credit balance is too low")) return final_failure("quota", ExitCode::limited);
  }
  return known_code(code);
}

ModelFailure by_status(int status) {
  switch (status) {
    case 401:
    case 403:
      return final_failure("auth", ExitCode::auth);
    case 429:
      return transient_failure("rate_limit", ExitCode::limited);
    case 404:
      return final_failure("unknown_model", ExitCode::refused);
    case 408:
    case 409:
      return transient_failure("status");
    default:
      break;
  }
  if (status >= 500) return transient_failure("server_error");
  if (status >= 300 && status < 400) return final_failure("redirect", ExitCode::refused);
  return final_failure("invalid_request", ExitCode::refused);
}

/// {"error":{"message","type","code"}}, or a page of text.
struct ErrorBody {
  std::string message;
  std::string code;
  std::string type;
  std::optional<std::chrono::milliseconds> resets_in;
};

ErrorBody read_error(std::string_view body) {
  ErrorBody result;
  try {
    const Json whole = parse_json(body);
    const Json& error = whole["error"];
    if (error.is_string()) result.message = error.text();
    const Json& object = error.is_object() ? error : whole;
    if (result.message.empty()) result.message = object.string_at("message");
    if (result.message.empty()) result.message = object.string_at("detail");
    result.code = object.string_at("code");
    result.type = object.string_at("type");
    const auto seconds = object["resets_in_seconds"].integer();
    if (seconds && *seconds >= 0 && *seconds < 366 * 86400)
      result.resets_in = std::chrono::seconds(*seconds);
  } catch (const JsonError&) {
  }
  if (result.message.empty()) result.message = one_line(utf8_prefix(repair_utf8(body), 400), 400);
  return result;
}

}  // namespace

ModelFailure failure_of_status(const HttpHead& head, std::string_view body,
                               std::chrono::system_clock::time_point now) {
  const ErrorBody error = read_error(body);
  ModelFailure failure = by_status(head.status);
  // A code says more than its status: 429 is a rate that passes or a quota that is spent. Only
  // where the status is no server's failure of its own.
  if (head.status < 500 && head.status != 401 && head.status != 403 && head.status >= 400)
    for (const auto& code : {error.code, error.type}) {
      const auto known = known_error(code, error.message);
      if (!known) continue;
      if (known->transient && head.status != 429) continue;
      if (head.status == 429 && known->code != ExitCode::limited) continue;
      if (head.status == 408 || head.status == 409) continue;
      failure = *known;
      break;
    }
  failure.status = head.status;
  failure.message = "HTTP status " + std::to_string(head.status) +
                    (error.message.empty() ? "" : ": " + one_line(error.message, 1000));
  failure.retry_after = parse_retry_after_ms(header_value(head.headers, "retry-after-ms"));
  if (!failure.retry_after)
    failure.retry_after = parse_retry_after(header_value(head.headers, "Retry-After"), now);
  if (!failure.retry_after) failure.retry_after = error.resets_in;
  if (!failure.retry_after) failure.retry_after = find_retry_after(error.message);
  return failure;
}

ModelFailure failure_of_code(std::string_view code, std::string_view message) {
  // A code that nobody knows is taken for the server's own trouble: retries are counted.
  ModelFailure failure = known_error(code, message).value_or(transient_failure("server_error"));
  // Only a plain 429 ends in "limited" once its retries are used up.
  if (failure.transient) failure.code = ExitCode::unavailable;
  failure.status = 200;
  failure.message = one_line(message, 1000);
  if (failure.message.empty()) failure.message = "the provider gave no reason";
  if (!code.empty()) failure.message = one_line(code, 80) + ": " + failure.message;
  failure.retry_after = find_retry_after(message);
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
    default:
      break;
  }
  failure.status = status;
  failure.message = result.detail.empty() ? "the stream was cut" : result.detail;
  return failure;
}

}  // namespace sortie
