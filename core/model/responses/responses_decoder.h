#pragma once

#include <set>
#include <string>

#include "core/model/responses/response_items.h"
#include "core/model/tool_calls.h"
#include "core/model/wire.h"

namespace sortie {

/// Reads the events of one Responses stream.
///
/// Deltas, nearly all of a stream, are not parsed: the item's `done` event has their whole text. If
/// text is wanted, it is found in them by a simple search.
class ResponsesDecoder : public WireDecoder {
 public:
  /// @param free_text  free_text_functions(), if the request declares them as functions
  explicit ResponsesDecoder(std::set<std::string> free_text = {}) : calls_(std::move(free_text)) {}
  State read(const SseEvent& event) override;
  State read_whole(std::string_view body) override;
  State read_recorded(const RecordedResponse& recorded) override;
  std::string message_so_far() const override;

 private:
  Json read_terminal(std::string_view data) const;
  void read_event(std::string_view type, Json& event);
  void read_delta(std::string_view type, std::string_view data);
  void complete(Json response, bool incomplete);
  void fail_with(const Json& error);

  CallReader calls_;
  ResponseItems items_;
  std::size_t collected_ = 0;  ///< bytes of the events with items
  std::string message_;        ///< deltas since the last whole item, escaped
};

/// The response that the terminal event of its stream has.
Json response_json(const RecordedResponse& recorded);

}  // namespace sortie
