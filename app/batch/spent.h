#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "core/catalog/cost.h"

namespace sortie {

/// What the runs of a batch have used, in all its starts: a file to which each end of a run adds a line.
class Spent {
 public:
  struct Use {
    Cost cost{};
    std::int64_t tokens = 0;
    std::chrono::milliseconds time{0};
    int starts = 0;  ///< of the run's process
  };

  /// Reads what is there; a line that a kill cut off is left out.
  explicit Spent(std::filesystem::path file);

  /// All of a run, whatever has become of its record since.
  Use of(const std::string& name) const;
  /// What the record has that is in the run's folder now: a run that goes on counts from there.
  Use of_record(const std::string& name) const;
  Use all() const;
  /// @param run_id  of the record; "" if nothing was recorded
  /// @param now     what that record has in all, and the starts of the run in all
  void add(const std::string& name, const std::string& run_id, const Use& now);

  /// How long earlier starts of the batch took.
  std::chrono::milliseconds earlier_time() const noexcept { return earlier_; }
  /// How long this one has taken so far.
  void set_time(std::chrono::milliseconds time);

 private:
  struct Run {
    std::map<std::string, Use> records;  ///< by run id
    std::string last;                    ///< the id of the record that is there now
    int starts = 0;
  };
  void take(const std::string& name, const std::string& run_id, const Use& now);
  void append(const std::string& line) const;

  std::filesystem::path file_;
  std::map<std::string, Run> runs_;
  std::chrono::milliseconds earlier_{0};
};

}  // namespace sortie
