#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/catalog/item.h"
#include "core/json/json.h"
#include "core/model/failure.h"
#include "core/model/model.h"
#include "core/net/sse.h"

namespace sortie {

/// More than any response has; sums over a run can't overflow.
inline constexpr std::int64_t kMaxTokens = 1'000'000'000'000;

/// A provider's count of tokens, clamped to 0 … kMaxTokens.
inline std::int64_t token_count(const Json& usage, std::string_view name,
                                std::int64_t fallback = 0) noexcept {
  return std::clamp<std::int64_t>(usage.integer_at(name, fallback), 0, kMaxTokens);
}

/// Writes the items of a conversation into a request's body, as it grows. The text for an item
/// depends only on it and the items before it.
class ItemWriter {
 public:
  virtual ~ItemWriter() = default;
  /// Appends the items added since the last call, with separators. The end of the last one may be
  /// left to the tail, or to the next call.
  /// @param items  those of the last call, and more
  virtual void write(const std::vector<Item>& items, std::string& to) = 0;
  /// The text that closes a body after the items written so far.
  virtual std::string_view tail() const = 0;
};

struct RecordedResponse;

/// Reads the events of one response stream. The terminal event completes the response.
class WireDecoder {
 public:
  /// Limit of one response: far more than models can write. A longer stream counts as cut.
  static constexpr std::size_t kMaxResponseBytes = 64u << 20;
  /// Messages, calls or blocks of one response, likewise.
  static constexpr std::size_t kMaxResponseItems = 4096;

  enum class State {
    going_on,  ///< no terminal event so far
    complete,  ///< take() has the response
    failed,    ///< failure() says why
  };
  /// Text that the model writes for people to read: its message, or its reasoning.
  enum class Text { message, reasoning };
  using TextSink = std::function<void(Text, std::string_view)>;

  virtual ~WireDecoder() = default;
  /// Sets the receiver of each piece of text; to be called before the first event.
  void on_text(TextSink sink) { text_sink_ = std::move(sink); }
  /// Events after the terminal one are ignored.
  virtual State read(const SseEvent& event) = 0;
  /// The stream has ended while the state was going_on. Complete if only optional events are
  /// missing (Chat Completions: usage and `[DONE]` after the finish_reason). To be called once,
  /// after the last event.
  virtual State finish() { return State::going_on; }
  /// Whether finish() would complete the response: what is missing is not worth a long wait.
  virtual bool may_end() const { return false; }
  /// Reads a response that came whole, as JSON, in place of a stream. To be called once, and alone.
  virtual State read_whole(std::string_view body) = 0;
  /// Reads a recorded response, if the decoder can do so without its stream: else the state stays
  /// going_on. To be called once, and alone.
  virtual State read_recorded(const RecordedResponse&) { return State::going_on; }
  /// The model's message received so far; of use while the state is going_on.
  virtual std::string message_so_far() const = 0;
  const ModelFailure& failure() const noexcept { return failure_; }
  /// The complete response; `first_event` and `duration` are the caller's to fill in.
  Response take() { return std::move(response_); }

 protected:
  void fail(ModelFailure failure);
  /// The stream is not a complete response: a retry may help.
  void fail_as_cut(const std::string& message);
  /// Whether text is wanted, for decoders that would have to search for it.
  bool wants_text() const noexcept { return text_sink_ != nullptr; }
  void emit_text(Text kind, std::string_view text) const {
    if (text_sink_ && !text.empty()) text_sink_(kind, text);
  }
  /// The same for the escaped content of a JSON string; ignores invalid escapes.
  void emit_escaped(Text kind, std::string_view escaped) const;

  State state_ = State::going_on;
  Response response_;

 private:
  ModelFailure failure_;
  TextSink text_sink_;
};

/// The parts of a recorded response that all wires need (docs/formats.md, `model.response`). Keeps
/// references into the record.
struct RecordedResponse {
  RecordedResponse(std::string response_id, std::string served_model, const Json& items,
                   const Json& raw_usage)
      : id(std::move(response_id)),
        model(std::move(served_model)),
        output(items),
        usage(raw_usage) {}
  RecordedResponse(std::string, std::string, Json&&, const Json&) = delete;
  RecordedResponse(std::string, std::string, const Json&, Json&&) = delete;
  explicit RecordedResponse(const Json& data);
  std::string id;
  std::string model;
  const Json& output;  ///< items in the wire's own JSON
  const Json& usage;
  std::string reason = "completed";  ///< Response::stop_reason
  std::string repeated{};            ///< Response::repeated
  bool incomplete = false;
  /// Whether the stream was ended since its text repeated itself.
  bool is_cut_repetition() const { return reason == kRepetition && !repeated.empty(); }
};

/// Appends a server-sent event. @param name  "": none
void add_sse_event(std::string_view name, const Json& data, std::string& to);

/// Headers that identify sortie and the run to OpenAI's servers, for both of its formats.
HttpHeaders openai_headers(const std::string& run_id);

/// A provider's wire format: settings and items to bytes, stream events to a response.
///
/// A body is head + items + tail. The head depends on the settings only, the text of an item on it
/// and the items before it. So head and items of a request are a byte prefix of the next one's.
class Wire {
 public:
  virtual ~Wire() = default;
  /// "responses", "chat", "messages": what a cassette calls it.
  virtual std::string_view name() const = 0;
  /// Below the base URL: "/responses". @param model  "": the common end of all its paths
  virtual std::string path(std::string_view model) const = 0;
  /// Headers of each request besides the key and the content type.
  virtual HttpHeaders headers(const std::string& run_id) const = 0;
  /// Whether the format has tools of that form. If not, they are declared as functions.
  virtual bool has_tool(ToolCall::Form form) const = 0;
  virtual std::string encode_head(const ModelSettings& settings) const = 0;
  /// For a body that begins with the head of these settings.
  virtual std::unique_ptr<ItemWriter> item_writer(const ModelSettings& settings) const = 0;
  /// @param settings  of the request; need not outlive the decoder
  virtual std::unique_ptr<WireDecoder> decoder(const ModelSettings& settings) const = 0;
  /// A stream of the recorded response, for a replay.
  virtual std::string stream_of(const RecordedResponse& response) const = 0;
  /// Events with a piece of a message, without an end.
  virtual std::string stream_of_text(const std::string& text) const = 0;
};

/// What an item of a response says to people. Each wire reads it from its own JSON.
struct Said {
  enum class Kind { message, reasoning, web_search };
  Kind kind = Kind::message;
  std::string text;  ///< of a search: the query, or the page opened
  Json action{};     ///< of a search: {"type":"search"|"open_page"|…, …}
};
/// In order; empty for an item that says nothing to people.
using SaidList = std::vector<Said>;

/// Reads an item in the neutral form of the record; nothing for other forms.
std::optional<SaidList> said_in_neutral(const Json& item);

/// The text of a message's content: a string, or the list of its parts.
std::string content_text(const Json& content);

/// Appends it, unless the text is empty.
void add_said(Said::Kind kind, std::string text, SaidList& list);

}  // namespace sortie
