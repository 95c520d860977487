#include "app/run/attempts.h"

#include <poll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/artifacts/flag_outputs.h"
#include "app/artifacts/output_folder.h"
#include "app/artifacts/run_mark.h"
#include "app/inputs/inputs.h"
#include "app/inputs/run_key.h"
#include "app/run/attempt_key.h"
#include "app/run/attempt_log.h"
#include "app/run/attempt_process.h"
#include "app/run/attempt_signals.h"
#include "app/run/attempts_end.h"
#include "app/run/found_attempts.h"
#include "app/run/found_run.h"
#include "app/run/later_secrets.h"
#include "app/run/resumption.h"
#include "app/run/run_apply.h"
#include "app/run/run_start.h"
#include "app/run/signals.h"
#include "app/show/ci_log.h"
#include "app/show/progress.h"
#include "ci/attempts.h"
#include "ci/result.h"
#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/workspace/tree.h"
#include "policies/environment/known_secrets.h"

namespace sortie {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// An attempt that was asked to end and has not is killed then: longer than its own patience.
constexpr std::chrono::seconds kKillAfter = Signals::kPatience + std::chrono::seconds(5);
/// So is one that goes on after the time of all: a run by itself may take a minute for its end.
constexpr std::chrono::seconds kOverTime{90};
constexpr std::chrono::milliseconds kLongestPoll = std::chrono::hours(1);

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
        key_(options_),
        out_(parts.out),
        apply_(options_, inputs_),
        key_parts_(parts.key_parts),
        found_(parts.previous == Previous::resumed
                   ? find_attempts(out_, best_of_.count, best_of_.pick)
                   : FoundAttempts()),
        budget_(started_ +
                std::max(std::chrono::milliseconds(0), inputs_.task.budget.time - found_.time)),
        log_(style_),
        run_key_(run_key(parts.key_parts)) {
    learn(redactor_, inputs_.policy, known_secrets(inputs_.policy, own_environment()).values);
  }

  ExitCode execute();

 private:
  void begin();
  void write_running(int picked) const;
  void take_up();
  void start_due();
  bool base_has_changed();
  void start(int number);
  ExitCode work(const Attempt& attempt);
  std::string why_none_more(int number) const;
  void wait();
  void take_signal();
  void take_ends();
  void take_end(AttemptProcess& process);
  AttemptEnd end_of(const AttemptProcess& process);
  void end_running(int signal);
  bool any_runs() const;
  bool ends_others(const AttemptEnd& passed) const;
  AttemptEnd unstarted(int number) const;
  ExitCode code_of_signal() const {
    return stopped_by_ == SIGINT ? ExitCode::interrupted : ExitCode::terminated;
  }
  bool may_go_on(ExitCode code) const;
  void learn_for_reports();
  ExitCode end();

  const RunInputs& inputs_;
  const RunOptions& options_;
  OutputStyle style_;
  OutputStyle attempt_style_;  ///< for this process's terminal: an attempt has a pipe
  const RunOne& run_;
  const TaskBestOf& best_of_;
  AttemptSignals signals_;
  SteadyClock::time_point started_;
  AttemptKey key_;
  OutputFolder& out_;
  RunApply apply_;  ///< the folder that --apply writes to
  const Json& key_parts_;
  FoundAttempts found_;
  SharedBudget budget_;
  AttemptLog log_;
  std::string run_key_;
  Redactor redactor_;
  std::string unknown_secrets_;  ///< why redactor_ does not know all of them; "" if it does
  std::vector<std::unique_ptr<AttemptProcess>> processes_;
  std::vector<AttemptEnd> ends_;
  std::deque<int> due_;   ///< those that may be started, in their order
  int passed_ = 0;        ///< the number of the attempt that makes the others needless; 0: none
  std::string hopeless_;  ///< why another attempt would fail as well; "" if it might not
  int stopped_by_ = 0;    ///< a signal of the operator
  std::optional<SteadyClock::time_point> kill_at_;
};

void Attempts::begin() {
  // The environment may hold keys, and the descriptor of one may be open.
  ::prctl(PR_SET_DUMPABLE, 0);
  // Without it, nobody would know the state for a run's. What was found may be set aside by now.
  std::error_code error;
  if (!std::filesystem::exists(out_.path() / "result.json", error)) write_running(0);
  const std::filesystem::path state = out_.make_state(inputs_.workspace);
  // As in the state of every run: when it began, by the clock of the files.
  if (!std::filesystem::exists(state / "began", error)) write_file(state / "began", "", 0600);
  RunMark::write(state, key_parts_, ::getpid());
  write_running(found_.picked);
  // Copies of an attempt's files, of an earlier end.
  out_.remove_end();
  out_.remove(kTranscriptName);
  remove_tree(out_.path() / "blobs");
  remove_stale(options_);
  take_up();
}

