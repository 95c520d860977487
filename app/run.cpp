#include "app/run.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <functional>
#include <memory>
#include <optional>

#include "app/artifacts.h"
#include "app/compose.h"
#include "app/confinement.h"
#include "app/inputs.h"
#include "app/output_folder.h"
#include "app/progress.h"
#include "app/protected_paths.h"
#include "app/provider_choice.h"
#include "app/signals.h"
#include "ci/result.h"
#include "ci/tally.h"
#include "ci/verification.h"
#include "core/agent/budget.h"
#include "core/agent/loop.h"
#include "core/agent/prompt.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/model/credentials.h"
#include "core/record/transcript.h"
#include "core/workspace/diff.h"
#include "core/workspace/git_info.h"
#include "core/workspace/workspace.h"
#include "policies/engine.h"
#include "policies/environment.h"
#include "policies/sandbox/canary.h"
#include "policies/sandbox/keeper.h"
#include "policies/sandbox/support.h"

namespace sortie {
namespace {

/// Ends the run with a code that is no failure of the program; caught by Run::execute alone.
struct RunEnds {
  ExitCode code;
  std::string reason;
  std::string next{};
};

/// One run, from its loaded inputs to its artifacts. The members are made in the order in which
/// they stand: the keeper before any thread, keys after the keeper has its own memory.
class Run {
 public:
  Run(RunInputs inputs, const RunOptions& options, const OutputStyle& style)
      : inputs_(std::move(inputs)),
        options_(options),
        style_(style),
        environment_(own_environment()),
        git_(read_git_info(inputs_.workspace).value_or(GitInfo{})),
        budget_(inputs_.task.budget, clock_),
        out_(options.out, options.fresh ? FoundRun::discard : FoundRun::refuse_unfinished) {}

  ExitCode execute();

 private:
  void begin();
  void confine();
  void confine_with(Namespaces namespaces, const std::filesystem::path& state,
                    const std::string& no_namespaces = {});
  Environment commands_environment() const;
  void start_record();
  void prove_guarantees();
  void verify_start();
  void work();
  std::optional<std::string> judge();
  void make_result_diff();
  void check_diff();
  ExitCode end();
  std::string finish(const std::function<void()>& step);
  void write_artifacts();
  void write_diff(const std::string& name);
  void close_record();
  void withdraw_success();
  void print(const std::string& text);
  void print_message();
  VerificationResult verify(const std::string& phase, int round);
  std::stop_token stop() const { return signals_->token(); }
  void end_if_stopped() const;

