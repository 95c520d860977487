#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/base/fd.h"

namespace sortie {

/// How long who writes what we read is waited for.
struct ReadLimits {
  std::uint64_t max_bytes = 1u << 20;
  std::chrono::milliseconds quiet = std::chrono::seconds(10);  ///< without a byte
  std::chrono::milliseconds total = std::chrono::hours(1);     ///< also where bytes drip
};

/// What was read of a descriptor, or why it was not read to its end.
struct ReadBytes {
  std::string bytes;
  std::string problem;  ///< "no byte for 10 s, and its end was not reached", "is larger than …"
  int error = 0;        ///< the errno of read(2), where that is the problem
};

/// Reads a descriptor to its end: a file, or a pipe or device whose writer may be slow, stall or
/// never come. A pipe is best opened with O_NONBLOCK, and O_NONBLOCK is needed by nothing else.
ReadBytes read_to_end(int descriptor, const ReadLimits& limits);

/// How long who reads what we write is waited for.
struct WriteLimits {
  std::chrono::milliseconds quiet = std::chrono::seconds(30);  ///< that it may take nothing
  std::chrono::milliseconds total = std::chrono::minutes(10);
};

/// Writes all of it as the reader of a pipe, terminal or socket takes it; never blocks in write(2)
/// itself.
/// @return  0 or an errno: ETIMEDOUT where the reader was not waited for any longer, ECANCELED
///          where a stop was requested and the reader took nothing for 100 ms
int write_within(int descriptor, std::string_view bytes, const WriteLimits& limits = {},
                 std::stop_token stop = {});

/// Opens a pipe or device for writing. Of a named pipe that nobody reads yet, its reader is waited
/// for as long as `quiet` says.
/// @return  none with errno set: ETIMEDOUT, ECANCELED as above
Fd open_for_writing(const std::filesystem::path& path, const WriteLimits& limits = {},
                    std::stop_token stop = {});

/// The text of an errno that those two return.
std::string write_problem(int number, const WriteLimits& limits = {});

}  // namespace sortie
