#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "app/run/attempt_process.h"
#include "ci/batch/batch_row.h"
#include "core/base/fd.h"
#include "core/batch/run_list.h"

namespace sortie {

/// One run of a batch on its way.
struct BatchJob {
  using Time = std::chrono::steady_clock::time_point;
  enum class State { waiting, running, ended };

  const BatchRun* run = nullptr;
  State state = State::waiting;
  BatchRow row{};
  bool begun = false;     ///< its folder holds an unfinished run: it costs least to be ended
  bool finished = false;  ///< its folder holds a finished success: it is returned most likely
  int starts = 0;         ///< in this start of the batch
  Time ready{};           ///< not started before
  Time started{};
  bool reserves = false;  ///< what follows is set aside for it
  Cost reserved_cost{};
  std::int64_t reserved_tokens = 0;
  bool lowered = false;  ///< it got less than its task's budget
  std::unique_ptr<AttemptProcess> process{};
  Fd log{};
  std::string last_line{};  ///< what its process said last
};

/// Whether a line that a run printed says something; one for the CI system does not.
inline bool is_said(std::string_view line) {
  return line.find_first_not_of(" \t\r\n") != std::string_view::npos && !line.starts_with("::");
}

}  // namespace sortie
