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

/// Writes lines to a descriptor whose reader may be slow, stall or go away, without making the caller
/// wait: a thread writes each line as soon as possible. Waiting lines are in memory, and beyond a
/// limit in an unnamed file.
///
/// After the first line that can't be written (the reader has gone, the disk is full), nothing more is
/// written: a reader never sees a gap.
class EventWriter {
 public:
  struct Options {
    std::size_t memory_bytes = 4u << 20;  ///< of waiting lines; the others are in the file
    std::filesystem::path folder{};  ///< for that file; if none can be made there, all in memory
    /// The longest wait of finish(), even for a reader that reads slowly.
    std::chrono::milliseconds longest_end = std::chrono::minutes(10);
    /// Called once, from the writing thread, with the errno for which nothing more can be written.
    std::function<void(int number)> on_failure{};
  };
  /// @param descriptor  owned by the caller, and open during this object's lifetime
  EventWriter(int descriptor, Options options);
  EventWriter(const EventWriter&) = delete;
  EventWriter& operator=(const EventWriter&) = delete;
  /// Does not wait for the reader: unwritten lines are lost.
  ~EventWriter();

  /// @param line  with its newline
  void write(std::string line);

  /// Waits until all is written.
  /// @param patience  how long the reader may read nothing; after a stop request it has one second in
  ///                  all
  /// @return          the number of unwritten bytes; 0 after `on_failure`
  std::uint64_t finish(std::chrono::milliseconds patience, std::stop_token stop);
  /// Why finish() left unwritten bytes: "the reader has taken nothing for 30 s", …; or "".
  std::string why_left() const;
  /// The number of unwritten bytes.
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
  Fd own_;  ///< the same pipe or terminal, opened non-blocking
  bool is_socket_ = false;
  std::size_t most_at_once_;  ///< bytes of one write(2) that does not block
  Pipe wake_;                 ///< ends the wait for the reader

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> lines_;  ///< the oldest
  std::size_t line_bytes_ = 0;
  Fd file_;                       ///< the lines after them
  std::uint64_t file_begin_ = 0;  ///< its first unread byte
  std::uint64_t file_end_ = 0;
  std::deque<std::string> late_lines_;  ///< the lines after those, if the file can't grow
  std::uint64_t waiting_bytes_ = 0;     ///< all unwritten bytes
  std::chrono::steady_clock::time_point last_progress_;
  bool cancelled_ = false;
  bool failed_ = false;
  std::string why_left_;
  std::thread thread_;
};

}  // namespace sortie
