#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/base/spelling.h"
#include "core/process/launcher.h"

namespace sortie {

// How a command ended and where its output is: parts of the events of several subjects.

template <>
inline constexpr auto kSpelling<Ending> =
    std::to_array<Spelled<Ending>>({{Ending::exited, "exited"},
                                    {Ending::signalled, "signalled"},
                                    {Ending::timed_out, "timed_out"},
                                    {Ending::output_limit, "output_limit"},
                                    {Ending::memory_limit, "memory_limit"},
                                    {Ending::process_limit, "process_limit"},
                                    {Ending::disk_limit, "disk_limit"},
                                    {Ending::cancelled, "cancelled"},
                                    {Ending::not_started, "not_started"}});

/// The file that holds a whole output, redacted: it is too long for memory.
///
/// The event's text is its head and tail, for the sinks that show it. The transcript records the
/// file as `output` instead, or that text if the file is gone by then.
struct SavedOutput {
  std::string path;
  std::string sha256;  ///< hex
  std::uint64_t bytes = 0;
};

}  // namespace sortie
