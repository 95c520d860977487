#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/agent/events.h"

namespace sortie {

/// An output that stands whole in a file, redacted, since it is too long to be held in memory.
struct WholeOutput {
  std::string path;
  std::string sha256;  ///< hex
  std::uint64_t bytes = 0;
};

/// Has the transcript keep the file as the `output` of a tool.output record, in place of the text
/// that the event has: its head and tail, for the sinks that show it. The file may be gone by then:
/// the text is recorded then.
void set_whole_output(RunEvent& event, const WholeOutput& whole);

/// Of such an event, else nothing.
std::optional<WholeOutput> whole_output_of(const RunEvent& event);

/// The event's data with `output` in place of the text, where it is given, and without the mention
/// of the file.
Json without_whole_output(const RunEvent& event, std::optional<Json> output);

}  // namespace sortie
