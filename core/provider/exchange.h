#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/clock.h"
#include "core/model/failure.h"
#include "core/model/model.h"
#include "core/model/repetition.h"
#include "core/model/wire.h"
#include "core/net/http.h"
#include "core/net/sse.h"

namespace sortie {

/// One attempt of a request: decodes what the server sends.
class Exchange : public HttpSink {
 public:
  struct Options {
    bool keep_stream = false;      ///< for stream()
    bool stop_repetition = false;  ///< a text that repeats itself ends the exchange
    bool may_repeat = false;       ///< repetition is detected, but does not end the exchange
    /// Limit of the whole stream with its comments: several times the longest response in the smallest
    /// pieces.
    std::uint64_t max_stream_bytes = 256u << 20;
  };
  Exchange(std::unique_ptr<WireDecoder> decoder, const Clock& clock, Options options);

  void on_head(const HttpHead& head) override;
  Wants on_body(std::string_view bytes) override;
  /// An event was received, or the reply is not a stream.
  bool has_begun() const override { return !says_stream_ || events_ > 0; }
  bool may_end() const override { return decoder_->may_end(); }

  /// The server has sent everything.
  void finish();
  /// Whether response() may be called.
  bool is_complete() const;
  /// The stream itself reported a failure.
  bool was_refused() const noexcept { return state_ == WireDecoder::State::failed; }
  /// The complete response, once. For a stream stopped for repetition: its message up to there.
  Response response();
  /// Why the response is not complete.
  ModelFailure failure(const HttpResult& result) const;

  const HttpHead& head() const noexcept { return head_; }
  /// The whole stream, with keep_stream.
  std::string& stream() noexcept { return text_; }

 private:
  /// What the body is.
  enum class Body {
    unknown,  ///< nothing of it has arrived
    stream,
    whole,  ///< one JSON text, from servers that do not stream
    other,  ///< an error, or not from a provider at all
  };

  Body kind_of(std::string_view begin) const;
  Wants collect(std::string_view bytes, std::size_t most);
  Wants on_stream(std::string_view bytes);
  void read(const SseEvent& event);
  void on_text(WireDecoder::Text kind, std::string_view text);
  const std::string& passage() const;
  bool is_stopped() const;
  Response cut_response();
  ModelFailure cause(const HttpResult& result) const;
  ModelFailure cut(const std::string& message) const;

  std::unique_ptr<WireDecoder> decoder_;
  const Clock& clock_;
  Options options_;
  std::chrono::steady_clock::time_point begin_;
  std::chrono::steady_clock::time_point first_event_{};
  HttpHead head_;
  bool says_stream_ = false;  ///< by its content type
  Body body_ = Body::unknown;
  std::string begin_of_body_;  ///< until it is known what it is
  SseParser parser_;
  WireDecoder::State state_ = WireDecoder::State::going_on;
  RepetitionGuard repetition_[2];  ///< by WireDecoder::Text
  std::uint64_t text_bytes_ = 0;   ///< of text and reasoning
  std::string text_;               ///< the stream if it is kept, else the body
  std::string too_long_;
  std::uint64_t received_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace sortie
