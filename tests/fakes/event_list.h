#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "core/agent/events.h"

namespace sortie::test {

/// Keeps the events it hears of.
class EventList : public EventSink {
 public:
  std::vector<RunEvent> events;

  void on(const RunEvent& event) override { events.push_back(event); }

  std::vector<std::string> types() const {
    std::vector<std::string> names;
    for (const RunEvent& event : events) names.push_back(event.type);
    return names;
  }
  std::vector<Json> data_of(const std::string& type) const {
    std::vector<Json> found;
    for (const RunEvent& event : events)
      if (event.type == type) found.push_back(event.data);
    return found;
  }
};

}  // namespace sortie::test
