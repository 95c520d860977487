#include "app/run/run.h"

#include <future>
#include <optional>
#include <utility>

#include "app/artifacts/flag_outputs.h"
#include "app/confinement/egress.h"
#include "app/inputs/inputs.h"
#include "app/inputs/run_key.h"
#include "app/run/attempts.h"
#include "app/run/found_run.h"
#include "app/run/own_outputs.h"
#include "app/run/returned_run.h"
#include "app/run/run_closing.h"
#include "app/run/run_ends.h"
#include "app/run/run_opening.h"
#include "app/run/run_parts.h"
#include "app/run/run_start.h"
#include "app/setup/models.h"
#include "app/show/failure.h"
#include "core/base/error.h"
#include "core/files/sync_together.h"
#include "core/git/config/git_place.h"
#include "core/provider/cassette.h"
#include "core/workspace/undo_own_tree.h"
#include "policies/sandbox/canary.h"
#include "policies/sandbox/keeper/early_keeper.h"

namespace sortie {
namespace {

/// One run, from its loaded inputs to its artifacts.
class Run {
 public:
  explicit Run(RunParts& run) : run_(run) {}

  /// @param git_places  is reset when the work begins
  ExitCode execute(std::optional<GitPlacesOnce>& git_places);

 private:
  void start();
  void connect_early();
  void open_egress();
  void record_start();
  void prove_guarantees();
  void look_at_start();
  void work();
  void take_failure(const std::exception& error);

