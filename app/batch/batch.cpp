#include "app/batch/batch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/artifacts/found_output.h"
#include "app/batch/batch_budget.h"
#include "app/batch/batch_events.h"
#include "app/batch/batch_folder.h"
#include "app/batch/batch_job.h"
#include "app/batch/batch_plan.h"
#include "app/batch/batch_rates.h"
#include "app/batch/batch_results.h"
#include "app/batch/batch_screen.h"
#include "app/batch/batch_table.h"
#include "app/batch/checkout.h"
#include "app/batch/machine_room.h"
#include "app/batch/run_process.h"
#include "app/batch/spent.h"
#include "app/run/attempt_key.h"
#include "app/run/attempt_signals.h"
#include "app/run/signals.h"
#include "app/show/standard_output.h"
#include "ci/result.h"
#include "core/base/error.h"
#include "core/batch/pace.h"
#include "core/files/files.h"
#include "core/files/new_file_mode.h"
#include "core/text/text.h"
#include "core/workspace/tree.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;
using State = BatchJob::State;

/// Runs that were asked to end and have not are killed then, so that the batch ends within 5 s.
constexpr std::chrono::milliseconds kKillAfter{4500};
/// A run that goes on so long after the time of all is killed.
constexpr std::chrono::seconds kOverTime{90};
constexpr std::chrono::milliseconds kTick{1000};  ///< between two looks at the table
constexpr std::chrono::seconds kHeartbeat{30};
/// A provider that asks for more is not waited for: the same command later goes on.
constexpr std::chrono::hours kLongestWait{1};
constexpr std::chrono::seconds kBusy{1};
constexpr std::uint64_t kMostOfLastLine = 4096;

Json result_in(const fs::path& folder) {
  const TextFile file = read_bytes_file(folder / "result.json", kMostResultBytes);
  if (!file.problem.empty()) return {};
  try {
    return parse_json(file.text);
  } catch (const JsonError&) {
    return {};
  }
}

class Batch {
 public:
  Batch(const BatchOptions& options, const OutputStyle& style)
      : options_(options),
        style_(style),
        plan_(make_batch_plan(options)),
        folder_(plan_.out, plan_.shard),
        files_(batch_files(folder_, plan_.manifest.predictions)),
        screen_(style),
        events_(options.json),
        key_(options.run),
        started_(SteadyClock::now()),
        spent_(folder_.path() / folder_.with_shard("state/spent", ".jsonl")),
        budget_(budget_of(options, plan_)),
        reserve_(plan_, budget_, spent_),
        auto_jobs_(jobs_of(options, plan_) == 0),
        jobs_(auto_jobs_ ? jobs_for_cores() : jobs_of(options, plan_)),
        pace_(plan_.manifest.retry, jobs_),
        random_(std::random_device()()),
        keep_going_(options.keep_going || plan_.manifest.keep_going) {}

  ExitCode execute();

 private:
  static BatchBudget budget_of(const BatchOptions& options, const BatchPlan& plan) {
    BatchBudget budget = plan.manifest.budget;
    if (options.run.max_cost) budget.cost = options.run.max_cost;
    if (options.run.max_tokens) budget.tokens = options.run.max_tokens;
    return budget;
  }
  /// 0: auto
  static int jobs_of(const BatchOptions& options, const BatchPlan& plan) {
    if (options.jobs == "auto") return 0;
    if (!options.jobs.empty()) return std::stoi(options.jobs);
    return plan.manifest.jobs.value_or(0);
  }

  void begin();
  void add_job(const BatchRun& run);
  void start_due();
  bool may_start(const BatchJob& job) const;
  bool start(BatchJob& job);
  std::optional<std::chrono::milliseconds> time_left() const;
  bool has_memory() const;
  std::string why_no_more() const;
  void wait();
  SteadyClock::time_point next_look() const;
  void take_signal();
  void take_ends();
  void take_lines(BatchJob& job);
  void take_end(BatchJob& job);
  void read_end(BatchJob& job) const;
  bool retries(BatchJob& job);
  void settle(BatchJob& job);
  void end_without_start(BatchJob& job);
  void release_checkout(const BatchRun& run);
  void append_result(const BatchRow& row) const;
  void signal_all(int number);
  void show();
  std::size_t count(State state) const {
    return static_cast<std::size_t>(std::count_if(
        all_.begin(), all_.end(), [state](const BatchJob& job) { return job.state == state; }));
  }
  ExitCode end();

