#include "app/run/attempts.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/artifacts/flag_outputs.h"
#include "app/artifacts/output_folder.h"
#include "app/inputs/inputs.h"
#include "app/inputs/run_key.h"
#include "app/run/attempt_log.h"
#include "app/run/attempt_process.h"
#include "app/run/attempt_signals.h"
#include "app/run/attempts_end.h"
#include "app/run/run_start.h"
#include "app/run/signals.h"
#include "app/show/ci_log.h"
#include "app/show/progress.h"
#include "ci/attempts.h"
#include "ci/result.h"
#include "core/base/error.h"
#include "core/base/patient_io.h"
#include "core/files/files.h"

namespace sortie {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// An attempt that was asked to end and has not is killed then: longer than its own patience.
constexpr std::chrono::seconds kKillAfter = Signals::kPatience + std::chrono::seconds(5);

/// A copy of the key's descriptor that every attempt can read from its beginning, in memory of the
/// system alone. Nothing if the key has another source.
std::optional<Fd> copied_key(const RunOptions& options) {
  Fd opened;
  int source = options.api_key_fd.value_or(-1);
  struct stat status {};
  if (!options.api_key_file.empty() && ::stat(options.api_key_file.c_str(), &status) == 0 &&
      !S_ISREG(status.st_mode)) {
    opened = Fd(::open(options.api_key_file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    source = opened.get();
  }
  if (source < 0) return std::nullopt;
  ReadBytes key = read_to_end(source, {.max_bytes = 1u << 16});
  if (!key.problem.empty()) throw InputError("the API key " + key.problem);
  Fd copy(::memfd_create("sortie-key", MFD_CLOEXEC));
  const bool written = copy && write_all(copy.get(), key.bytes);
  ::explicit_bzero(key.bytes.data(), key.bytes.size());
  if (!written) throw system_error("memfd_create", ExitCode::environment);
  if (options.api_key_fd) ::close(*options.api_key_fd);
  return copy;
}

class Attempts {
 public:
  explicit Attempts(const AttemptsParts& parts)
      : inputs_(parts.inputs),
        options_(parts.options),
        style_(parts.style),
        attempt_style_(relayed_style(style_, AttemptLog::mark_columns())),
        run_(parts.run),
        best_of_(inputs_.task.best_of),
        started_(SteadyClock::now()),
        budget_(started_ + inputs_.task.budget.time),
        key_(copied_key(options_)),
        out_(parts.out),
        log_(style_),
        run_key_(run_key(parts.key_parts)) {}

  ExitCode execute();

 private:
  void begin();
  void start_due();
  void start(int number);
  ExitCode work(const Attempt& attempt);
  std::string why_none_more() const;
  void wait();
  void take_signal();
  void take_ends();
  void take_end(AttemptProcess& process);
  AttemptEnd end_of(const AttemptProcess& process);
  void end_running(int signal);
  bool any_runs() const;
  ExitCode end();

  const RunInputs& inputs_;
  const RunOptions& options_;
  OutputStyle style_;
  OutputStyle attempt_style_;  ///< for this process's terminal: an attempt has a pipe
  const RunOne& run_;
  const TaskBestOf& best_of_;
  AttemptSignals signals_;
  SteadyClock::time_point started_;
  SharedBudget budget_;
  std::optional<Fd> key_;
  OutputFolder& out_;
  AttemptLog log_;
  std::string run_key_;
  std::vector<std::unique_ptr<AttemptProcess>> processes_;
  std::vector<AttemptEnd> ends_;
  int passed_ = 0;        ///< the number of the attempt that makes the others needless; 0: none
  std::string hopeless_;  ///< why another attempt would fail as well; "" if it might not
  int stopped_by_ = 0;    ///< a signal of the operator
  std::optional<SteadyClock::time_point> kill_at_;
};

void Attempts::begin() {
  // The environment may hold keys, and the descriptor of one may be open.
  ::prctl(PR_SET_DUMPABLE, 0);
  out_.write("result.json",
             write_json_pretty(running_json(inputs_.run_id, run_key_, names_saved(inputs_.task))));
  remove_stale(options_);
}

/// Why no further attempt is started; "" if one may be.
std::string Attempts::why_none_more() const {
  if (passed_ != 0 || !hopeless_.empty()) return hopeless_;
  if (stopped_by_ != 0) return std::string("stopped by ") + signal_name(stopped_by_);
  const SharedBudget::Use used = budget_.others(-1);
  const TaskBudget& limits = inputs_.task.budget;
  const bool spent = used.turns >= limits.turns || used.tokens >= limits.tokens ||
                     SteadyClock::now() >= budget_.deadline() ||
                     (used.cost > Cost() && used.cost >= Cost::usd(limits.cost));
  return spent ? "the budget of all attempts is used up" : "";
}

bool Attempts::any_runs() const {
  return std::any_of(processes_.begin(), processes_.end(),
                     [](const auto& process) { return process->runs(); });
}

void Attempts::start_due() {
  const auto running = [this] {
    return std::count_if(processes_.begin(), processes_.end(),
                         [](const auto& process) { return process->runs(); });
  };
  while (passed_ == 0 && static_cast<int>(processes_.size()) < best_of_.count &&
         running() < best_of_.parallel && why_none_more().empty())
    start(static_cast<int>(processes_.size()) + 1);
}

void Attempts::start(int number) {
  const Attempt attempt{.number = number, .top = out_.path(), .budget = &budget_};
  processes_.push_back(std::make_unique<AttemptProcess>(number, out_.path(),
                                                        [this, attempt] { return work(attempt); }));
}

/// In the attempt's own process.
ExitCode Attempts::work(const Attempt& attempt) {
  RunInputs inputs = inputs_;
  if (attempt.number > 1) inputs.run_id = new_run_id();
  RunOptions options = options_;
  options.out = (std::filesystem::path(options_.out) / attempt_folder(attempt.number)).string();
  options.diff.clear();
  options.last_message.clear();
  if (!options.record.empty()) options.record += "." + attempt_folder(attempt.number);
  if (key_) {
    // A position of its own: the attempts read at the same time.
    const std::string path = "/proc/self/fd/" + std::to_string(key_->get());
    const int own = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (own < 0) throw path_error("the API key", errno);
    options.api_key_fd = own;
    options.api_key_file.clear();
    key_.reset();
  }
  const HeldSignals held_signals;
  OutputFolder out(options.out);
  out.take(Previous::nothing);
  return run_(std::move(inputs), options, attempt_style_, out, Previous::nothing, &attempt);
}

void Attempts::end_running(int signal) {
  for (const auto& process : processes_) process->signal(signal);
  if (!kill_at_) kill_at_ = SteadyClock::now() + kKillAfter;
}

void Attempts::wait() {
  std::vector<pollfd> sources = {{signals_.descriptor(), POLLIN, 0}};
  for (const auto& process : processes_)
    if (process->runs()) sources.push_back({process->lines(), POLLIN, 0});
  if (log_.has_waiting()) sources.push_back({STDERR_FILENO, POLLOUT, 0});
  int patience = -1;
  if (kill_at_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*kill_at_ - SteadyClock::now());
    patience = static_cast<int>(std::max<std::int64_t>(0, left.count()));
  }
  ::poll(sources.data(), sources.size(), patience);
  if (kill_at_ && SteadyClock::now() >= *kill_at_) {
    for (const auto& process : processes_) process->signal(SIGKILL);
    kill_at_.reset();
  }
}

/// The attempts know what a second signal means.
void Attempts::take_signal() {
  const int signal = signals_.take();
  if (signal == 0) return;
  if (stopped_by_ == 0) stopped_by_ = signal;
  end_running(signal);
}

void Attempts::take_ends() {
  for (const auto& process : processes_) {
    const bool ran = process->runs();
    const bool ended = ran && process->reap();
    const std::string lines = ran ? process->take_lines() : "";
    if (passed_ == 0) log_.relay(process->number(), lines);  // else nobody needs them
    if (ended) take_end(*process);
  }
}

AttemptEnd Attempts::end_of(const AttemptProcess& process) {
  const int number = process.number();
  try {
    const auto file = out_.path() / attempt_folder(number) / "result.json";
    if (auto end = read_attempt_end(number, parse_json(read_file(file, kMostResultBytes))))
      return *end;
  } catch (const std::exception&) {
    // it has none
  }
  AttemptEnd end{.number = number};
  const std::string killer = process.killed_by();
  end.status = killer.empty() ? status_word(*process.code()) : AttemptEnd::kKilled;
  end.code = killer.empty() ? *process.code() : ExitCode::environment;
  end.reason = "attempt " + std::to_string(number) +
               (killer.empty() ? " ended before it began" : " was killed by " + killer);
  const SharedBudget::Share share = budget_.share(number - 1);
  const SharedBudget::Use used = share.used + share.aside;
  end.turns = used.turns;
  end.tool_calls = used.tool_calls;
  end.tokens = used.tokens;
  end.cost = used.cost;
  return end;
}

void Attempts::take_end(AttemptProcess& process) {
  AttemptEnd end = end_of(process);
  if (process.killed_by().empty()) budget_.settle(process.number() - 1);
  end.place = static_cast<int>(ends_.size()) + 1;
  if (passed_ != 0 && !end.passed()) end.status = AttemptEnd::kStopped;
  if (end.status == AttemptEnd::kKilled) log_.say(end.reason);
  if (passed_ == 0 && end.passed() &&
      (best_of_.pick == Pick::first_passing || end.status == "nothing-to-do")) {
    passed_ = end.number;
    if (any_runs()) log_.say("attempt " + std::to_string(passed_) + " has passed: the others end");
    end_running(SIGTERM);
  }
  // What another attempt would meet as well.
  for (const ExitCode code : {ExitCode::usage, ExitCode::auth, ExitCode::environment})
    if (end.code == code && end.has_ended() && hopeless_.empty()) hopeless_ = end.reason;
  ends_.push_back(std::move(end));
}

ExitCode Attempts::execute() {
  begin();
  start_due();
  while (any_runs()) {
    wait();
    take_signal();
    take_ends();
    start_due();
    log_.write_some();
  }
  key_.reset();
  return end();
}

ExitCode Attempts::end() {
  const std::string none_more = why_none_more();
  for (int number = static_cast<int>(processes_.size()) + 1; number <= best_of_.count; ++number)
    ends_.push_back({.number = number,
                     .status = AttemptEnd::kNotStarted,
                     .code = ExitCode::budget,
                     .reason = none_more,
                     .cost = Cost()});
  std::sort(ends_.begin(), ends_.end(),
            [](const AttemptEnd& a, const AttemptEnd& b) { return a.number < b.number; });
  std::optional<ExitCode> stopped;
  if (stopped_by_ != 0 && passed_ == 0)
    stopped = stopped_by_ == SIGINT ? ExitCode::interrupted : ExitCode::terminated;
  const std::size_t picked = pick_attempt(best_of_.pick, ends_, stopped);
  for (const AttemptEnd& one : ends_) log_.say_end(one);
  const bool was_started = picked < processes_.size();
  RunResult result =
      end_attempts({.inputs = inputs_,
                    .options = options_,
                    .out = out_,
                    .run_key = run_key_,
                    .attempts = ends_,
                    .picked = ends_[picked],
                    .used = sum_of(ends_),
                    .duration = std::chrono::duration_cast<std::chrono::milliseconds>(
                        SteadyClock::now() - started_),
                    .events = was_started ? processes_[picked]->events() : -1});
  if (result.code == ExitCode::success) out_.remove_state();  // of attempts that were killed
  result.reason = "attempt " + std::to_string(ends_[picked].number) + " of " +
                  std::to_string(best_of_.count) + ": " + result.reason;
  const std::string last = last_line(result, "", options_.out, Redactor());
  const bool fine = result.code == ExitCode::success;
  if (!fine && !style_.quiet)
    log_.say_command(CiLog(ci_systems()).error("sortie: " + status_of(result), result.reason));
  log_.finish(fine && style_.quiet ? "" : last);
  return result.code;
}

}  // namespace

ExitCode run_attempts(const AttemptsParts& parts) { return Attempts(parts).execute(); }

}  // namespace sortie
