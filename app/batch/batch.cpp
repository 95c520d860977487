#include "app/batch/batch.h"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <string>
#include <system_error>
#include <vector>

#include "app/batch/batch_budget.h"
#include "app/batch/batch_folder.h"
#include "app/batch/batch_jobs.h"
#include "app/batch/batch_plan.h"
#include "app/batch/batch_results.h"
#include "app/batch/batch_retries.h"
#include "app/batch/batch_status.h"
#include "app/batch/batch_stop.h"
#include "app/batch/batch_time.h"
#include "app/batch/batch_view.h"
#include "app/batch/checkout_use.h"
#include "app/batch/machine_room.h"
#include "app/batch/run_end.h"
#include "app/batch/run_starter.h"
#include "app/batch/spent.h"
#include "app/run/attempt_signals.h"
#include "core/files/files.h"
#include "core/files/new_file_mode.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;
using State = BatchJob::State;

constexpr std::chrono::milliseconds kMemoryTick{1000};  ///< between two looks at the free memory
constexpr std::chrono::seconds kLongestPoll{30};
constexpr std::uint64_t kMostOfLastLine = 4096;

BatchBudget budget_of(const BatchOptions& options, const BatchPlan& plan) {
  BatchBudget budget = plan.manifest.budget;
  if (options.run.max_cost) budget.cost = options.run.max_cost;
  if (options.run.max_tokens) budget.tokens = options.run.max_tokens;
  return budget;
}

/// 0: auto
int jobs_of(const BatchOptions& options, const BatchPlan& plan) {
  if (options.jobs == "auto") return 0;
  if (!options.jobs.empty()) return std::stoi(options.jobs);
  return plan.manifest.jobs.value_or(0);
}

/// The loop: runs are started as long as there are some and nothing stops it, and their ends taken.
class Batch {
 public:
  Batch(const BatchOptions& options, const OutputStyle& style)
      : style_(style),
        plan_(make_batch_plan(options)),
        folder_(plan_.out, plan_.shard),
        files_(batch_files(folder_, plan_.manifest.predictions)),
        spent_(folder_.path() / folder_.with_shard("state/spent", ".jsonl")),
        budget_(budget_of(options, plan_)),
        time_(budget_.time, spent_.earlier_time()),
        stop_(time_),
        reserve_(plan_, budget_, spent_),
        room_(jobs_of(options, plan_)),
        retries_(plan_.manifest.retry, room_.jobs()),
        starter_({options, plan_, folder_, spent_, time_, reserve_}),
        jobs_(plan_, folder_, spent_),
        checkouts_(jobs_.all(), folder_.checkouts()),
        view_(style, options.json),
        keep_going_(options.keep_going || plan_.manifest.keep_going) {}

  BatchStory execute();
  /// The batch's folder as the user named it.
  std::string out() const { return plan_.out.string(); }

 private:
  void begin();
  void start_due();
  bool start(BatchJob& job);
  void wait();
  SteadyClock::time_point next_look() const;
  void take_signal();
  void take_ends();
  void take_lines(BatchJob& job);
  void take_end(BatchJob& job);
  void take_use(const BatchJob& job);
  void settle(BatchJob& job);
  void end_without_start(BatchJob& job) const;
  BatchStory story() const;

  OutputStyle style_;
  BatchPlan plan_;
  BatchFolder folder_;
  BatchFiles files_;
  AttemptSignals signals_;
  Spent spent_;
  BatchBudget budget_;
  BatchTime time_;
  BatchStop stop_;
  BatchReserve reserve_;
  RunRoom room_;
  BatchRetries retries_;
  RunStarter starter_;
  BatchJobs jobs_;
  CheckoutUse checkouts_;
  BatchView view_;
  bool keep_going_;
};

void Batch::begin() {
  // The environment may hold keys, and the descriptor of one may be open.
  ::prctl(PR_SET_DUMPABLE, 0);
  write_file(folder_.path() / folder_.with_shard("batch", ".json"),
             write_json_pretty(batch_json(plan_)) + "\n", new_file_mode());
  for (const std::string& name : {files_.summary, files_.page}) {
    std::error_code error;
    fs::remove(folder_.path() / name, error);
  }
  spent_.set_time(0ms);
  view_.tell_begin(plan_, folder_.path(), room_.jobs(), room_.is_auto());
}

void Batch::start_due() {
  if (!stop_.reason().empty()) return;
  for (BatchJob& job : jobs_.all()) {
    const std::size_t running = jobs_.count(State::running);
    if (running >= static_cast<std::size_t>(retries_.pace().width()) || !room_.has_memory(running))
      return;
    const auto now = SteadyClock::now();
    if (job.state == State::waiting && job.ready <= now && retries_.pace().next_start() <= now)
      start(job);
  }
}

bool Batch::start(BatchJob& job) {
  switch (starter_.start(job, jobs_.all())) {
    case BatchReserve::Answer::wait:
      return false;
    case BatchReserve::Answer::spent:
      job.row.status = status_word(ExitCode::budget);
      job.row.code = ExitCode::budget;
      job.row.reason = "the budget of the batch is used up";
      job.row.next = "the same command with a higher budget";
      settle(job);
      return false;
    case BatchReserve::Answer::granted:
      break;
  }
  view_.tell_start(job);
  return true;
}

SteadyClock::time_point Batch::next_look() const {
  const auto now = SteadyClock::now();
  auto next = std::min(stop_.kill_at().value_or(now + kLongestPoll), view_.next_show());
  if (room_.is_auto()) next = std::min(next, now + kMemoryTick);
  if (stop_.reason().empty())
    for (const BatchJob& job : jobs_.all())
      if (const auto ready = std::max(job.ready, retries_.pace().next_start());
          job.state == State::waiting && ready > now)
        next = std::min(next, ready);
  if (const auto left = time_.left(); left && stop_.signal() == 0 && *left > 0ms)
    next = std::min(next, now + *left);
  return next;
}

