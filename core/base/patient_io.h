#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>
#include <string_view>

#include "core/base/fd.h"

namespace sortie {

/// How long to wait for the writer of a descriptor that is read.
struct ReadLimits {
  std::uint64_t max_bytes = 1u << 20;
  std::chrono::milliseconds quiet = std::chrono::seconds(10);  ///< without a byte
  std::chrono::milliseconds total = std::chrono::hours(1);     ///< until its end
};

/// The bytes read from a descriptor, or why it was not read to its end.
struct ReadBytes {
  std::string bytes;
  std::string problem;  ///< "sent no byte for 10 s before its end", "is larger than …"
  int error = 0;        ///< the errno of read(2), if that is the problem
};

/// Reads a descriptor to its end: a file, or a pipe or device whose writer may be slow, stall or
/// never open it. Open a pipe with O_NONBLOCK; other files don't need it.
ReadBytes read_to_end(int descriptor, const ReadLimits& limits);

/// How long to wait for the reader of a descriptor that is written.
struct WriteLimits {
  std::chrono::milliseconds quiet = std::chrono::seconds(30);  ///< without accepting a byte
  std::chrono::milliseconds total = std::chrono::minutes(10);
};

/// Writes all bytes as fast as the reader of a pipe, terminal or socket accepts them; never blocks
/// in write(2) itself.
/// @return  0 or an errno: ETIMEDOUT if the reader was too slow, ECANCELED if a stop was requested
///          and the reader accepted nothing for 100 ms
int write_within(int descriptor, std::string_view bytes, const WriteLimits& limits = {},
                 std::stop_token stop = {});

/// Opens a pipe or device for writing. Waits up to `quiet` for the reader of a named pipe.
/// @return  no descriptor, with errno set, on failure: ETIMEDOUT, ECANCELED as above
Fd open_for_writing(const std::filesystem::path& path, const WriteLimits& limits = {},
                    std::stop_token stop = {});

/// The text of an errno from write_within() or open_for_writing().
std::string write_problem(int number, const WriteLimits& limits = {});

}  // namespace sortie