  const BatchOptions& options_;
  OutputStyle style_;
  BatchPlan plan_;
  BatchFolder folder_;
  BatchFiles files_;
  BatchScreen screen_;
  BatchEvents events_;
  AttemptKey key_;
  AttemptSignals signals_;
  SteadyClock::time_point started_;
  Spent spent_;
  BatchBudget budget_;
  BatchReserve reserve_;
  bool auto_jobs_;
  int jobs_;
  Pace pace_;
  std::mt19937 random_;
  bool keep_going_;
  fs::path rates_;
  std::vector<BatchJob> all_;
  std::map<std::string, int> checkouts_;  ///< runs that still need it, by its name
  std::uint64_t memory_of_run_ = kMemoryOfRun;
  std::string failed_;    ///< the run whose failure stops new starts; "" for none
  std::string given_up_;  ///< why nothing more is started; "" for nothing
  int stopped_by_ = 0;
  std::optional<SteadyClock::time_point> kill_at_;
  SteadyClock::time_point drawn_{};
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
  rates_ = rate_limits_of(plan_.manifest, folder_.state());
  spent_.set_time(0ms);
  for (const std::size_t index : plan_.own) add_job(plan_.runs[index]);
  // What was begun comes first, then what is only to be returned.
  std::stable_sort(all_.begin(), all_.end(), [](const BatchJob& a, const BatchJob& b) {
    return std::pair(!a.begun, !a.finished) < std::pair(!b.begun, !b.finished);
  });
  screen_.say("batch " + plan_.called + ": " + std::to_string(all_.size()) +
              (all_.size() == 1 ? " run" : " runs") +
              (plan_.shard.given ? " of shard " + plan_.shard.text() : "") +
              (plan_.shard.from.empty() ? "" : " (by " + plan_.shard.from + ")") + ", " +
              std::to_string(jobs_) + " at a time" + (auto_jobs_ ? " (auto)" : "") + ", in " +
              plan_.out.string());
  events_.print(Json::object({{"type", "batch.started"},
                              {"manifest", plan_.called},
                              {"runs", static_cast<std::int64_t>(all_.size())},
                              {"jobs", jobs_},
                              {"shard", plan_.shard.given ? Json(plan_.shard.text()) : Json()},
                              {"out", folder_.path().string()}}));
}

void Batch::add_job(const BatchRun& run) {
  BatchJob job{.run = &run};
  BatchRow& row = job.row;
  row.name = run.name;
  row.task = plan_.manifest.tasks[run.task].name;
  row.vars = run.vars;
  row.workspace = BatchPlan::place_of(run);
  row.instance = run.instance;
  row.shard = plan_.shard.text();
  row.out = "runs/" + run.name;
  row.model = plan_.task_of(run).model;
  row.attempts = spent_.of(run.name).starts;
  const Json found = result_in(folder_.run(run.name));
  job.begun = found.string_at("status") == "running";
  job.finished =
      found.string_at("status") == "success" || found.string_at("status") == "nothing-to-do";
  if (!run.git.empty())
    ++checkouts_[Checkout{.git = run.git, .commit = run.commit, .depth = run.depth}.name()];
  all_.push_back(std::move(job));
}

std::optional<std::chrono::milliseconds> Batch::time_left() const {
  if (!budget_.time) return std::nullopt;
  const auto used = spent_.earlier_time() + std::chrono::duration_cast<std::chrono::milliseconds>(
                                                SteadyClock::now() - started_);
  return std::max(*budget_.time - used, 0ms);
}

/// One run may always be at work; a further one needs what the largest so far has taken.
bool Batch::has_memory() const {
  return !auto_jobs_ || count(State::running) == 0 || free_memory() >= 2 * memory_of_run_;
}

/// Why no further run is started; "" if one may be.
std::string Batch::why_no_more() const {
  if (stopped_by_ != 0) return std::string("stopped by ") + signal_name(stopped_by_);
  if (!given_up_.empty()) return given_up_;
  if (!failed_.empty()) return "not started, since " + failed_ + " had failed (--keep-going)";
  if (time_left() == 0ms) return "the time of the batch is over";
  return "";
}

bool Batch::may_start(const BatchJob& job) const {
  const auto now = SteadyClock::now();
  return job.state == State::waiting && job.ready <= now && pace_.next_start() <= now;
}

void Batch::start_due() {
  if (!why_no_more().empty()) return;
  for (BatchJob& job : all_) {
    if (count(State::running) >= static_cast<std::size_t>(pace_.width()) || !has_memory()) return;
    if (may_start(job)) start(job);
  }
}