void Batch::wait() {
  std::vector<pollfd> sources = {{signals_.descriptor(), POLLIN, 0}};
  for (const BatchJob& job : jobs_.all())
    if (job.state == State::running) sources.push_back({job.process->lines(), POLLIN, 0});
  if (view_.has_waiting()) sources.push_back({STDERR_FILENO, POLLOUT, 0});
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next_look() - SteadyClock::now());
  ::poll(sources.data(), sources.size(),
         static_cast<int>(std::clamp(left, 0ms, std::chrono::milliseconds(kLongestPoll)).count()));
  stop_.look_at_time();
  if (const auto kill = stop_.kill_at(); kill && SteadyClock::now() >= *kill) jobs_.signal(SIGKILL);
}

/// A second signal ends each run at once, and so all of it.
void Batch::take_signal() {
  const int signal = signals_.take();
  if (signal == 0) return;
  if (stop_.signal() == 0) {
    stop_.take_signal(signal);
    view_.tell_signal(stop_, jobs_.count(State::running));
  }
  jobs_.signal(signal);
}

void Batch::take_lines(BatchJob& job) {
  const std::string lines = job.process->take_lines();
  if (lines.empty()) return;
  if (job.log) (void)write_all(job.log.get(), lines);
  for (const std::string_view line : split_lines(lines))
    if (is_said(line)) job.last_line = std::string(utf8_prefix(line, kMostOfLastLine));
  view_.tell_lines(job, lines);
}

void Batch::take_ends() {
  for (BatchJob& job : jobs_.all()) {
    if (job.state != State::running) continue;
    const bool ended = job.process->reap();
    take_lines(job);
    if (ended) take_end(job);
  }
}

/// What a killed run has used is known once it goes on; until then its budget stays set aside.
void Batch::take_use(const BatchJob& job) {
  const BatchRow& row = job.row;
  Spent::Use use = spent_.of_record(job.run->name);
  if (row.status != BatchRow::kKilled)
    use = {.cost = row.cost.value_or(Cost()), .tokens = row.tokens, .time = row.duration};
  use.starts = row.attempts;
  spent_.add(job.run->name, row.run_id, use);
  spent_.set_time(time_.taken());
}

void Batch::take_end(BatchJob& job) {
  room_.take_peak(job.process->peak_memory());
  read_run_end(job, folder_.run(job.run->name));
  job.process.reset();
  job.state = State::waiting;
  take_use(job);
  if (job.row.status != BatchRow::kKilled) reserve_.give_back(job);
  if (job.row.code == ExitCode::budget && job.lowered) reserve_.exhaust();
  const bool again = retries_.again(job, stop_);
  view_.tell_end(job, again);
  if (!again) settle(job);
}

/// Its end is final, as far as this start of the batch goes.
void Batch::settle(BatchJob& job) {
  job.state = State::ended;
  job.log = Fd();
  const BatchRow& row = job.row;
  append_result(row, folder_.path() / files_.results);
  view_.tell_settled(job);
  if (row.may_be_retried()) return;
  if (!row.passed() && !keep_going_ && row.code != ExitCode::budget) stop_.fail(row.name);
  checkouts_.release(*job.run);
}

void Batch::end_without_start(BatchJob& job) const {
  BatchRow& row = job.row;
  job.state = State::ended;
  if (!row.status.empty()) return;  // it waited for another start
  row.status = BatchRow::kNotStarted;
  row.reason = stop_.reason();
  row.retryable = stop_.may_go_on();
  if (time_.over() && stop_.signal() == 0) {
    row.status = status_word(ExitCode::budget);
    row.code = ExitCode::budget;
  }
}

BatchStory Batch::story() const {
  BatchStory story{.name = plan_.called, .shard = plan_.shard.text()};
  for (const BatchJob& job : jobs_.all()) story.rows.push_back(job.row);
  story.end = judge_batch(story.rows);
  if (stop_.signal() != 0) {
    story.end.code = stop_.code_of_signal();
    story.end.cause = stop_.reason() + "; " + story.end.cause;
    story.end.next = "the same command goes on";
  } else if (!stop_.given_up().empty() && story.end.code != ExitCode::task_failed) {
    story.end.cause = stop_.given_up() + "; " + story.end.cause;
  }
  return story;
}

BatchStory Batch::execute() {
  begin();
  for (;;) {
    start_due();
    if (jobs_.count(State::running) == 0 &&
        (!stop_.reason().empty() || jobs_.count(State::waiting) == 0))
      break;
    view_.show(jobs_, time_, retries_.pace().next_start());
    view_.write_some();
    wait();
    take_signal();
    take_ends();
  }
  for (BatchJob& job : jobs_.all())
    if (job.state == State::waiting) end_without_start(job);
  spent_.set_time(time_.taken());
  BatchStory told = story();
  write_batch_files(told, folder_.path(), files_);
  tell_ci(told, folder_.path(), files_, style_.quiet);
  view_.tell_end(told, time_, folder_.path() / files_.results, plan_.out / files_.summary);
  return told;
}

}  // namespace

ExitCode run_batch(const BatchOptions& options, const OutputStyle& style) {
  BatchStatus status(options);
  try {
    Batch batch(options, style);
    const BatchStory story = batch.execute();
    status.tell_end(story, batch.out());
    return story.end.code;
  } catch (const std::exception& error) {
    status.tell_failure(error);
    throw;
  }
}

}  // namespace sortie
