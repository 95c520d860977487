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

/// More than any response has, and little enough for the sums of a run.
inline constexpr std::int64_t kMostTokens = 1'000'000'000'000;

/// A count of tokens as a provider tells it: never negative, and never so large that a sum of such
/// counts could overflow.
inline std::int64_t token_count(const Json& usage, std::string_view name,
                                std::int64_t fallback = 0) noexcept {
  return std::clamp<std::int64_t>(usage.integer_at(name, fallback), 0, kMostTokens);
}

/// Writes the items of one conversation into a request's body, as it grows. What it writes for an
/// item depends on it and the items before it, never on when it is asked; what it has to know of
/// those before, it keeps.
class ItemWriter {
 public:
  virtual ~ItemWriter() = default;
  /// Appends the items that were not there the last time, with what has to stand between them and
  /// the ones before. What closes the last of them may be left to the tail, or to the next call.
  /// @param items  those of the call before, and more
  virtual void write(const std::vector<Item>& items, std::string& to) = 0;
  /// What closes a body that ends with the items written so far.
  virtual std::string_view tail() const = 0;
};

/// Reads the events of one response stream. Only the terminal event makes a response.
class WireDecoder {
 public:
  /// Of one response, all its parts together: what a model can write in its limit of tokens is far
  /// below. A stream that brings more counts as cut.
  static constexpr std::size_t kMaxResponseBytes = 64u << 20;
  /// Messages, calls, blocks of one response. The same holds.
  static constexpr std::size_t kMaxResponseItems = 4096;

  enum class State {
    going_on,  ///< the terminal event has not come
    complete,  ///< take() has the response
    failed,    ///< failure() says why
  };
  /// Text that the model writes for people to read: its message, or its reasoning.
  enum class Text { message, reasoning };
  using TextSink = std::function<void(Text, std::string_view)>;

  virtual ~WireDecoder() = default;
  /// Who hears of each piece of text while the stream is under way; before the first event.
  void hear(TextSink sink) { text_sink_ = std::move(sink); }
  /// Events after the terminal one are ignored.
  virtual State read(const SseEvent& event) = 0;
  /// The stream has ended, or broke off, while the state was going_on: complete where all that
  /// counts has come and only what may follow it has not (Chat Completions: usage and `[DONE]`
  /// after the finish_reason). To be called once, after the last event.
  virtual State finish() { return State::going_on; }
  /// The model's message as far as it was heard; of use while the state is going_on.
  virtual std::string message_so_far() const = 0;
  const ModelFailure& failure() const noexcept { return failure_; }
  /// The complete response; `first_event` and `duration` are the caller's to fill in.
  Response take() { return std::move(response_); }

 protected:
  void fail(ModelFailure failure);
  /// What came is no response, or not the whole of one: another try may bring it.
  void fail_as_cut(const std::string& message);
  /// Whether anybody wants to hear of text: where finding it costs something.
  bool is_heard() const noexcept { return text_sink_ != nullptr; }
  void tell(Text kind, std::string_view text) const {
    if (text_sink_ && !text.empty()) text_sink_(kind, text);
  }
  /// The same for text as it stands in a JSON string; what is none is passed over.
  void tell_escaped(Text kind, std::string_view escaped) const;

  State state_ = State::going_on;
  Response response_;

 private:
  ModelFailure failure_;
  TextSink text_sink_;
};

/// What all wires take from the record of a response (docs/formats.md, `model.response`), which is
/// borrowed.
struct RecordedResponse {
  explicit RecordedResponse(const Json& data);
  std::string id;
  std::string model;
  const Json& output;  ///< items in the wire's own JSON
  const Json& usage;
  std::string reason;    ///< Response::stop_reason
  std::string repeated;  ///< Response::repeated
  bool incomplete;
};

/// Appends a server-sent event. @param name  "": none
void add_sse_event(std::string_view name, const Json& data, std::string& to);

/// What OpenAI's servers are told of who asks, by both of its formats.
HttpHeaders openai_headers(const std::string& run_id);

/// A provider's wire format: settings and items to bytes, stream events to a response.
///
/// A body is head + items + tail. The head depends on the settings alone; what stands for an item
/// depends on it and the items before it, never on the ones after the request. So head and items of
/// a request are an exact byte prefix of the next one's.
class Wire {
 public:
  virtual ~Wire() = default;
  /// "responses", "chat", "messages": what a cassette calls it.
  virtual std::string_view name() const = 0;
  /// Below the base URL: "/responses". @param model  "": what all addresses of it end in
  virtual std::string path(std::string_view model) const = 0;
  /// What each request needs beside the key, and what names its body.
  virtual HttpHeaders headers(const std::string& run_id) const = 0;
  /// Whether it has tools of that form, rather than functions in their place.
  virtual bool has_tool(ToolCall::Form form) const = 0;
  virtual std::string encode_head(const ModelSettings& settings) const = 0;
  /// For a body that begins with the head of these settings.
  virtual std::unique_ptr<ItemWriter> item_writer(const ModelSettings& settings) const = 0;
  /// @param settings  of the request; may end before the decoder does
  virtual std::unique_ptr<WireDecoder> decoder(const ModelSettings& settings) const = 0;
  /// A stream that brings the response again, for a replay.
  virtual std::string stream_of(const RecordedResponse& response) const = 0;
  /// Events that bring a piece of a message and go no further.
  virtual std::string stream_of_text(const std::string& text) const = 0;
};

}  // namespace sortie