/// @param picked  the attempt that is handed over; 0: none is picked yet
void Attempts::write_running(int picked) const {
  Json running = running_json(inputs_.run_id, run_key_, names_saved(inputs_.task));
  Json best_of = Json::object({{"lost", lost_json(found_)}});
  if (picked != 0) best_of.set("picked", picked);
  running.set("best_of", std::move(best_of));
  out_.write("result.json", result_text(running));
}

/// Counts what earlier processes have done. What is left to do is due.
void Attempts::take_up() {
  found_.attempts.resize(static_cast<std::size_t>(best_of_.count));
  budget_.add_earlier(found_.lost);
  for (int number = 1; number <= best_of_.count; ++number) {
    const FoundAttempt& found = found_.attempts[static_cast<std::size_t>(number - 1)];
    const AttemptEnd& end = found.end;
    if (found.previous == Previous::resumed || found.previous == Previous::returned)
      budget_.take_up(number - 1, found.used);
    if (found.previous != Previous::returned) {
      due_.push_back(number);
      continue;
    }
    log_.say("attempt " + std::to_string(number) + " had ended: " + end.status);
    const bool is_last = ends_others(end) || number == found_.picked;
    if (passed_ == 0 && end.passed() && is_last) passed_ = number;
    ends_.push_back(end);
  }
  // What was begun comes first: it costs least to be ended.
  std::stable_partition(due_.begin(), due_.end(), [this](int number) {
    return found_.attempts[static_cast<std::size_t>(number - 1)].previous == Previous::resumed;
  });
}

/// Whether no other attempt is needed once this one has passed.
bool Attempts::ends_others(const AttemptEnd& passed) const {
  return best_of_.pick == Pick::first_passing || passed.status == "nothing-to-do";
}

/// Why the attempt is not started; "" if it may be. One that goes on ends by itself, with a record of
/// it, if the budget is used up.
std::string Attempts::why_none_more(int number) const {
  if (passed_ != 0 || !hopeless_.empty()) return hopeless_;
  if (stopped_by_ != 0) return std::string("stopped by ") + signal_name(stopped_by_);
  if (found_.attempts[static_cast<std::size_t>(number - 1)].previous == Previous::resumed)
    return "";
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
  while (!due_.empty() && passed_ == 0 && running() < best_of_.parallel &&
         why_none_more(due_.front()).empty() && !base_has_changed()) {
    const int number = due_.front();
    due_.pop_front();
    start(number);
  }
}

/// An attempt on another base could not be compared with the others.
bool Attempts::base_has_changed() {
  if (processes_.empty() && ends_.empty()) return false;
  const auto changes = changes_of_base(out_, inputs_, options_);
  if (!changes.empty())
    hopeless_ = "the workspace has changed since the first attempt began, in " + some_of(changes);
  return !changes.empty();
}

void Attempts::start(int number) {
  const Attempt attempt{.number = number, .top = out_.path(), .budget = &budget_};
  processes_.push_back(std::make_unique<AttemptProcess>(number, out_.path(),
                                                        [this, attempt] { return work(attempt); }));
}

/// In the attempt's own process.
ExitCode Attempts::work(const Attempt& attempt) {
  const HeldSignals held_signals;
  out_.leave_to_parent();
  RunInputs inputs = inputs_;
  if (attempt.number > 1) set_run_id(inputs, new_run_id());
  RunOptions options = options_;
  options.out = (std::filesystem::path(options_.out) / attempt_folder(attempt.number)).string();
  options.diff.clear();
  options.last_message.clear();
  options.held.reset();
  options.apply = false;  // of the picked one alone, by this run as a whole
  if (!options.record.empty()) options.record += "." + attempt_folder(attempt.number);
  key_.give_to(options);
  OutputFolder out(options.out);
  const Previous previous = found_.attempts[static_cast<std::size_t>(attempt.number - 1)].previous;
  out.take(previous);
  return run_(std::move(inputs), options, attempt_style_, out, previous, &attempt);
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
  // Each ends itself when the time is over, unless it is blocked or was stopped.
  const auto end = kill_at_.value_or(budget_.deadline() + kOverTime);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - SteadyClock::now()).count();
  ::poll(sources.data(), sources.size(),
         static_cast<int>(std::clamp<std::int64_t>(left, 0, kLongestPoll.count())));
  if (SteadyClock::now() >= end)
    for (const auto& process : processes_) process->signal(SIGKILL);
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
    const auto folder = out_.path() / attempt_folder(number);
    Json result = parse_json(read_file(folder / "result.json", kMostResultBytes));
    if (result.string_at("status") == "running")
      result = settle_attempt(folder, read_run_history(folder / kTranscriptName));
    if (auto end = read_attempt_end(number, result)) return *end;
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
  if (passed_ == 0 && end.passed() && ends_others(end)) {
    passed_ = end.number;
    if (any_runs()) log_.say("attempt " + std::to_string(passed_) + " has passed: the others end");
    end_running(SIGTERM);
  }
  // What another attempt would meet as well.
  for (const ExitCode code : {ExitCode::usage, ExitCode::auth, ExitCode::environment})
    if (end.code == code && end.has_ended() && hopeless_.empty()) hopeless_ = end.reason;
  ends_.push_back(std::move(end));
}

