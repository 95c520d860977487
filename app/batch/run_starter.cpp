#include "app/batch/run_starter.h"

#include <fcntl.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "app/batch/batch_rates.h"
#include "app/batch/run_process.h"
#include "core/files/new_file_mode.h"

namespace sortie {
namespace {

Fd open_log(const std::filesystem::path& file) {
  return Fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                   new_file_mode()));
}

}  // namespace

RunStarter::RunStarter(const Parts& parts)
    : parts_(parts),
      rate_limits_(rate_limits_of(parts.plan.manifest, parts.folder.state())),
      key_(parts.options.run) {}

BatchReserve::Answer RunStarter::start(BatchJob& job, const std::vector<BatchJob>& jobs) {
  const BatchRun& run = *job.run;
  RunGrant grant;
  if (const auto answer = parts_.reserve.reserve(job, jobs, grant);
      answer != BatchReserve::Answer::granted)
    return answer;
  // A run's own time goes on from what its record has.
  if (const auto left = parts_.time.left())
    grant.time = std::min(parts_.plan.task_of(run).budget.time,
                          *left + parts_.spent.of_record(run.name).time);
  if (!job.log) job.log = open_log(parts_.folder.log(run.name));
  ++job.starts;
  ++job.row.attempts;
  job.started = std::chrono::steady_clock::now();
  job.state = BatchJob::State::running;
  job.last_line.clear();
  const BatchRunStart start{parts_.options, parts_.plan,  parts_.folder, run,
                            grant,          rate_limits_, key_};
  job.process = std::make_unique<AttemptProcess>(job.starts, parts_.folder.state(),
                                                 [&start]() -> ExitCode { become_run(start); });
  return BatchReserve::Answer::granted;
}

}  // namespace sortie
