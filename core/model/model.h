#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/catalog/item.h"
#include "core/json/json.h"

namespace sortie {

/// The schema of the final message, for providers that accept one.
struct OutputSchema {
  std::string name = "answer";
  Json schema;          ///< JSON Schema
  bool strict = false;  ///< it is valid for OpenAI's strict mode
};

/// Which tool a response has to call.
struct ToolChoice {
  std::string word = "auto";  ///< "auto", "none", "required", or a tool's name
  /// A call was made since: what had to be called is up to the model from then on.
  bool met = false;
  /// Whether a call has to be made, or had to.
  bool forces() const noexcept { return word != "auto" && word != "none"; }
  /// What the next request says, in the words of `word`.
  std::string now() const { return forces() && met ? "auto" : word; }
  bool operator==(const ToolChoice&) const = default;
};

/// The settings that all requests of an epoch share.
struct ModelSettings {
  std::string model;                       ///< "gpt-5-codex"
  std::string instructions;                ///< the system prompt
  std::vector<ToolSpec> tools;             ///< in the order in which the model is shown them
  std::string effort;                      ///< "" is not sent
  std::string reasoning_summary = "auto";  ///< "none" is not sent
  std::int64_t max_output_tokens = 32768;
  std::int64_t paid_output_tokens = 0;  ///< the maximum that the budget pays for; 0: no reduction
  std::optional<double> temperature;
  std::string run_id;  ///< prompt cache key and session header
  /// Whether the model accepts free-text tools. If not, each is declared as a function with one
  /// string argument, "input", and its calls are converted back to free text.
  bool free_text_tools = true;
  bool pin = false;  ///< the served model must be the one that was asked for
  std::optional<OutputSchema> output_schema{};
  ToolChoice tool_choice{};
};

/// One request: the settings and the whole history. `items` only grows within an epoch, so that
/// encoded items can be reused; compaction begins a new epoch.
struct Request {
  const ModelSettings& settings;
  const std::vector<Item>& items;
  int epoch = 0;
  /// A repeated passage does not end the stream: the model was nudged, and may repeat it on
  /// purpose.
  bool may_repeat = false;
  /// Tokens of the whole request; 0: not estimated.
  std::int64_t estimated_input = 0;
};

/// A request as it goes out, for the transcript.
struct RequestRecord {
  std::string provider;
  std::string wire;
  std::uint64_t bytes = 0;
  std::string body_sha256;
  std::uint64_t prefix_bytes = 0;  ///< shared with the request before
  std::size_t first_new_item = 0;  ///< index into Request::items
};

/// A failed attempt that is followed by a retry.
struct RetryRecord {
  int attempt = 1;   ///< the one that failed, from 1
  int status = 0;    ///< HTTP status; 0: no reply arrived
  std::string kind;  ///< "connect", "cut", "status", "idle", "server_error" …
  std::string message;
  std::chrono::milliseconds delay{0};
  std::optional<std::chrono::milliseconds> retry_after;
};

/// A wait for the limits of a provider that several runs share: on record when it begins, if it may be
/// long, and when it is over.
struct PacedWait {
  std::string limit;                                  ///< whose: "openai", "https://host:8443"
  std::string cause;                                  ///< "requests", "tokens", "paused", "queue"
  std::int64_t ahead = 0;                             ///< requests whose turn is before
  std::chrono::milliseconds expected{0};              ///< by estimate
  std::optional<std::chrono::milliseconds> waited{};  ///< nothing: it has only begun
};

/// Another model of the run takes over.
struct FallbackRecord {
  std::string from;  ///< "openai gpt-5-codex"
  std::string to;
  std::string reason;  ///< why the previous model failed permanently
  int source = 0;      ///< the model that takes over; see Item::source
  int dropped = 0;     ///< items that can't be sent to it, such as encrypted reasoning; and images
  int dropped_images = 0;  ///< the images among them
};

/// Response::stop_reason of a stream that was ended because its text repeated itself.
inline constexpr std::string_view kRepetition = "repetition";

/// A complete response.
struct Response {
  std::string id;
  std::string requested_model{};  ///< "" if no provider was asked
  std::string served_model;
  std::vector<Item> items;
  std::optional<Usage> usage;
  Json raw_usage;           ///< as the provider sent it
  bool incomplete = false;  ///< ended at max_output_tokens
  bool paused = false;      ///< the provider continues once it is sent this response
  std::string stop_reason;  ///< "completed", "max_output_tokens", "pause_turn", "repetition"
  /// The passage repeated at the end of a stream that was ended for it, or that reached its token
  /// limit that way. In the first case `stop_reason` is "repetition", `items` has the message with
  /// the passage once, and there is no usage.
  std::string repeated{};
  std::uint64_t cut_bytes = 0;  ///< bytes of text and reasoning in a stream that was ended so
  std::chrono::milliseconds first_event{0};
  std::chrono::milliseconds duration{0};
  /// Items that could not be used, worded for the model. They are not in `items`: their calls are
  /// not run, and need no output.
  std::vector<std::string> findings;
  std::vector<std::string> output;  ///< items in the wire's own JSON, if `items` lack something
  /// The message whose text had the calls that are in `items`; "": none had (leaked_calls.h).
  std::string leaked{};
  Json rate_limits{};  ///< what the provider says of its limits, by header; null: nothing
  int source = 0;      ///< which of the run's models answered; see Item::source
};

/// Gets events during a request.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  /// Called before the first byte of each attempt is sent.
  virtual void on_request(const RequestRecord& request, int attempt) = 0;
  /// A response was cut off after it had begun: it is not used, and may have to be paid for.
  /// @param lost_bytes  the text received
  virtual void on_cut_off(int attempt, std::uint64_t lost_bytes) = 0;
  /// @throws ModelError  if the budget does not allow another attempt
  virtual void on_retry(const RetryRecord& retry) = 0;
  virtual void on_wait(const PacedWait& wait) = 0;
  virtual void on_fallback(const FallbackRecord& fallback) = 0;
};

/// The provider has failed permanently.
class ModelError : public Error {
 public:
  ModelError(const std::string& what, ExitCode code, std::string kind,
             std::optional<std::chrono::milliseconds> retry_after = {})
      : Error(what, code), kind_(std::move(kind)), retry_after_(retry_after) {}
  /// "connect", "auth", "rate_limit", "quota", "invalid_request", "context_length",
  /// "content_filter", "cut", "cassette", …
  const std::string& kind() const noexcept { return kind_; }
  std::optional<std::chrono::milliseconds> retry_after() const noexcept { return retry_after_; }

 private:
  std::string kind_;
  std::optional<std::chrono::milliseconds> retry_after_;
};

/// A request was abandoned because a stop was requested.
class Stopped : public std::runtime_error {
 public:
  Stopped() : std::runtime_error("stopped") {}
};

class Model {
 public:
  virtual ~Model() = default;
  /// Sends one request and returns the complete response. Never waits longer than its own time
  /// limits, nor past `deadline`.
  /// @throws ModelError  if the provider has failed permanently
  /// @throws Stopped     if a stop was requested
  virtual Response ask(const Request& request, StreamSink& stream,
                       std::chrono::steady_clock::time_point deadline, std::stop_token stop) = 0;
};

}  // namespace sortie
