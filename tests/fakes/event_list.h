#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/record/event_codec.h"

namespace sortie::test {

/// Keeps the events it hears of.
class EventList : public EventSink {
 public:
  std::vector<RunEvent> events;

  void on(const RunEvent& event) override { events.push_back(event); }

  std::vector<std::string> types() const {
    std::vector<std::string> names;
    for (const RunEvent& event : events) names.push_back(to_record(event).type);
    return names;
  }
  std::vector<Json> data_of(const std::string& type) const {
    std::vector<Json> found;
    for (const RunEvent& event : events)
      if (Record record = to_record(event); record.type == type)
        found.push_back(std::move(record.data));
    return found;
  }
};

}  // namespace sortie::test
