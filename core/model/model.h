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

/// What the final message has to be, for providers that can be told.
struct OutputSchema {
  std::string name = "answer";
  Json schema;          ///< JSON Schema
  bool strict = false;  ///< it keeps to what OpenAI's strict mode allows
};

/// What stays the same in all requests of an epoch.
struct ModelSettings {
  std::string model;            ///< "gpt-5-codex"
  std::string instructions;     ///< the system prompt
  std::vector<ToolSpec> tools;  ///< in the order in which the model is shown them
  std::string effort;           ///< "" is not sent
  std::int64_t max_output_tokens = 32768;
  std::int64_t paid_output_tokens = 0;  ///< what the budget pays for at most; 0: all of them
  std::optional<double> temperature;
  std::string run_id;  ///< prompt cache key and session header
  /// Whether the model takes tools of free text; else each is declared as a function with the one
  /// string argument "input", and its calls are read back as free text.
  bool free_text_tools = true;
  bool pin = false;  ///< the served model has to be the one that was asked for
  std::optional<OutputSchema> output_schema{};  ///< what the final message has to be
};

/// One request: the settings and the whole history. `items` only ever grows within an epoch, so
/// that what was encoded once is kept; compaction begins a new epoch.
struct Request {
  const ModelSettings& settings;
  const std::vector<Item>& items;
  int epoch = 0;
  /// The model was told of a passage that it repeated, and may have reason to: the stream is not
  /// ended for it.
  bool may_repeat = false;
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

/// A try that failed and is followed by another.
struct RetryRecord {
  int attempt = 1;   ///< the one that failed, from 1
  int status = 0;    ///< HTTP status; 0: no reply arrived
  std::string kind;  ///< "connect", "cut", "status", "idle", "server_error" …
  std::string message;
  std::chrono::milliseconds delay{0};
  std::optional<std::chrono::milliseconds> retry_after;
};

/// Another model of the run takes over.
struct FallbackRecord {
  std::string from;  ///< "openai gpt-5-codex"
  std::string to;
  std::string reason;  ///< why the one before has failed for good
  int source = 0;      ///< of the one that takes over; see Item::source
  int dropped = 0;     ///< items that can't be carried over, such as encrypted reasoning
};

/// Response::stop_reason of a stream that was ended for going round in circles.
inline constexpr std::string_view kRepetition = "repetition";

/// A complete response.
struct Response {
  std::string id;
  std::string requested_model{};  ///< "" where no provider was asked
  std::string served_model;
  std::vector<Item> items;
  std::optional<Usage> usage;
  Json raw_usage;           ///< as the provider gave it
  bool incomplete = false;  ///< ended at max_output_tokens
  bool paused = false;      ///< the provider goes on by itself once it is sent what came so far
  std::string stop_reason;  ///< "completed", "max_output_tokens", "pause_turn", "repetition"
  /// What came over and over at the end of a stream that was ended for it (`stop_reason`
  /// "repetition": `items` has its message up to there, the passage once, and there is no usage) or
  /// that reached its limit of tokens so.
  std::string repeated{};
  std::uint64_t cut_bytes = 0;  ///< of text and reasoning that such a stream brought
  std::chrono::milliseconds first_event{0};
  std::chrono::milliseconds duration{0};
  /// What could not be used, worded for the model; such an item is not in `items`, so that nobody
  /// runs it, and needs no output.
  std::vector<std::string> findings;
  std::vector<std::string> output;  ///< items in the wire's own JSON, where `items` say not all
  int source = 0;                   ///< which of the run's models answered; see Item::source
};

/// Hears of a request while it is under way.
class StreamSink {
 public:
  virtual ~StreamSink() = default;
  /// Before the first byte is sent; also before each retry of it (attempt > 1).
  virtual void on_request(const RequestRecord& request, int attempt) = 0;
  /// An answer had begun and was cut off: nothing of it is used, and it may have to be paid for.
  /// @param lost_bytes  what it took, as text
  virtual void on_cut_off(int attempt, std::uint64_t lost_bytes) = 0;
  /// @throws ModelError  where the budgets leave no room for another try
  virtual void on_retry(const RetryRecord& retry) = 0;
  virtual void on_fallback(const FallbackRecord& fallback) = 0;
};

/// The provider has failed for good.
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

/// A request was given up because a stop was requested.
class Stopped : public std::runtime_error {
 public:
  Stopped() : std::runtime_error("stopped") {}
};

class Model {
 public:
  virtual ~Model() = default;
  /// Sends one request and returns the complete response. Never waits longer than the time limits
  /// it was made with, nor past `deadline`.
  /// @throws ModelError  when the provider has failed for good
  /// @throws Stopped     when a stop was requested
  virtual Response ask(const Request& request, StreamSink& stream,
                       std::chrono::steady_clock::time_point deadline, std::stop_token stop) = 0;
};

}  // namespace sortie
