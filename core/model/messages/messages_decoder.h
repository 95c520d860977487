#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "core/model/model.h"
#include "core/model/tool_calls.h"
#include "core/model/wire.h"

namespace sortie {

/// A content block of a response, assembled from its events.
struct ContentBlock {
  Json start{};             ///< from content_block_start; null if there was none
  std::string text{};       ///< the deltas' text for this member, still escaped as in JSON
  std::string thinking{};   ///< likewise
  std::string signature{};  ///< likewise
  std::string input{};      ///< likewise
  std::vector<Json> citations{};
  bool has_input = false;  ///< there was a delta of the input, perhaps an empty one
  bool ended = false;
};

/// How a response ended.
enum class ContentEnd {
  whole,
  cut,     ///< at its length limit: the last block may lack its end
  paused,  ///< the provider will continue its own work
};

/// Reads the events of one Messages stream. The text of deltas, nearly all of the stream, is
/// collected with its escapes, and decoded once the response is complete.
///
/// Stop reasons: `end_turn`, `tool_use`, `stop_sequence` and unknown ones complete the response;
/// `max_tokens` makes it incomplete; at `pause_turn` the provider will continue (Response::paused);
/// `refusal` and `model_context_window_exceeded` are failures.
class MessagesDecoder : public WireDecoder {
 public:
  explicit MessagesDecoder(const ModelSettings& settings)
      : free_text_(free_text_functions(settings)) {}
  State read(const SseEvent& event) override;
  State read_whole(std::string_view body) override;
  std::string message_so_far() const override;

 private:
  void read_event(std::string_view type, Json& event);
  void start_block(Json& event);
  void read_delta(const Json& event);
  void add(std::int64_t index, std::string_view type, std::string_view escaped);
  bool grow(std::size_t bytes);
  void take_usage(const Json& usage);
  void complete();
  std::string refusal() const;

  std::set<std::string> free_text_;              ///< names of tools
  std::map<std::int64_t, ContentBlock> blocks_;  ///< by index
  std::string stop_reason_;
  Json stop_details_;
  std::size_t collected_ = 0;  ///< bytes of deltas and other events
};

}  // namespace sortie
