#pragma once

#include <atomic>
#include <mutex>
#include <vector>

#include "core/record/events.h"
#include "core/record/transcript.h"
#include "core/secrets/redact.h"

namespace sortie {

/// Puts each event on record, redacted, then hands it to its sinks in their order, redacted in the
/// same way: it is on disk before anyone sees it or acts on it. What a sink shows to people it has
/// to redact for them.
///
/// Events may come from several threads, and reach the sinks one at a time.
class EventFanout : public EventSink {
 public:
  explicit EventFanout(const Redactor& redactor) : redactor_(redactor) {}
  /// Before any event; the transcript outlives this.
  void record_to(Transcript& transcript) { transcript_ = &transcript; }
  void add(EventSink& sink) { sinks_.push_back(&sink); }
  void on(const RunEvent& event) override;
  /// Of the last event: for what happens beside the turns.
  int turn() const noexcept { return turn_; }

 private:
  const Redactor& redactor_;
  Transcript* transcript_ = nullptr;
  std::vector<EventSink*> sinks_;
  std::mutex mutex_;
  std::atomic<int> turn_ = 0;
};

}  // namespace sortie
