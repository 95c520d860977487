#pragma once

#include <map>
#include <set>
#include <string>

#include "core/model/messages/messages_items.h"
#include "core/model/tool_calls.h"
#include "core/model/wire.h"

namespace sortie {

/// Reads the events of one Messages stream. The text of deltas, nearly all of it, is collected as
/// it stands in the JSON, and read once a response is complete.
///
/// How a response ended: `end_turn`, `tool_use` and `stop_sequence` complete it, and so does a
/// reason that is not known; `max_tokens` makes it incomplete; at `pause_turn` the provider is to
/// go on by itself (Response::paused); `refusal` and `model_context_window_exceeded` are failures.
class MessagesDecoder : public WireDecoder {
 public:
  explicit MessagesDecoder(const ModelSettings& settings)
      : free_text_(free_text_functions(settings)) {}
  State read(const SseEvent& event) override;
  std::string message_so_far() const override;
  const ModelFailure& failure() const override { return failure_; }
  Response take() override { return std::move(response_); }

 private:
  void read_event(std::string_view type, Json& event);
  void start_block(Json& event);
  void read_delta(const Json& event);
  void add(std::int64_t index, std::string_view type, std::string_view escaped);
  bool grow(std::size_t bytes);
  void take_usage(const Json& usage);
  void complete();
  std::string refusal() const;
  void fail(ModelFailure failure);
  void malformed(const std::string& why);

  std::set<std::string> free_text_;  ///< names of tools
  State state_ = State::going_on;
  ModelFailure failure_;
  Response response_;
  std::map<std::int64_t, ContentBlock> blocks_;  ///< by index
  std::string stop_reason_;
  Json stop_details_;
  std::size_t collected_ = 0;  ///< bytes of deltas and other events
};

}  // namespace sortie
