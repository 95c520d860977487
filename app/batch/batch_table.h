#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "app/batch/batch_job.h"

namespace sortie {

/// What the live table of a batch shows.
struct BatchTable {
  const std::vector<BatchJob>& jobs;
  std::chrono::steady_clock::time_point started;
  std::chrono::steady_clock::time_point now;
  std::chrono::steady_clock::time_point next_start;  ///< later than `now`: starts pause
  std::size_t lines = 24;                            ///< of the terminal
  std::size_t columns = 80;
};

/// A row for each running run, as many as there is room for, and the counts below them.
std::vector<std::string> table_rows(const BatchTable& table);

/// "batch: 12 of 200 ended (1 failed), 8 running, 0.42 USD, 1 min 10 s, about 18 min left"
std::string count_line(const std::vector<BatchJob>& jobs,
                       std::chrono::steady_clock::time_point started,
                       std::chrono::steady_clock::time_point now,
                       std::chrono::steady_clock::time_point next_start);

/// "fix-parser: success, 3 turns, 1,234 tokens, 0.02 USD, 12 s"
std::string end_line(const BatchRow& row);
/// "200 runs: 812 turns, 1,200,000 tokens, 4.20 USD, 12 min"
std::string sum_line(const std::vector<BatchRow>& rows,
                     std::chrono::steady_clock::time_point started,
                     std::chrono::steady_clock::time_point now);

}  // namespace sortie
