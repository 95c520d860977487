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

/// A content block of a response, as its events brought it.
struct ContentBlock {
  Json start{};             ///< as its start had it; null where none came
  std::string text{};       ///< what deltas added to each member, as JSON strings are escaped
  std::string thinking{};   ///< likewise
  std::string signature{};  ///< likewise
  std::string input{};      ///< likewise
  std::vector<Json> citations{};
  bool has_input = false;  ///< a delta of the input came, be it an empty one
  bool ended = false;
};

/// How a response ended.
enum class ContentEnd {
  whole,
  cut,     ///< at its length limit: the last block may lack its end
  paused,  ///< the provider goes on with what it does by itself
};

/// Sorts a response's blocks into items to be used and findings, as read_output_items() does.
///
/// @param free_text  of free_text_functions()
/// @throws JsonError  where the pieces of a block make no JSON string
void read_content_blocks(std::vector<ContentBlock> blocks, const std::set<std::string>& free_text,
                         ContentEnd end, Response& response);

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
