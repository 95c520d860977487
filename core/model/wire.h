#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/model/failure.h"
#include "core/model/item_writer.h"
#include "core/model/model.h"
#include "core/net/sse.h"

namespace sortie {

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
  virtual const ModelFailure& failure() const = 0;
  /// The complete response; `first_event` and `duration` are the caller's to fill in.
  virtual Response take() = 0;

 protected:
  /// Whether anybody wants to hear of text: where finding it costs something.
  bool is_heard() const noexcept { return text_sink_ != nullptr; }
  void tell(Text kind, std::string_view text) const {
    if (text_sink_ && !text.empty()) text_sink_(kind, text);
  }
  /// The same for text as it stands in a JSON string; what is none is passed over.
  void tell_escaped(Text kind, std::string_view escaped) const;

 private:
  TextSink text_sink_;
};

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
  /// Below the base URL: "/responses".
  virtual std::string_view path() const = 0;
  virtual std::string encode_head(const ModelSettings& settings) const = 0;
  /// For a body that begins with the head of these settings.
  virtual std::unique_ptr<ItemWriter> item_writer(const ModelSettings& settings) const = 0;
  /// @param settings  of the request; may end before the decoder does
  virtual std::unique_ptr<WireDecoder> decoder(const ModelSettings& settings) const = 0;
};

}  // namespace sortie
