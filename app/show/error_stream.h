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

/// stderr of a run: lines for people, whose reader may be slow or stall and never makes the run
/// wait. A reader that is far behind misses lines, and is told how many. Where it is a CI system's
/// log, what would be a command of that system is made harmless.
class ErrorStream {
 public:
  /// So much may wait for the reader before lines are left out.
  static constexpr std::uint64_t kMostWaiting = 256u << 10;

  /// @param descriptor  stays the caller's, and open for as long as this object is
  explicit ErrorStream(int descriptor);
  ErrorStream(const ErrorStream&) = delete;
  ErrorStream& operator=(const ErrorStream&) = delete;
  /// Gives the reader a second for what finish() was not asked to wait for.
  ~ErrorStream();

  /// @param text  whole lines, or what a terminal is to do
  void write(std::string text);
  /// Whether the reader is close behind: else a status line is not true any more when it is seen.
  bool keeps_up() const;

  /// Whether it leads to the same pipe, socket, terminal or file as another descriptor (`2>&1`).
  bool is_same_as(int descriptor) const;
  /// From here on the lines go through that writer, with its own, so that none stands inside
  /// another and none is left out.
  /// @param writer  outlives this, or null: no longer
  void go_through(EventWriter* writer);

  /// Writes the last line, and waits until all is written.
  /// @param patience, stop  as EventWriter::finish has them
  void finish(std::string last, std::chrono::milliseconds patience, std::stop_token stop);

 private:
  EventWriter* writer() const { return shared_ != nullptr ? shared_ : own_.get(); }
  void tell_left_out();

  int descriptor_;
  const CiSystems systems_ = ci_systems();
  mutable std::mutex mutex_;
  std::unique_ptr<EventWriter> own_;  ///< nothing: what is written there never waits
  EventWriter* shared_ = nullptr;
  std::uint64_t left_out_ = 0;  ///< lines, since it was told of the last
};

}  // namespace sortie
