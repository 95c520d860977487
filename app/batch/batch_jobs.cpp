#include "app/batch/batch_jobs.h"

#include <algorithm>
#include <utility>

#include "app/batch/run_end.h"

namespace sortie {
namespace {

BatchJob job_of(const BatchRun& run, const BatchPlan& plan, const BatchFolder& folder,
                const Spent& spent) {
  BatchJob job{.run = &run};
  BatchRow& row = job.row;
  row.name = run.name;
  row.task = plan.manifest.tasks[run.task].name;
  row.vars = run.vars;
  row.workspace = BatchPlan::place_of(run);
  row.instance = run.instance;
  row.shard = plan.shard.text();
  row.out = "runs/" + run.name;
  row.model = plan.task_of(run).model;
  row.attempts = spent.of(run.name).starts;
  const std::string status = result_in(folder.run(run.name)).string_at("status");
  job.begun = status == "running";
  job.finished = status == "success" || status == "nothing-to-do";
  return job;
}

}  // namespace

BatchJobs::BatchJobs(const BatchPlan& plan, const BatchFolder& folder, const Spent& spent) {
  for (const std::size_t index : plan.own)
    all_.push_back(job_of(plan.runs[index], plan, folder, spent));
  std::stable_sort(all_.begin(), all_.end(), [](const BatchJob& a, const BatchJob& b) {
    return std::pair(!a.begun, !a.finished) < std::pair(!b.begun, !b.finished);
  });
}

std::size_t BatchJobs::count(State state) const {
  return static_cast<std::size_t>(std::count_if(
      all_.begin(), all_.end(), [state](const BatchJob& job) { return job.state == state; }));
}

void BatchJobs::signal(int number) const {
  for (const BatchJob& job : all_)
    if (job.state == State::running) job.process->signal(number);
}

}  // namespace sortie
