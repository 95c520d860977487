#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>

#include "core/base/fd.h"

namespace sortie {

/// Writes lines to a descriptor whose reader may be slow, stall or go away, and never makes the
/// caller wait for it: a thread of its own writes each line as soon as the reader lets it. What it
/// has not come to waits in memory, and past a limit in a file without a name.
///
/// After the first line that can't be written (the reader has gone, the disk is full) nothing more
/// is: a reader never sees a line that stands behind a gap.
class EventWriter {
 public:
  struct Options {
    std::size_t memory_bytes = 4u << 20;  ///< of lines that wait; the rest waits in the file
    std::filesystem::path folder{};       ///< of that file; none can be made there: all in memory
    /// That finish() waits at most, also for a reader that takes a little now and then.
    std::chrono::milliseconds longest_end = std::chrono::minutes(10);
    /// Hears once, from the writing thread, why nothing more can be written.
    std::function<void(const std::string& problem)> tell{};
  };
  /// @param descriptor  stays the caller's, and open for as long as this object is
  EventWriter(int descriptor, Options options);
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;
  /// Waits for no reader: what is not written by then is lost.
  ~EventWriter();

  /// @param line  with its newline
  void write(std::string line);

  /// Waits until all is written.
  /// @param patience  how long the reader may take nothing at all; once a stop was requested, it
  ///                  has a second, whatever it takes
  /// @return          how many bytes are not written: none where `tell` has heard of a problem
  std::uint64_t finish(std::chrono::milliseconds patience, std::stop_token stop);
  /// Why finish() has left some: "the reader has taken nothing for 30 s", "the reader has not taken
  /// all of them within 10 min", …; "" where it left none.
  std::string why_left() const;
  /// Bytes that are not written.
  std::uint64_t waiting() const;

 private:
  void run();
  std::optional<std::string> next();
  bool put(std::string_view bytes);
  bool wait_until_writable();
  ssize_t write_some(std::string_view bytes) const;
  bool spill(const std::string& line);
  void fail(int number);
  void wake_writer();

  int descriptor_;
  Options options_;
  Fd own_;  ///< the same pipe or terminal, opened so that it never blocks
  bool is_socket_ = false;
  std::size_t most_at_once_;  ///< bytes of one write(2) that does not block
  Pipe wake_;                 ///< ends the wait for the reader

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;  ///< the oldest
  std::size_t line_bytes_ = 0;
  Fd file_;                       ///< the lines after them
  std::uint64_t file_begin_ = 0;  ///< of it, what is not taken out yet
  std::uint64_t file_end_ = 0;
  std::deque<std::string> late_lines_;  ///< the lines after those, where the file takes no more
  std::uint64_t waiting_bytes_ = 0;     ///< of all that is not written
  std::chrono::steady_clock::time_point last_progress_;
  bool cancelled_ = false;
  bool failed_ = false;
  std::string why_left_;
  std::thread thread_;
};

}  // namespace sortie
