#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "app/batch/batch_events.h"
#include "app/batch/batch_jobs.h"
#include "app/batch/batch_screen.h"
#include "app/batch/batch_stop.h"
#include "app/batch/batch_time.h"
#include "ci/batch/batch_report.h"

namespace sortie {

/// What people see of a batch on stderr, and programs on stdout.
class BatchView {
 public:
  using Time = std::chrono::steady_clock::time_point;

  BatchView(const OutputStyle& style, bool events)
      : style_(style), screen_(style), events_(events) {}

  /// @param jobs  runs at the same time
  void tell_begin(const BatchPlan& plan, const std::filesystem::path& folder, int jobs,
                  bool auto_jobs);
  void tell_start(const BatchJob& job);
  /// Lines that a run printed.
  void tell_lines(const BatchJob& job, std::string_view lines);
  /// @param again  it is started again
  void tell_end(const BatchJob& job, bool again);
  /// Its end is final.
  void tell_settled(const BatchJob& job);
  void tell_signal(const BatchStop& stop, std::size_t running);
  /// @param results  the file  @param summary  the file, as the user would name it
  void tell_end(const BatchStory& story, const BatchTime& time,
                const std::filesystem::path& results, const std::filesystem::path& summary);

  /// Draws the table or, where there is none, says from time to time how far the batch is.
  void show(const BatchJobs& jobs, const BatchTime& time, Time next_start);
  /// When that is to be called again, at the latest.
  Time next_show() const;
  bool has_waiting() const noexcept { return screen_.has_waiting(); }
  /// Writes what stderr takes now.
  void write_some() { screen_.write_some(); }

 private:
  OutputStyle style_;
  BatchScreen screen_;
  BatchEvents events_;
  Time drawn_{};
};

}  // namespace sortie
