#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "app/inputs/options.h"
#include "ci/attempts.h"
#include "core/agent/shared_budget.h"

namespace sortie {

/// The stderr of several attempts: each line of one begins with its number. Never makes the caller
/// wait for a slow reader, which misses lines and gets their number.
class AttemptLog {
 public:
  explicit AttemptLog(const OutputStyle& style) : style_(style) {}

  /// Columns of the words before an attempt's line.
  static std::size_t mark_columns() { return 11; }  // "attempt 12 "
  /// Lines of an attempt, each with its newline.
  void relay(int attempt, std::string_view lines);
  /// A line of this process; foreign text in it is made harmless.
  void say(const std::string& line);
  /// Commands to the CI system, from CiLog: they are not made harmless.
  void say_command(const std::string& commands) { waiting_ += commands; }
  /// How an attempt ended.
  void say_end(const AttemptEnd& attempt);
  /// What all of them have used together, if more than one was started.
  void say_sum(const std::vector<AttemptEnd>& attempts, const SharedBudget::Use& used,
               std::chrono::milliseconds duration);

  bool has_waiting() const noexcept { return !waiting_.empty(); }
  /// Writes what stderr takes now.
  void write_some();
  /// Writes the last line, and waits for the reader.
  void finish(const std::string& last);

 private:
  void put(std::string line);

  OutputStyle style_;
  std::string waiting_;
  std::int64_t left_out_ = 0;
};

}  // namespace sortie