bool Batch::start(BatchJob& job) {
  RunGrant grant;
  switch (reserve_.reserve(job, all_, grant)) {
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
  if (const auto left = time_left())
    grant.time =
        std::min(plan_.task_of(*job.run).budget.time, *left + spent_.of_record(job.run->name).time);
  if (!job.log)
    job.log = Fd(::open(folder_.log(job.run->name).c_str(),
                        O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, new_file_mode()));
  ++job.starts;
  ++job.row.attempts;
  job.started = SteadyClock::now();
  job.state = State::running;
  job.last_line.clear();
  const BatchRunStart start{options_, plan_, folder_, *job.run, grant, rates_, key_};
  job.process = std::make_unique<AttemptProcess>(job.starts, folder_.state(),
                                                 [&start]() -> ExitCode { become_run(start); });
  if (style_.verbose || job.starts > 1)
    screen_.say(job.run->name + ": started" +
                (job.starts > 1 ? " again, for the " + std::to_string(job.starts) + ". time" : ""));
  events_.print(Json::object(
      {{"type", "run.started"}, {"name", job.run->name}, {"attempt", job.row.attempts}}));
  return true;
}

SteadyClock::time_point Batch::next_look() const {
  const auto now = SteadyClock::now();
  auto next = kill_at_.value_or(now + kHeartbeat);
  if (screen_.has_table() || auto_jobs_) next = std::min(next, now + kTick);
  next = std::min(next, screen_.last() + kHeartbeat);
  if (why_no_more().empty())
    for (const BatchJob& job : all_)
      if (job.state == State::waiting && std::max(job.ready, pace_.next_start()) > now)
        next = std::min(next, std::max(job.ready, pace_.next_start()));
  if (const auto left = time_left(); left && stopped_by_ == 0 && *left > 0ms)
    next = std::min(next, now + *left);
  return next;
}

void Batch::wait() {
  std::vector<pollfd> sources = {{signals_.descriptor(), POLLIN, 0}};
  for (const BatchJob& job : all_)
    if (job.state == State::running) sources.push_back({job.process->lines(), POLLIN, 0});
  if (screen_.has_waiting()) sources.push_back({STDERR_FILENO, POLLOUT, 0});
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(next_look() - SteadyClock::now()).count();
  ::poll(sources.data(), sources.size(),
         static_cast<int>(
             std::clamp<std::int64_t>(left, 0, std::chrono::milliseconds(kHeartbeat).count())));
  // Each ends by itself when its time is over, unless it is blocked or was stopped.
  if (budget_.time && time_left() == 0ms && !kill_at_) kill_at_ = SteadyClock::now() + kOverTime;
  if (kill_at_ && SteadyClock::now() >= *kill_at_) signal_all(SIGKILL);
}

void Batch::signal_all(int number) {
  for (const BatchJob& job : all_)
    if (job.state == State::running) job.process->signal(number);
}

/// A second signal ends all of it at once.
void Batch::take_signal() {
  const int signal = signals_.take();
  if (signal == 0) return;
  const bool again = stopped_by_ != 0;
  if (!again) {
    stopped_by_ = signal;
    screen_.say("stopped by " + std::string(signal_name(signal)) + ": " +
                std::to_string(count(State::running)) + " runs are told to end");
    kill_at_ = SteadyClock::now() + kKillAfter;
  }
  signal_all(signal);
}

void Batch::take_lines(BatchJob& job) {
  const std::string lines = job.process->take_lines();
  if (lines.empty()) return;
  if (job.log) (void)write_all(job.log.get(), lines);
  for (const std::string_view line : split_lines(lines)) {
    if (trimmed(line).empty() || line.starts_with("::")) continue;
    job.last_line = std::string(utf8_prefix(line, kMostOfLastLine));
    if (style_.verbose) screen_.say(job.run->name + " | " + std::string(line));
  }
}

void Batch::take_ends() {
  for (BatchJob& job : all_) {
    if (job.state != State::running) continue;
    const bool ended = job.process->reap();
    take_lines(job);
    if (ended) take_end(job);
  }
}

/// What the run says of its end; where it does not, what its process does.
void Batch::read_end(BatchJob& job) const {
  BatchRow& row = job.row;
  const auto code = job.process->code();
  const Json result = result_in(folder_.run(job.run->name));
  row.retryable = false;
  row.retry_after_s.reset();
  row.next.clear();
  row.diff.clear();
  if (code != ExitCode::busy && read_run_result(result, row) && row.code == code) return;
  row.code = code;
  row.verified.reset();
  row.diff.clear();
  if (!code) {
    row.status = BatchRow::kKilled;
    row.reason = "its process was killed by " + job.process->killed_by();
    row.next = "the same command goes on with it";
    row.retryable = true;
    row.run_id = result.string_at("run_id");
    return;
  }
  row.status = status_word(*code);
  row.retryable = is_retryable(*code);
  // "sortie: usage (2): CAUSE; next: …"
  std::string_view line = job.last_line;
  const std::string begin =
      "sortie: " + row.status + " (" + std::to_string(static_cast<int>(*code)) + "): ";
  if (line.starts_with(begin)) line.remove_prefix(begin.size());
  const std::size_t next = line.find("; next: ");
  row.reason = line.empty() ? "it ended before it began" : std::string(line.substr(0, next));
  if (next != std::string_view::npos) row.next = line.substr(next + 8);
}

/// Whether the run is to be started again, and when.
bool Batch::retries(BatchJob& job) {
  const BatchRow& row = job.row;
  const auto now = SteadyClock::now();
  const bool of_provider = row.code == ExitCode::unavailable || row.code == ExitCode::limited;
  if (of_provider) {
    std::optional<std::chrono::seconds> after;
    if (row.retry_after_s) after = std::chrono::seconds(*row.retry_after_s);
    if (after && *after > kLongestWait) {
      if (given_up_.empty())
        given_up_ = "the provider's limit ends only in " + std::to_string(after->count() / 60) +
                    " min: " + row.reason;
      return false;
    }
    std::uniform_real_distribution<double> jitter(0.0, 1.0);
    pace_.limited(now, job.started, after, jitter(random_));
  }
  if (!row.may_be_retried() || stopped_by_ != 0 || time_left() == 0ms) return false;
  if (job.starts >= plan_.manifest.retry.attempts) return false;
  job.ready = now;
  if (row.code == ExitCode::busy || row.code == ExitCode::conflict)
    job.ready = now + kBusy * job.starts;
  return true;
}

void Batch::take_end(BatchJob& job) {
  memory_of_run_ = std::max(memory_of_run_, job.process->peak_memory());
  read_end(job);
  job.process.reset();
  job.state = State::waiting;
  BatchRow& row = job.row;
  const Spent::Use before = spent_.of_record(job.run->name);
  // What a killed run has used is known once it goes on; until then its budget stays set aside.
  const bool known = row.status != BatchRow::kKilled;
  spent_.add(job.run->name, row.run_id,
             known ? Spent::Use{.cost = row.cost.value_or(Cost()),
                                .tokens = row.tokens,
                                .time = row.duration,
                                .starts = row.attempts}
                   : Spent::Use{.cost = before.cost,
                                .tokens = before.tokens,
                                .time = before.time,
                                .starts = row.attempts});
  spent_.set_time(
      std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - started_));
  if (known) reserve_.give_back(job);
  if (row.passed()) pace_.served();
  if (row.code == ExitCode::budget && job.lowered) reserve_.exhaust();
  const bool again = retries(job);
  events_.print([&] {
    Json event = Json::object({{"type", "run.ended"}});
    const Json fields = batch_row_json(row);
    for (const auto& [name, value] : fields.members()) event.set(name, value);
    event.set("again", again);
    return event;
  }());
  if (again) {
    screen_.say(job.run->name + ": " + row.status + ", is started again: " + row.reason);
    return;
  }
  settle(job);
}