  RunInputs inputs_;
  const RunOptions& options_;
  OutputStyle style_;
  Environment environment_;
  GitInfo git_;
  SystemClock clock_;
  Budget budget_;
  OutputFolder out_;
  RunResult result_;
  Tally tally_;
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<Confinement> confinement_;
  std::unique_ptr<ProtectedPaths> protected_paths_;  ///< where no mount guards them
  std::unique_ptr<Signals> signals_;
  Redactor redactor_;
  std::unique_ptr<Transcript> transcript_;
  std::unique_ptr<Progress> progress_;
  EventFanout events_{redactor_};
  std::vector<std::string> secrets_;
  std::optional<std::string> key_;
  std::unique_ptr<Agent> agent_;
  std::optional<Diff> diff_;
  bool diff_failed_ = false;
  std::string message_;  ///< the agent's final one, redacted
  int turn_ = 0;
};

void Run::end_if_stopped() const {
  if (!stop().stop_requested()) return;
  const bool interrupt = signals_->received() == SIGINT;
  throw RunEnds{interrupt ? ExitCode::interrupted : ExitCode::terminated,
                interrupt ? "interrupted by SIGINT" : "ended by a signal",
                "the same command again"};
}

/// Everything up to the keeper: single-threaded, and before any key is read.
void Run::begin() {
  result_.run_id = inputs_.run_id;
  result_.run_key = run_key(inputs_, git_.head_commit);
  result_.name = inputs_.task.name;
  result_.requested_model = inputs_.task.model.name;
  result_.started = clock_.now();
  result_.approval = name_of(inputs_.approval);
  result_.digests = {{"task", inputs_.task.digest}, {"policy", inputs_.policy.digest}};
  out_.write("result.json", write_json_pretty(running_json(result_.run_id, result_.run_key)));
  remove_stale(options_);
}

/// Most machines have all that is needed, so that is tried for real first: probing takes longer
/// than the rest of the start. Only where it fails is everything probed, step by step.
void Run::confine() {
  const std::filesystem::path state = out_.make_state(inputs_.workspace);
  if (inputs_.policy.sandbox == SandboxMode::none) return confine_with(Namespaces::none, state);
  try {
    confine_with(Namespaces::assumed, state);
    if (confinement_->keeper().layers().namespaces) return;
  } catch (const Error&) {
    // What was wrong is said by the careful way, with its remedy.
  }
  confinement_.reset();
  workspace_.reset();
  out_.remove_state();
  std::string why;
  const bool namespaces = namespaces_available(&why);
  confine_with(namespaces ? Namespaces::proved : Namespaces::none,
               out_.make_state(inputs_.workspace), why);
}

/// What commands may inherit from: all but the key, whatever its variable is called.
Environment Run::commands_environment() const {
  Environment environment = environment_;
  if (!replays(inputs_)) environment.erase(key_variable(inputs_));
  return environment;
}

void Run::confine_with(Namespaces namespaces, const std::filesystem::path& state,
                       const std::string& no_namespaces) {
  workspace_ = open_run_workspace(inputs_, out_.path(), state, namespaces);
  result_.isolation = name_of(workspace_->isolation());
  result_.isolation_reason = workspace_->reason();
  confinement_ = std::make_unique<Confinement>(
      ConfinementInputs{inputs_.policy, inputs_.approval, inputs_.workspace, out_.path(),
                        files_of_task(inputs_.task), workspace_->mount_plan(),
                        namespaces != Namespaces::none, no_namespaces, state},
      commands_environment());
  if (!confinement_->keeper().layers().namespaces)
    protected_paths_ = std::make_unique<ProtectedPaths>(
        confinement_->workspace(), inputs_.workspace, confinement_->profile().protect);
  result_.layers = confinement_->layers_json();
}

void Run::start_record() {
  // Before a key is in our memory: no process of this user may trace us or read /proc/PID/environ
  // and mem from here on, and no core file is written (prctl(2)).
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) throw system_error("prctl", ExitCode::environment);
  signals_ = std::make_unique<Signals>();
  key_ = take_key(inputs_, options_);
  if (key_) {
    // From a file or descriptor, no variable's value stands for it.
    secrets_.push_back(*key_);
    redactor_.add({key_variable(inputs_), *key_});
  }
  for (auto& secret : environment_secrets(inputs_.policy, environment_)) {
    take_environment_key(secret.name);  // erased: no variable of ours holds it any more
    secrets_.push_back(secret.value);
    redactor_.add(std::move(secret));
  }
  transcript_ = std::make_unique<Transcript>(out_.path(), clock_, inputs_.policy.limits.transcript);
  progress_ = std::make_unique<Progress>(style_);
  events_.add(*transcript_);
  events_.add(tally_);
  events_.add(*progress_);
  events_.on(run_started_event(describe_start(inputs_, result_, git_, *workspace_, *confinement_)));
  if (inputs_.policy.sandbox == SandboxMode::none)
    progress_->say("sandbox: NONE by the policy: commands can do all that this user can");
  for (const auto& missing : confinement_->missing()) progress_->say("sandbox: " + missing);
  if (inputs_.task.workspace.isolation == "auto" && workspace_->isolation() == Isolation::copy)
    progress_->say("isolation: copy (" + workspace_->reason() + ")");
}

void Run::prove_guarantees() {
  const auto proofs = run_canary(confinement_->launcher(), confinement_->profile(),
                                 confinement_->environment(), secrets_);
  result_.guarantees = guarantees_json(proofs);
  const std::string missing = missing_guarantees(inputs_.policy, proofs);
  if (!missing.empty())
    throw RunEnds{ExitCode::environment, missing, "sortie doctor says what this machine can do"};
}

VerificationResult Run::verify(const std::string& phase, int round) {
  VerificationOptions options;
  options.workdir = confinement_->workspace();
  options.environment = confinement_->environment();
  options.phase = phase;
  options.round = round;
  options.turn = agent_ ? agent_->loop().turn() : 0;
  options.shown_bytes = inputs_.task.shown_output;
  options.max_output_bytes = inputs_.policy.limits.output;
  options.redactor = &redactor_;
  auto result = run_verification(inputs_.task.verify.commands, confinement_->launcher(), events_,
                                 budget_, options, stop());
  if (protected_paths_) {
    if (const auto changed = protected_paths_->restore_changed(); !changed.empty())
      throw RunEnds{ExitCode::integrity,
                    "a verification command changed the protected path " + changed.front()};
  }
  end_if_stopped();
  if (result.stopped) {
    const Exhausted time = budget_.time_spent();
    events_.on(budget_exhausted_event(options.turn, time.which, time.limit, time.used));
    throw RunEnds{ExitCode::budget, "the time was up during verification", time.next};
  }
  return result;
}

void Run::verify_start() {
  const std::string& before = inputs_.task.verify.before;
  if (inputs_.task.verify.commands.empty() || before == "any") return;
  result_.verification_before = verify("before", 1);
  switch (judge_start(before, result_.verification_before->passed)) {
    case StartCheck::go_on:
      return;
    case StartCheck::nothing_to_do:
      result_.nothing_to_do = true;
      throw RunEnds{ExitCode::success, "the verification passes on the start state already"};
    case StartCheck::must_pass:
      throw RunEnds{ExitCode::task_failed,
                    "verify.before is pass, but the start state's verification failed"};
  }
}

/// The agent's work and its verification, round after round.
void Run::work() {
  agent_ = std::make_unique<Agent>(Agent::Parts{inputs_, options_, key_, *confinement_,
                                                protected_paths_.get(), git_, events_, redactor_,
                                                clock_, budget_});
  for (const auto& note : agent_->notes()) progress_->say(note);
  std::vector<Item> items = agent_->first_items();
  for (int round = 1;; ++round) {
    const LoopResult result = agent_->loop().run(std::move(items), stop());
    end_if_stopped();
    if (result.code != ExitCode::success) {
      result_.retry_after = result.retry_after;
      throw RunEnds{result.code, result.reason, result.next};
    }
    std::string feedback;
    if (!inputs_.task.verify.commands.empty()) {
      result_.verification = verify("after", round);
      result_.verification_rounds = round;
      result_.verified = result_.verification->passed;
      if (!result_.verification->passed)
        feedback = verification_feedback(*result_.verification, round, inputs_.task.verify.rounds);
    }
    if (feedback.empty()) {
      make_result_diff();
      feedback =
          judge_changes(inputs_.task.expect.changes,
                        inputs_.policy.sandbox == SandboxMode::read_only, !diff_->text.empty());
      if (feedback.empty()) return;
    }
    if (round >= inputs_.task.verify.rounds) {
      const bool verification = result_.verified == std::optional(false);
      throw RunEnds{ExitCode::task_failed,
                    verification ? "verification failed after " + std::to_string(round) + " rounds"
                                 : feedback};
    }
    items = {Item{Message{Message::Role::user, feedback}}};
  }
}

void Run::make_result_diff() {
  diff_.reset();
  diff_failed_ = true;
  diff_ = make_diff(*workspace_, confinement_->view(), inputs_.workspace, diff_options(inputs_));
  diff_failed_ = false;
  result_.ignored_changes = diff_->ignored_changes;
  result_.applies_to = diff_->applies_to;
  result_.base = diff_->base;
  result_.head_commit = diff_->head_commit;
  result_.changed_files = static_cast<int>(diff_->files.size());
}

/// What must hold of a diff before it may be called a success.
void Run::check_diff() {
  for (const auto& file : diff_->files) {
    for (const auto& path : {file.path, file.old_path}) {
      if (!path.empty() && confinement_->engine().is_protected(path))
        throw RunEnds{ExitCode::integrity, "the protected path " + path + " was changed"};
    }
  }
  if (!diff_->too_large.empty())
    throw RunEnds{ExitCode::task_failed, "too large for the diff: " + diff_->too_large.front(),
                  "raise limits.diff_file_size in the policy"};
  if (const std::string leak = find_leak(redactor_, diff_->text); !leak.empty())
    throw RunEnds{ExitCode::leak, leak + " stands in the diff"};
  if (agent_ && !redactor_.find(agent_->loop().last_message()).empty())
    throw RunEnds{ExitCode::leak, "a known secret stands in the final message"};
}

ExitCode Run::execute() {
  std::string fault;
  try {
    begin();
    confine();
    start_record();
    prove_guarantees();
    verify_start();
    work();
    check_diff();
    result_.code = ExitCode::success;
    result_.reason =
        result_.verified ? "the agent finished and the verification passed" : "the agent finished";
  } catch (const RunEnds& ends) {
    result_.code = ends.code;
    result_.reason = ends.reason;
    result_.next = ends.next;
  } catch (const ModelError& error) {
    result_.code = error.code();
    result_.reason = error.what();
    result_.retry_after = error.retry_after();
  } catch (const Error& error) {
    result_.code = error.code();
    result_.reason = error.what();
  } catch (const std::exception& error) {
    result_.code = ExitCode::internal;
    result_.reason = std::string("a bug in sortie: ") + error.what();
    result_.next = "please report it with the transcript";
  }
  return end();
}

/// Takes one step of the end; a run that can't be finished is no success.
/// @return  what went wrong, or ""
std::string Run::finish(const std::function<void()>& step) {
  std::string problem;
  try {
    step();
    return problem;
  } catch (const std::exception& error) {
    problem = error.what();
    if (result_.code != ExitCode::success) {
      result_.warnings.push_back(problem);
      return problem;
    }
    const auto* known = dynamic_cast<const Error*>(&error);
    result_.code = known ? known->code() : ExitCode::internal;
    // What the file system refuses this late is no mistake in how the run was started.
    if (result_.code == ExitCode::usage) result_.code = ExitCode::environment;
    result_.reason = problem;
  }
  withdraw_success();
  return problem;
}

/// Whatever the run came to: no process left, artifacts, the record's end, the last line.
///
/// The artifacts come first and the record's end after them, result.json last: each says what came
/// of all before it, so that the record, result.json and the exit code agree.
ExitCode Run::end() {
  if (result_.code != ExitCode::success && workspace_ && confinement_ && !diff_failed_ &&
      transcript_)
    finish([this] { make_result_diff(); });
  if (agent_) {
    message_ = redactor_.text(agent_->loop().last_message());
    turn_ = agent_->loop().turn();
  }
  agent_.reset();
  finish([this] {
    if (confinement_) result_.survivors_excluded = confinement_->keeper().shut_down();
  });
  if (!result_.survivors_excluded)
    result_.warnings.push_back("it could not be proved that no process of the run is left");
  if (!result_.ignored_changes.empty())
    result_.warnings.push_back(std::to_string(result_.ignored_changes.size()) +
                               " changed paths are ignored by git and not in the diff: "
                               "ignored_changes; output.diff.include takes them in");
  finish([this] { write_artifacts(); });
  result_.duration = budget_.time_used();
  finish([this] { close_record(); });
  const ExitCode recorded = result_.code;
  const std::string untold =
      finish([this] { write_result(out_.path(), result_json(result_, tally_), redactor_); });
  // A record may end twice; the last end counts.
  if (result_.code != recorded) finish([this] { close_record(); });
  if (progress_) progress_->finish();
  if (!untold.empty())
    write_all(STDERR_FILENO, "sortie: result.json: " + redactor_.text(untold) + "\n");
  if (result_.code == ExitCode::success && options_.diff != "-") print_message();
  out_.remove_state();
  const std::string line = last_line(result_, tally_.last_action, options_.out, redactor_) + "\n";
  write_all(STDERR_FILENO, line);
  return result_.code;
}

void Run::write_artifacts() {
  const bool success = result_.code == ExitCode::success;
  if (!message_.empty()) {
    out_.write("last-message.txt", message_ + "\n");
    result_.artifacts["last-message.txt"] = digest_of(message_ + "\n");
  }
  write_diff(success ? "changes.diff" : "partial.diff");
  if (!success) return;
  write_flag_files(options_, diff_ ? diff_->text : "", message_);
  if (options_.diff == "-") print(diff_ ? diff_->text : "");
}

void Run::write_diff(const std::string& name) {
  if (!diff_ && name != "changes.diff") return;
  const std::string diff = diff_ ? diff_->text : "";
  out_.write(name, diff);
  result_.artifacts[name] = digest_of(diff);
}

/// Nothing may be left that looks like a success.
void Run::withdraw_success() {
  out_.remove("changes.diff");
  result_.artifacts.erase("changes.diff");
  finish([this] { remove_stale(options_); });
  finish([this] { write_diff("partial.diff"); });
}

void Run::close_record() {
  if (!transcript_) return;
  RunEnd end;
  end.code = result_.code;
  end.status = status_of(result_);
  end.reason = result_.reason;
  end.usage = tally_.usage_json();
  end.durations = tally_.durations_json(result_.duration);
  end.counts = tally_.counts_json();
  end.artifacts = result_.artifacts;
  events_.on(run_completed_event(turn_, end));
  result_.digests["transcript"] = "sha256:" + transcript_->last_digest();
}

/// The final message is in the output folder too: that it could not be printed is only told.
void Run::print_message() {
  try {
    print(message_.empty() ? "" : message_ + "\n");
  } catch (const Error& error) {
    write_all(STDERR_FILENO, std::string("sortie: ") + error.what() + "\n");
  }
}

/// A reader that went away has had enough and is only told of; a disk that is full has lost data
/// that was asked for.
void Run::print(const std::string& text) {
  if (text.empty() || write_all(STDOUT_FILENO, text)) return;
  const int number = errno;
  const std::string problem = "stdout: " + errno_text(number);
  if (number != EPIPE) throw Error(problem, ExitCode::environment);
  write_all(STDERR_FILENO, "sortie: " + problem + "\n");
}

}  // namespace

ExitCode run_task(const RunOptions& options, const OutputStyle& style) {
  Run run(load_inputs(options), options, style);
  return run.execute();
}

}  // namespace sortie