  RunParts& run_;
  std::shared_ptr<Http> connected_{};
};

/// Not by a sign-in, whose first request may go to another place.
void Run::connect_early() {
  if (!run_.secrets.sign_in())
    connected_ =
        connect_to_model(run_.inputs, run_.options, run_.secrets.keys(), run_.secrets.proxy());
}

void Run::open_egress() {
  run_.egress = std::make_unique<Egress>(
      run_.inputs.policy, *run_.confinement, run_.secrets.own(),
      [this](const EgressConnection& connection) {
        run_.record.events().on({run_.record.turn(), network_record(connection)});
      });
}

/// The run's start is on disk before a command of the task is started or a request is sent.
void Run::record_start() {
  const ThreadRun* const thread = run_.inputs.thread;
  // With its name that of the run's folder, which lies beside it.
  std::future<void> place;
  if (thread != nullptr && !thread->place.empty())
    place = std::async([thread] { sync_with_name(thread->place); });
  begin_record(run_);
  run_.record.sync();
  if (place.valid()) place.get();
}

void Run::prove_guarantees() {
  const auto proofs = prove(run_.inputs.policy.sandbox, *run_.confinement,
                            run_.secrets.kept_from_commands(), [this] {
                              connect_early();
                              record_start();
                            });
  run_.egress->report_from_now_on();
  run_.result.guarantees = guarantees_json(proofs);
  const std::string missing = missing_guarantees(run_.inputs.policy, proofs);
  if (!missing.empty()) throw RunEnds{ExitCode::environment, missing};
}

void Run::start() {
  try {
    open_egress();
    prove_guarantees();
  } catch (...) {
    // The record says of a run that fails here, too, how it began.
    if (!run_.record.has_begun()) begin_record(run_);
    throw;
  }
}

/// Begins to look at what the workspace has beside its commit. Once commands may have written to the
/// user's own tree, that is not known any more.
void Run::look_at_start() {
  const auto& earlier = run_.record.earlier();
  const bool in_place = run_.workspace->isolation() == Isolation::none;
  if (!run_.workspace->keeps_start() || (earlier && (earlier->start_changes || in_place))) return;
  const auto apart = own_outputs(run_.covered(), run_.inputs, run_.options);
  run_.start_digest = std::make_unique<StartDigest>(StartDigest::Parts{
      .root = run_.inputs.workspace,
      .marks = run_.git.toplevel.empty() ? FileMarks::times : FileMarks::contents,
      .apart = apart,
      .redactor = run_.secrets.redactor(),
      .record = run_.record,
      .settled = [this, apart](const auto& paths) { run_.tree->know_start(paths, apart); },
      .stop = run_.signals->token()});
  run_.start_digest->begin();
  const TaskVerify& verify = run_.inputs.task.verify;
  const bool runs_first =
      verify.before != ExpectedStart::any || verify.baseline != VerifyBaseline::none;
  if (in_place && runs_first) run_.start_digest->settle();
}

/// Runs the agent's work and checks its result.
void Run::work() {
  run_.worked = true;
  run_.tree->begin_work();
  if (run_.record.earlier() && !run_.options.record.empty() && !replays(run_.inputs))
    run_.inputs.recorded = read_cassette(run_.out.path() / kTranscriptName);
  run_.work = std::make_unique<AgentWork>(AgentWork::Parts{
      .agent = {.inputs = run_.inputs,
                .options = run_.options,
                .secrets = run_.secrets,
                .confinement = *run_.confinement,
                .work = *run_.tree,
                .tests = *run_.acceptance,
                .git = run_.git,
                .events = run_.start_digest ? static_cast<EventSink&>(*run_.start_digest)
                                            : run_.record.events(),
                .notices = run_.record,
                .clock = run_.clock,
                .budget = run_.budget,
                .outputs = *run_.outputs,
                .stop = run_.signals->token(),
                .connected = connected_},
      .acceptance = *run_.acceptance,
      .tree = *run_.tree,
      .notes = run_.notes,
      .out = run_.out,
      .signals = *run_.signals,
      .record = run_.record,
      .result = run_.result,
      .effects = [this](const TurnCall* call) { return run_.tree->cut_off_effects(call); }});
  run_.work->run();
  run_.acceptance->check_diff(run_.work->last_message());
  run_.work->take_notes();
}

ExitCode Run::execute(std::optional<GitPlacesOnce>& git_places) {
  try {
    open_run(run_);
    start();
    git_places.reset();
    end_if_stopped(*run_.signals);
    look_at_start();
    if (run_.record.earlier() && !run_.record.earlier()->turns.empty())
      run_.acceptance->take_up(*run_.record.earlier());
    else
      run_.acceptance->verify_start();
    work();
    run_.result.code = ExitCode::success;
    run_.result.reason = run_.result.verified ? "the agent finished and the verification passed"
                                              : "the agent finished";
  } catch (const RunEnds& ends) {
    run_.result.code = ends.code;
    run_.result.reason = ends.reason;
    run_.result.next = ends.next;
    run_.end_kind = ends.kind;
  } catch (const ModelError& error) {
    run_.result.code = error.code();
    run_.result.reason = error.what();
    run_.result.retry_after = error.retry_after();
    run_.end_kind = error.kind();
  } catch (const std::exception& error) {
    take_failure(error);
  }
  return close_run(run_);
}

void Run::take_failure(const std::exception& error) {
  const Error failure = failure_of(error);
  run_.result.code = failure.code();
  run_.result.reason = failure.what();
  run_.result.cause = failure.cause();
  if (failure.code() == ExitCode::internal) run_.result.next = kHowToReport;
}

/// What has to hold before the run's folder is made. An earlier run's answer goes with a failure, too.
void prepare(const RunOptions& options, RunInputs& inputs) {
  try {
    check_machine();
    recover_workspace(options, inputs);
    check_apply(options, inputs);
    check_diff_base(inputs);
  } catch (const Error&) {
    remove_stale(options);
    throw;
  }
}

OutputFolder locked_folder(const RunOptions& options) {
  try {
    return OutputFolder(options.out);
  } catch (const Error& error) {
    if (error.code() != ExitCode::busy) remove_stale(options);
    throw;
  }
}

}  // namespace

ExitCode run_task(const RunOptions& options, const OutputStyle& style, EarlyKeeper* early_keeper) {
  RunOptions resolved = options;
  resolve_stdout(resolved);
  std::optional<GitPlacesOnce> git_places(std::in_place);
  RunInputs inputs = load_inputs(resolved);
  check_flag_outputs(resolved, inputs);
  resolved.held = hold_outputs(resolved);
  prepare(resolved, inputs);
  GitInfo git = read_git_info(inputs.workspace).value_or(GitInfo{});
  Json key_parts = run_key_parts(inputs, git.head_commit);
  const HeldSignals held_signals;  // before anything is written
  OutputFolder out = locked_folder(resolved);
  // Not before: another run that is at work here may have written its own answer there.
  remove_stale(resolved);
  // A run that was killed in the workspace itself may have changed submodules: it is undone first.
  const bool as_left = has_own_tree(out.path() / "state");
  if (!as_left) check_submodules(inputs);
  std::optional<EarlierRun> recorded;
  const Previous previous =
      judge_found_run(out, inputs, resolved, git, key_parts, inputs.warnings, recorded);
  if (previous != Previous::resumed) recorded.reset();
  out.take(previous);
  if (as_left && previous != Previous::resumed) check_submodules(inputs);
  if (previous == Previous::returned) {
    const ExitCode code = return_found_run(out, inputs, resolved, style);
    if (code == ExitCode::success) out.remove_state();
    return code;
  }
  const RunOne run = [&](RunInputs own, const RunOptions& flags, const OutputStyle& shown,
                         OutputFolder& folder, Previous found, const Attempt* attempt) {
    RunParts parts(std::move(own), flags, shown, git, key_parts, folder, found, attempt);
    if (attempt == nullptr) parts.early_keeper = early_keeper;
    if (recorded && attempt == nullptr) parts.record.know(*std::exchange(recorded, std::nullopt));
    return Run(parts).execute(git_places);
  };
  if (inputs.task.best_of.count > 1) {
    if (early_keeper != nullptr) early_keeper->end();
    return run_attempts({inputs, resolved, style, key_parts, out, previous, run});
  }
  return run(std::move(inputs), resolved, style, out, previous, nullptr);
}

}  // namespace sortie