/// Its end is final, as far as this start of the batch goes.
void Batch::settle(BatchJob& job) {
  job.state = State::ended;
  job.log = Fd();
  const BatchRow& row = job.row;
  append_result(row);
  if (job.starts > 0 || row.code != ExitCode::budget) screen_.say(end_line(row));
  if (!row.passed() && !keep_going_ && failed_.empty() && !row.may_be_retried() &&
      row.code != ExitCode::budget)
    failed_ = row.name;
  if (!row.may_be_retried()) release_checkout(*job.run);
}

void Batch::append_result(const BatchRow& row) const {
  const fs::path path = folder_.path() / files_.results;
  const Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
                       new_file_mode()));
  if (!file || !write_all(file.get(), write_json(batch_row_json(row)) + "\n"))
    throw path_error(path.string(), errno);
}

/// The tree of a commit goes with the last run that needs it; another start makes it again.
void Batch::release_checkout(const BatchRun& run) {
  if (run.git.empty()) return;
  const std::string name =
      Checkout{.git = run.git, .commit = run.commit, .depth = run.depth}.name();
  if (--checkouts_[name] > 0) return;
  std::error_code error;
  fs::remove(folder_.checkouts() / ("." + name + ".commit"), error);
  remove_tree(folder_.checkouts() / name);
}

