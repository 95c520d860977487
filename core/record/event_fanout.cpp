#include "core/record/event_fanout.h"

#include <optional>
#include <utility>

#include "core/record/event_codec.h"

namespace sortie {

void EventFanout::on(const RunEvent& event) {
  const std::lock_guard lock(mutex_);
  turn_ = event.turn;
  Record record = to_record(event);
  std::optional<RunEvent> redacted;
  if (auto changed = redactor_.changed(record.data)) {
    record.data = std::move(*changed);
    redacted = read_event(record.type, record.turn, record.data);
  }
  if (transcript_ != nullptr) transcript_->on(record);
  for (EventSink* sink : sinks_) sink->on(redacted ? *redacted : event);
}

}  // namespace sortie
