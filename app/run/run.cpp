#include "app/run/run.h"

#include <sys/prctl.h>

#include <algorithm>
#include <functional>

#include "app/artifacts/diff_verdict.h"
#include "app/artifacts/flag_outputs.h"
#include "app/artifacts/output_folder.h"
#include "app/artifacts/run_mark.h"
#include "app/confinement/egress.h"
#include "app/inputs/inputs.h"
#include "app/inputs/run_inputs.h"
#include "app/inputs/run_key.h"
#include "app/run/acceptance.h"
#include "app/run/agent_work.h"
#include "app/run/attempt.h"
#include "app/run/attempts.h"
#include "app/run/found_run.h"
#include "app/run/handover.h"
#include "app/run/next_step.h"
#include "app/run/own_tree_undo.h"
#include "app/run/resumption.h"
#include "app/run/run_apply.h"
#include "app/run/run_ends.h"
#include "app/run/run_head.h"
#include "app/run/run_notes.h"
#include "app/run/run_record.h"
#include "app/run/run_start.h"
#include "app/run/run_tree.h"
#include "app/run/signals.h"
#include "app/setup/run_secrets.h"
#include "app/show/failure.h"
#include "ci/attestation.h"
#include "core/base/error.h"
#include "core/files/files.h"
#include "core/git/config/git_place.h"
#include "core/text/text.h"
#include "core/workspace/diff/make_diff.h"
#include "policies/sandbox/canary.h"
#include "policies/sandbox/keeper/keeper.h"
#include "policies/sandbox/keeper/support.h"

namespace sortie {
namespace {

/// The end of a run takes less; a process that needs longer is blocked.
constexpr std::chrono::seconds kMostOverTime{60};

/// The most bytes of saved outputs.
constexpr std::uint64_t kMostOutputs = 256u << 20;

/// One run, from its loaded inputs to its artifacts. The order of the members matters: the keeper is
/// forked before any thread starts and before keys are read.
class Run {
 public:
  /// @param out      prepared for this run
  /// @param attempt  null: the run is no attempt of several. Outlives this object
  Run(RunInputs inputs, const RunOptions& options, const OutputStyle& style, GitInfo git,
      Json key_parts, OutputFolder& out, Previous previous, const Attempt* attempt)
      : inputs_(std::move(inputs)),
        options_(options),
        attempt_(attempt),
        git_(std::move(git)),
        key_parts_(std::move(key_parts)),
        previous_(previous),
        budget_(inputs_.task.budget, clock_, inputs_.terms),
        apply_(options, inputs_),
        out_(out),
        notes_(inputs_.task, options.out),
        secrets_(inputs_, options),
        record_({.folder = out_.path(),
                 .json = options.json,
                 .anchor = options.anchor,
                 .retries = inputs_.task.model.retries,
                 .style = style,
                 .log = {.rounds = inputs_.task.verify.rounds + 1,
                         .start_must_pass = inputs_.task.verify.before == ExpectedStart::pass}},
                secrets_.redactor(), result_) {
    if (attempt_ != nullptr) budget_.share(*attempt_->budget, attempt_->number - 1);
  }

  /// @param git_places  is reset when the work begins
  ExitCode execute(std::optional<GitPlacesOnce>& git_places);

 private:
  void begin();
  void take_up();
  void write_running();
  void keep_room();
  void confine();
  void confine_with(Namespaces namespaces, const std::filesystem::path& state,
                    const std::string& no_namespaces = {});
  void start_record();
  void make_acceptance(Confinement& confinement);
  void announce_start();
  void open_egress();
  void prove_guarantees();
  void work();
  void learn_secrets();
  void take_failure(const std::exception& error);
  EndFacts end_facts() const;
  void explain_end();
  void print_end(const std::string& untold);
  ExitCode end();
  void attest();
  void end_agent();
  void end_processes();
  void hand_over();
  std::string finish(const std::function<void()>& step);
  /// The folder that commands must not see: --out, of all attempts together.
  const std::filesystem::path& covered() const {
    return attempt_ != nullptr ? attempt_->top : out_.path();
  }
  bool goes_on() const { return previous_ == Previous::resumed || previous_ == Previous::restored; }
  std::stop_token stop() const { return signals_ ? signals_->token() : std::stop_token(); }