void Batch::show() {
  if (screen_.has_table()) {
    const auto now = SteadyClock::now();
    if (now - drawn_ < 200ms) return;
    drawn_ = now;
    screen_.look_at_size();
    screen_.draw(table_rows({.jobs = all_,
                             .started = started_,
                             .now = now,
                             .next_start = pace_.next_start(),
                             .lines = screen_.lines(),
                             .columns = screen_.columns()}));
    return;
  }
  if (SteadyClock::now() - screen_.last() >= kHeartbeat)
    screen_.say(count_line(all_, started_, SteadyClock::now(), pace_.next_start()));
}

void Batch::end_without_start(BatchJob& job) {
  BatchRow& row = job.row;
  job.state = State::ended;
  if (!row.status.empty()) return;  // it waited for another start
  row.status = BatchRow::kNotStarted;
  row.reason = why_no_more();
  row.retryable = stopped_by_ != 0 || !given_up_.empty();
  if (time_left() == 0ms && stopped_by_ == 0) {
    row.status = status_word(ExitCode::budget);
    row.code = ExitCode::budget;
  }
}

ExitCode Batch::execute() {
  begin();
  for (;;) {
    start_due();
    const bool more =
        count(State::running) > 0 || (why_no_more().empty() && count(State::waiting) > 0);
    if (!more) break;
    show();
    screen_.write_some();
    wait();
    take_signal();
    take_ends();
  }
  return end();
}

ExitCode Batch::end() {
  for (BatchJob& job : all_)
    if (job.state == State::waiting) end_without_start(job);
  BatchStory story{.name = plan_.called, .shard = plan_.shard.text()};
  for (const BatchJob& job : all_) story.rows.push_back(job.row);
  story.end = judge_batch(story.rows);
  if (stopped_by_ != 0) {
    story.end.code = stopped_by_ == SIGINT ? ExitCode::interrupted : ExitCode::terminated;
    story.end.cause =
        std::string("stopped by ") + signal_name(stopped_by_) + "; " + story.end.cause;
    story.end.next = "the same command goes on";
  } else if (!given_up_.empty() && story.end.code != ExitCode::task_failed) {
    story.end.cause = given_up_ + "; " + story.end.cause;
  }
  spent_.set_time(
      std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - started_));
  write_batch_files(story, folder_.path(), files_);
  tell_ci(story, folder_.path(), files_, style_.quiet);
  events_.print(Json::object({{"type", "batch.ended"},
                              {"status", status_word(story.end.code)},
                              {"exit_code", static_cast<int>(story.end.code)},
                              {"cause", story.end.cause},
                              {"next", story.end.next},
                              {"results", (folder_.path() / files_.results).string()}}));
  const bool fine = story.end.code == ExitCode::success;
  if (!style_.quiet) screen_.say(sum_line(story.rows, started_, SteadyClock::now()));
  screen_.finish(fine && style_.quiet ? ""
                                      : batch_last_line(story.end, plan_.out / files_.summary));
  return story.end.code;
}

}  // namespace

ExitCode run_batch(const BatchOptions& options, const OutputStyle& style) {
  return Batch(options, style).execute();
}

ExitCode list_batch(const BatchOptions& options) {
  const BatchPlan plan = make_batch_plan(options);
  std::string text;
  for (const std::size_t index : plan.own) {
    const BatchRun& run = plan.runs[index];
    const ManifestTask& task = plan.manifest.tasks[run.task];
    if (options.json) {
      Json vars = Json::object();
      for (const auto& [name, value] : run.vars) vars.set(name, value);
      const std::string place = BatchPlan::place_of(run);
      text += write_json(Json::object(
                  {{"name", run.name},
                   {"task", task.task.string()},
                   {"workspace", place.empty() ? Json() : Json(place)},
                   {"vars", std::move(vars)},
                   {"instance", run.instance.empty() ? Json() : Json(run.instance)}})) +
              "\n";
      continue;
    }
    text += run.name + "  " + fs::relative(task.task).string();
    if (const std::string place = BatchPlan::place_of(run); !place.empty()) text += "  " + place;
    for (const auto& [name, value] : run.vars) text += "  " + name + "=" + one_line(value, 60);
    text += "\n";
  }
  if (options.json)
    print_data(text);
  else
    print_out(text);
  return ExitCode::success;
}

}  // namespace sortie