/// The attempts know the secrets of files; this process only needs them for what it tells of the diff,
/// and reads none while a process of theirs is left.
void Attempts::learn_for_reports() {
  try {
    learn_later(redactor_, later_secrets_of(inputs_, key_.again(options_)));
  } catch (const std::exception& error) {
    unknown_secrets_ = error.what();
  }
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
  learn_for_reports();
  key_.forget();
  return end();
}

/// One that this process did not start.
AttemptEnd Attempts::unstarted(int number) const {
  const FoundAttempt& found = found_.attempts[static_cast<std::size_t>(number - 1)];
  AttemptEnd end{.number = number,
                 .status = AttemptEnd::kNotStarted,
                 .code = ExitCode::budget,
                 .reason = why_none_more(number),
                 .cost = Cost()};
  if (stopped_by_ != 0) end.code = code_of_signal();
  if (found.previous != Previous::resumed) return end;
  end = found.end;
  if (passed_ != 0 && end.has_ended()) end.status = AttemptEnd::kStopped;
  if (stopped_by_ != 0) end.code = code_of_signal();
  return end;
}

/// Whether the same command goes on with these attempts: then their states are kept.
bool Attempts::may_go_on(ExitCode code) const {
  const bool worked = std::any_of(ends_.begin(), ends_.end(), [this](const AttemptEnd& one) {
    std::error_code error;
    return one.passed() ||
           std::filesystem::exists(out_.path() / attempt_folder(one.number) / "state/began", error);
  });
  return can_go_on(code, worked) || !attempts_left(code, attempts_json(ends_)).empty();
}

ExitCode Attempts::end() {
  for (const int number : due_) ends_.push_back(unstarted(number));
  std::sort(ends_.begin(), ends_.end(),
            [](const AttemptEnd& a, const AttemptEnd& b) { return a.number < b.number; });
  std::optional<ExitCode> stopped;
  if (stopped_by_ != 0 && passed_ == 0) stopped = code_of_signal();
  const std::size_t picked = pick_attempt(best_of_.pick, ends_, stopped);
  for (const AttemptEnd& one : ends_) log_.say_end(one);
  // From here on only its handover is left, also for the same command after a kill.
  if (options_.apply && ends_[picked].passed()) write_running(ends_[picked].number);
  const auto process = std::find_if(
      processes_.begin(), processes_.end(),
      [&](const auto& candidate) { return candidate->number() == ends_[picked].number; });
  const bool all_events =
      process != processes_.end() && (*process)->killed_by().empty() &&
      found_.attempts[static_cast<std::size_t>(ends_[picked].number - 1)].previous !=
          Previous::resumed;
  const auto duration = std::chrono::duration_cast<std::chrono::milliseconds>(
      found_.time + (SteadyClock::now() - started_));
  RunResult result = end_attempts({.inputs = inputs_,
                                   .options = options_,
                                   .out = out_,
                                   .apply = apply_,
                                   .run_key = run_key_,
                                   .attempts = ends_,
                                   .picked = ends_[picked],
                                   .used = sum_of(ends_) + found_.lost,
                                   .lost = lost_json(found_),
                                   .duration = duration,
                                   .events = all_events ? (*process)->events() : -1,
                                   .style = style_,
                                   .redactor = redactor_,
                                   .unknown_secrets = unknown_secrets_});
  log_.say_sum(ends_, sum_of(ends_) + found_.lost, duration);
  if (!may_go_on(result.code)) out_.remove_state();
  result.reason = "attempt " + std::to_string(ends_[picked].number) + " of " +
                  std::to_string(best_of_.count) + ": " + result.reason;
  const std::string last = last_line(result, "", options_.out, redactor_);
  const bool fine = result.code == ExitCode::success;
  if (!fine && !style_.quiet)
    log_.say_command(CiLog(ci_systems()).error("sortie: " + status_of(result), result.reason));
  log_.finish(fine && style_.quiet ? "" : last);
  return result.code;
}

}  // namespace

ExitCode run_attempts(const AttemptsParts& parts) { return Attempts(parts).execute(); }

}  // namespace sortie
