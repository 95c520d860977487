#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>

#include "app/batch/batch_folder.h"
#include "app/batch/batch_options.h"
#include "app/batch/batch_plan.h"
#include "app/run/attempt_key.h"
#include "core/base/exit_code.h"

namespace sortie {

/// What one start of a run may use, in all that its record has.
struct RunGrant {
  std::optional<double> cost{};  ///< USD
  std::optional<std::int64_t> tokens{};
  std::optional<std::chrono::milliseconds> time{};
};

/// What starts a run of a batch. Everything in it outlives the process.
struct BatchRunStart {
  const BatchOptions& options;
  const BatchPlan& plan;
  const BatchFolder& folder;
  const BatchRun& run;
  RunGrant grant;
  std::filesystem::path rate_limits;  ///< for --rate-limits; "" for none
  AttemptKey& key;
};

/// The command line of the run, without what is given by descriptors.
/// @param workspace  for -C; "" for the task's own
std::vector<std::string> run_words(const BatchRunStart& start,
                                   const std::filesystem::path& workspace);

/// In a process that was forked for it: makes the checkout, if the run needs one, and becomes `sortie
/// run`. What an instance brings comes by descriptors, so that it is in no command line.
/// @throws Error  it could not be started
[[noreturn]] void become_run(const BatchRunStart& start);

}  // namespace sortie