  RunInputs inputs_;
  const RunOptions& options_;
  const Attempt* attempt_;
  GitInfo git_;
  Json key_parts_;
  const Previous previous_;
  SystemClock clock_;
  Budget budget_;
  RunApply apply_;  ///< before the keeper: the folder that --apply writes to
  OutputFolder& out_;
  std::optional<AtomicFile> room_;  ///< never committed
  RunNotes notes_;
  RunResult result_;
  std::unique_ptr<Workspace> workspace_;
  std::unique_ptr<Confinement> confinement_;
  std::unique_ptr<Signals> signals_;
  RunSecrets secrets_;
  RunRecord record_;
  std::unique_ptr<Egress> egress_;
  std::unique_ptr<SavedOutputs> outputs_;
  std::unique_ptr<RunTree> tree_;
  std::unique_ptr<Acceptance> acceptance_;
  std::unique_ptr<AgentWork> work_;
  std::optional<Handover> handover_;  ///< from the beginning of the end
  std::string end_kind_;              ///< RunEnds::kind
  bool worked_ = false;               ///< the agent's work has begun
  OwnTreeUndo own_tree_undo_;
};

/// Everything up to the keeper: single-threaded, and before any key is read.
void Run::begin() {
  result_.run_id = inputs_.run_id;
  result_.run_key = run_key(key_parts_);
  result_.name = inputs_.task.name;
  result_.requested_model = inputs_.task.model.name;
  result_.started = clock_.now();
  result_.approval = name_of(inputs_.approval);
  result_.warnings = inputs_.warnings;
  result_.digests = {{"task", inputs_.task.digest}, {"policy", inputs_.policy.digest}};
  // The transcript of a run that is resumed says so before its earlier end goes.
  if (goes_on())
    take_up();
  else
    write_running();
  keep_room();
  remove_stale(options_);
  check_start(inputs_.workspace);
  notes_.read(result_.warnings);
}

void Run::write_running() {
  out_.write("result.json", write_json_pretty(running_json(result_.run_id, result_.run_key,
                                                           names_saved(inputs_.task))));
}

/// Goes on with what an earlier process of this run has recorded.
void Run::take_up() {
  const RunHistory& history = record_.take_up();
  take_up_inputs(history, inputs_);
  result_.run_id = inputs_.run_id;
  result_.started = history.began;
  budget_.take_up(history.used);
  // Nothing was done yet: the base is all there is.
  if (history.turns.empty()) out_.remove_state();
}

/// Keeps room on the disk for the end of the transcript and for result.json, should artifacts fill it.
void Run::keep_room() {
  constexpr std::size_t kRoom = 64 << 10;
  room_.emplace(out_.path() / "room").write(std::string(kRoom, '\n'));
}

/// Tries the full sandbox first, since most machines have it, and probing takes longer than the rest
/// of the start. Probes everything step by step only if that fails.
void Run::confine() {
  const std::filesystem::path state = out_.make_state(inputs_.workspace);
  if (inputs_.policy.sandbox == SandboxMode::none) return confine_with(Namespaces::none, state);
  try {
    confine_with(Namespaces::assumed, state);
    if (confinement_->keeper().layers().namespaces) return;
  } catch (const Error&) {
    // The second try reports what is wrong, with a remedy.
  }
  confinement_.reset();
  workspace_.reset();
  if (previous_ != Previous::resumed) out_.remove_state();
  std::string why;
  const bool namespaces = namespaces_available(&why);
  confine_with(namespaces ? Namespaces::proved : Namespaces::none,
               out_.make_state(inputs_.workspace), why);
}

void Run::confine_with(Namespaces namespaces, const std::filesystem::path& state,
                       const std::string& no_namespaces) {
  workspace_ = open_run_workspace(inputs_, covered(), state, namespaces);
  own_tree_undo_.watch(*workspace_, state);
  result_.isolation = name_of(workspace_->isolation());
  result_.isolation_reason = workspace_->reason();
  std::vector<std::filesystem::path> files = files_of_run(inputs_.task, inputs_.policy);
  if (notes_.are_kept()) files.push_back(notes_.file());
  protect_linked(*workspace_, files, result_.warnings);
  confinement_ = confine_run(inputs_, covered(), state, *workspace_, std::move(files), namespaces,
                             no_namespaces, secrets_.for_commands());
  RunMark::write(state, key_parts_, confinement_->keeper().pid());
  result_.layers = confinement_->layers_json();
  outputs_ = std::make_unique<SavedOutputs>(
      confinement_->outputs(), std::min<std::uint64_t>(kMostOutputs, inputs_.policy.limits.disk));
  outputs_->show_to(
      [this](const void* output, std::string_view text) { record_.show_output(output, text); });
}

void Run::start_record() {
  // Before a key is in our memory: no process of this user may trace us or read /proc/PID/environ
  // and mem from here on, and no core file is written (prctl(2)).
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) throw system_error("prctl", ExitCode::environment);
  signals_ = std::make_unique<Signals>();
  signals_->end_at(budget_.deadline() + kMostOverTime);
  make_acceptance(*confinement_);
  secrets_.take_credentials(confinement_->profile(), record_);
  learn_secrets();
  record_.begin(clock_, inputs_.policy.limits.transcript);
  announce_start();
}

void Run::make_acceptance(Confinement& confinement) {
  const Redactor& redactor = secrets_.redactor();
  tree_ = std::make_unique<RunTree>(
      RunTree::Parts{inputs_, *workspace_, confinement.view(), budget_, clock_, *signals_,
                     out_.path(), redactor, record_, result_},
      ProtectedNames::Parts{.root = inputs_.workspace,
                            .seen_as = confinement.workspace(),
                            .protect = confinement.profile().protect,
                            .links_at_start = confinement.links_at_start(),
                            .workspace = *workspace_,
                            .view = confinement.view(),
                            .git = git_,
                            .made = confinement.made_paths(),
                            .in_place = workspace_->mount_plan().in_place,
                            .mounted = confinement.keeper().layers().namespaces,
                            .out = out_.path(),
                            .redactor = redactor,
                            .record = record_,
                            .result = result_});
  acceptance_ =
      std::make_unique<Acceptance>(Acceptance::Parts{.inputs = inputs_,
                                                     .host = confinement,
                                                     .root = confinement.keeper().view_root(),
                                                     .tree = *tree_,
                                                     .view = confinement.view(),
                                                     .git = git_,
                                                     .budget = budget_,
                                                     .signals = *signals_,
                                                     .redactor = redactor,
                                                     .outputs = *outputs_,
                                                     .record = record_,
                                                     .result = result_});
}

/// Emits the first event, and prints what the operator must know.
void Run::announce_start() {
  RunStart start = describe_start(inputs_, result_, git_, *workspace_, *confinement_);
  start.seal = transcript_seal(out_.path());
  const auto& earlier = record_.earlier();
  if (earlier) start.resumed_from = std::to_string(earlier->records - 1);
  record_.events().on({earlier ? earlier->used.turns : 0, std::move(start)});
  if (earlier) {
    write_running();
    out_.remove_end();
  }
  if (attempt_ == nullptr || attempt_->number == 1)
    record_.show_lines(head_lines(record_.log_style(), inputs_, options_, result_));
  if (earlier) record_.say_taken_up();
  if (const auto names = secrets_.not_searched_for(); !names.empty())
    record_.say("secrets: not searched for, since short or ordinary words: " + joined(names, ", "));
  for (const auto& warning : inputs_.warnings) record_.show_warning(warning);
  if (!out_.undone().empty()) record_.warn("the earlier run: " + out_.undone());
  for (const auto& warning : confinement_->warnings()) record_.warn(warning);
  tree_->names().start_keeping();
  if (const std::string risk = open_risk(inputs_.policy); !risk.empty()) record_.show_warning(risk);
  for (const auto& missing : confinement_->missing()) record_.say("sandbox: " + missing);
  if (inputs_.task.workspace.isolation == Isolation::automatic &&
      workspace_->isolation() == Isolation::copy)
    record_.say("isolation: copy (" + workspace_->reason() + ")");
}

/// A run that fails earlier has not shown any secrets; they are collected at its end, to redact its
/// messages.
void Run::learn_secrets() {
  secrets_.learn(confinement_ ? std::optional(confinement_->git_files()) : std::nullopt);
}

void Run::open_egress() {
  egress_ = std::make_unique<Egress>(
      inputs_.policy, *confinement_, secrets_.own(), [this](const EgressConnection& connection) {
        record_.events().on({record_.turn(), network_record(connection)});
      });
}

void Run::prove_guarantees() {
  const auto proofs = prove(inputs_.policy.sandbox, *confinement_, secrets_.kept_from_commands());
  egress_->report_from_now_on();
  result_.guarantees = guarantees_json(proofs);
  const std::string missing = missing_guarantees(inputs_.policy, proofs);
  if (!missing.empty()) throw RunEnds{ExitCode::environment, missing};
}

/// Runs the agent's work and checks its result.
void Run::work() {
  worked_ = true;
  tree_->begin_work();
  if (record_.earlier() && !options_.record.empty() && !replays(inputs_))
    inputs_.recorded = read_cassette(out_.path() / kTranscriptName);
  work_ = std::make_unique<AgentWork>(AgentWork::Parts{
      .agent = {.inputs = inputs_,
                .options = options_,
                .secrets = secrets_,
                .confinement = *confinement_,
                .work = *tree_,
                .tests = *acceptance_,
                .git = git_,
                .events = record_.events(),
                .notices = record_,
                .clock = clock_,
                .budget = budget_,
                .outputs = *outputs_,
                .stop = signals_->token()},
      .acceptance = *acceptance_,
      .tree = *tree_,
      .notes = notes_,
      .out = out_,
      .signals = *signals_,
      .record = record_,
      .result = result_,
      .effects = [this](const TurnCall& call) { return tree_->effects_since(call.started); }});
  work_->run();
  acceptance_->check_diff(work_->last_message());
  work_->take_notes();
}

ExitCode Run::execute(std::optional<GitPlacesOnce>& git_places) {
  try {
    begin();
    confine();
    start_record();
    git_places.reset();
    end_if_stopped(*signals_);
    open_egress();
    prove_guarantees();
    end_if_stopped(*signals_);
    if (record_.earlier() && !record_.earlier()->turns.empty())
      acceptance_->take_up(*record_.earlier());
    else
      acceptance_->verify_start();
    work();
    result_.code = ExitCode::success;
    result_.reason =
        result_.verified ? "the agent finished and the verification passed" : "the agent finished";
  } catch (const RunEnds& ends) {
    result_.code = ends.code;
    result_.reason = ends.reason;
    result_.next = ends.next;
    end_kind_ = ends.kind;
  } catch (const ModelError& error) {
    result_.code = error.code();
    result_.reason = error.what();
    result_.retry_after = error.retry_after();
    end_kind_ = error.kind();
  } catch (const std::exception& error) {
    take_failure(error);
  }
  return end();
}

void Run::take_failure(const std::exception& error) {
  const Error failure = failure_of(error);
  result_.code = failure.code();
  result_.reason = failure.what();
  result_.cause = failure.cause();
  if (failure.code() == ExitCode::internal) result_.next = kHowToReport;
}

/// Runs one step of the end; if it fails, the run is not a success.
/// @return  the error, or ""
std::string Run::finish(const std::function<void()>& step) {
  try {
    step();
    return "";
  } catch (const std::exception& error) {
    const std::string problem = error.what();
    if (result_.code != ExitCode::success) {
      result_.warnings.push_back(problem);
      return problem;
    }
    const Error failure = failure_of(error);
    result_.code = failure.code();
    result_.cause = failure.cause();
    // An error of the file system this late is not one of usage.
    if (result_.code == ExitCode::usage) result_.code = ExitCode::environment;
    result_.reason = problem;
    apply_.undo(result_);
    handover_->withdraw_success();
    result_.next = next_step(end_facts());
    return problem;
  }
}

/// Ends every run: no process is left, artifacts, the end of the transcript, the last line.
///
/// The artifacts come first, then the end of the transcript, result.json last: each reports the steps
/// before it, so that transcript, result.json and exit code agree.
ExitCode Run::end() {
  handover_.emplace(Handover::Parts{options_, out_, secrets_.redactor(), tree_.get(),
                                    acceptance_.get(), signals_.get(), record_, result_});
  finish([this] { learn_secrets(); });
  end_agent();
  end_processes();
  own_tree_undo_.undo_if_failed(result_, record_);
  if (signals_) signals_->never_end();  // readers of the outputs have their own time limits
  hand_over();
  room_.reset();
  finish([this] { record_.close(); });
  attest();
  const ExitCode recorded = result_.code;
  const std::string untold = finish([this] {
    write_result(out_.path(), result_json(result_, record_.tally()), secrets_.redactor());
  });
  // A record may end twice; the last end counts.
  if (result_.code != recorded) {
    own_tree_undo_.undo_if_failed(result_, record_);
    finish([this] { record_.close(); });
  }
  if (result_.code == ExitCode::success) apply_.settle();
  print_end(untold);
  return result_.code;
}

/// Writes the attestation of a success. It names the digests of the transcript and of result.json, so
/// it comes after the one and before the other.
void Run::attest() {
  if (result_.code != ExitCode::success) return;
  finish([this] {
    const Json result =
        secrets_.redactor().json(result_json(result_, record_.tally()), Audience::people);
    out_.write(kAttestationName, attestation_text(out_.path(), result_text(result)));
  });
  if (result_.code != ExitCode::success) finish([this] { record_.close(); });
}

/// Prints all that people get at the end: the message or the last event, the sum, the last line.
void Run::print_end(const std::string& untold) {
  const bool prints_message = result_.code == ExitCode::success && !options_.json &&
                              options_.diff != "-" && !options_.silent;
  record_.end_progress(!prints_message);
  if (!untold.empty())
    record_.write_error("sortie: result.json: " + secrets_.redactor().text(untold));
  if (options_.json) record_.end_live_events(stop());
  if (prints_message) handover_->print_message();
  if (!own_tree_undo_.keeps_state() &&
      (!record_.has_begun() || own_tree_undo_.watches() || !can_go_on(result_.code, worked_)))
    out_.remove_state();
  if (record_.has_begun()) record_.show_lines(sum_lines(result_, record_.tally(), options_.out));
  record_.say_last(options_.silent ? std::string()
                                   : last_line(result_, record_.tally().last_action, options_.out,
                                               secrets_.redactor()),
                   stop());
}

/// Ends the agent, and makes its diff while the tree still exists.
void Run::end_agent() {
  if (work_) {
    finish([this] {
      if (work_->end_background() > 0) tree_->names().restore_changed();
    });
    finish([this] { work_->fail_stage(); });
    if (can_go_on(result_.code, worked_)) tree_->checkpoint();
  }
  if (record_.has_begun()) {
    if (result_.code != ExitCode::success && !tree_->diff_failed())
      finish([this] { tree_->make_partial_diff(); });
    // A success has such files where the policy allows them.
    if (result_.code != ExitCode::leak) finish([this] { tree_->keep_undiffed(); });
  }
  if (work_) handover_->take(work_->take_answer());
  work_.reset();
}

void Run::end_processes() {
  finish([this] {
    if (confinement_) result_.survivors_excluded = confinement_->keeper().shut_down();
  });
  egress_.reset();  // nobody can use it any more; its connections are recorded now
}

/// Writes the artifacts and collects the warnings.
void Run::hand_over() {
  std::vector<std::string>& warnings = result_.warnings;
  if (!result_.survivors_excluded)
    warnings.push_back("it could not be proved that no process of the run is left");
  const std::size_t before = warnings.size();
  if (tree_ && tree_->diff())
    for (auto& warning :
         diff_warnings(*tree_->diff(), acceptance_->made_by_verification(), tree_->patched()))
      warnings.push_back(std::move(warning));
  for (std::size_t i = before; i < warnings.size(); ++i) record_.show_warning(warnings[i]);
  for (const auto& warning : record_.tally().warnings()) warnings.push_back(warning);
  finish([this] { handover_->write_artifacts(); });
  finish([this] {
    if (result_.code == ExitCode::success && tree_ && tree_->diff())
      apply_.apply(*tree_->diff(), workspace_->record(), out_.path(), result_);
  });
  own_tree_undo_.undo_if_failed(result_, record_);
  // The next run should only read the notes of a successful one.
  if (result_.code == ExitCode::success) {
    try {
      notes_.write();
    } catch (const Error& error) {
      warnings.push_back(std::string("the notes stay as they were: ") + error.what());
    }
  }
  result_.duration = budget_.time_used();
  explain_end();
}

EndFacts Run::end_facts() const {
  return {inputs_, options_, result_, record_.tally(), end_kind_, handover_->message()};
}

/// Says what to do about the end, and more of its cause.
void Run::explain_end() {
  const EndFacts facts = end_facts();
  std::string reason = full_reason(facts);
  result_.retryable = retryable_by(facts);
  if (result_.next.empty()) result_.next = next_step(facts);
  result_.reason = std::move(reason);
}

}  // namespace

