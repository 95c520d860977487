#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/redact.h"

namespace sortie {

/// One thing that happened in a run: a transcript record without its envelope.
///
/// `type` and the members of `data` are those of the transcript (docs/formats.md#transcript); the
/// functions that make events stand with what they tell of, so that a shape is written once.
struct RunEvent {
  std::string type;  ///< "tool.output"
  int turn = 0;      ///< 0 before the first
  Json data;         ///< an object
};

class EventSink {
 public:
  virtual ~EventSink() = default;
  virtual void on(const RunEvent& event) = 0;
};

/// Redacts an event once, then hands it to its sinks in their order. The transcript is the first:
/// an event is on disk before anyone sees it or acts on it.
class EventFanout : public EventSink {
 public:
  explicit EventFanout(const Redactor& redactor) : redactor_(redactor) {}
  void add(EventSink& sink) { sinks_.push_back(&sink); }
  void on(const RunEvent& event) override;

 private:
  const Redactor& redactor_;
  std::vector<EventSink*> sinks_;
};

}  // namespace sortie
