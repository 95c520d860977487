#pragma once

#include <map>
#include <set>
#include <string>

#include "core/model/tool_calls.h"
#include "core/model/wire.h"

namespace sortie {

/// Reads the events of one Responses stream.
///
/// Deltas are not parsed: their text stands whole in the item's `done` event, and they are nearly
/// all of a stream. Who wants to hear of text gets what is found in them cheaply.
class ResponsesDecoder : public WireDecoder {
 public:
  /// @param free_text  of free_text_functions(), where the request declares them as functions
  explicit ResponsesDecoder(std::set<std::string> free_text = {}) : calls_(std::move(free_text)) {}
  State read(const SseEvent& event) override;
  std::string message_so_far() const override;

 private:
  void read_event(std::string_view type, Json& event);
  void read_delta(std::string_view type, std::string_view data);
  void complete(const Json& response, bool incomplete);
  void fail_with(const Json& error);

  CallReader calls_;
  std::map<std::int64_t, Json> items_;  ///< by output_index
  std::size_t collected_ = 0;           ///< bytes of the events that brought items
  std::string message_;                 ///< of deltas since the last whole item, escaped
};

}  // namespace sortie