ExitCode run_task(const RunOptions& options, const OutputStyle& style) {
  RunOptions resolved = options;
  resolve_stdout(resolved);
  std::optional<GitPlacesOnce> git_places(std::in_place);
  RunInputs inputs = load_inputs(resolved);
  check_machine();
  recover_workspace(inputs);
  check_apply(resolved, inputs);
  check_diff_base(inputs);
  check_flag_outputs(resolved, inputs);
  GitInfo git = read_git_info(inputs.workspace).value_or(GitInfo{});
  Json key_parts = run_key_parts(inputs, git.head_commit);
  const HeldSignals held_signals;  // before anything is written
  OutputFolder out(resolved.out);
  const Previous previous = judge_found_run(out, inputs, resolved, git, key_parts, inputs.warnings);
  out.take(previous);
  if (previous == Previous::returned) return return_found_run(out, inputs, resolved, style);
  const RunOne run = [&](RunInputs own, const RunOptions& flags, const OutputStyle& shown,
                         OutputFolder& folder, Previous found, const Attempt* attempt) {
    return Run(std::move(own), flags, shown, git, key_parts, folder, found, attempt)
        .execute(git_places);
  };
  if (inputs.task.best_of.count > 1)
    return run_attempts({inputs, resolved, style, key_parts, out, previous, run});
  return run(std::move(inputs), resolved, style, out, previous, nullptr);
}

}  // namespace sortie
