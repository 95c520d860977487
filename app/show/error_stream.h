#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>

#include "app/show/event_writer.h"
#include "core/text/ci_commands.h"

namespace sortie {

/// The stderr of a run: lines for people, which never make the run wait for a slow reader. A reader
/// that is far behind misses lines, and gets their number. In a CI system's log, commands of that
/// system are made harmless.
class ErrorStream {
 public:
  /// The most bytes that wait for the reader before lines are left out.
  static constexpr std::uint64_t kMostWaiting = 256u << 10;

  /// @param descriptor  owned by the caller, and open during this object's lifetime
  explicit ErrorStream(int descriptor);
  ErrorStream(const ErrorStream&) = delete;
  ErrorStream& operator=(const ErrorStream&) = delete;
  /// Waits up to a second for the reader.
  ~ErrorStream();

  /// @param text  whole lines, or control sequences for a terminal
  void write(std::string text);
  /// @param commands  to the CI system, from CiLog: they are not made harmless
  void write_commands(std::string commands);
  /// Whether the reader is close behind: otherwise a status line would be outdated when it is read.
  bool keeps_up() const;

  /// Whether it leads to the same pipe, socket, terminal or file as another descriptor (`2>&1`).
  bool is_same_as(int descriptor) const;
  /// Sends the lines through that writer from now on, so that they don't mix with its own and none is
  /// left out.
  /// @param writer  outlives this; null ends it
  void go_through(EventWriter* writer);

  /// Writes the last line, and waits until all is written.
  /// @param patience, stop  as EventWriter::finish has them
  void finish(std::string last, std::chrono::milliseconds patience, std::stop_token stop);

 private:
  EventWriter* writer() const { return shared_ != nullptr ? shared_ : own_.get(); }
  void report_left_out();
  void put(std::string text);

  int descriptor_;
  const CiSystems systems_ = ci_systems();
  mutable std::mutex mutex_;
  std::unique_ptr<EventWriter> own_;  ///< null if writing never blocks
  EventWriter* shared_ = nullptr;
  std::uint64_t left_out_ = 0;  ///< lines, since the last report
};

}  // namespace sortie
