#include "app/run/run.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "app/artifacts/flag_outputs.h"
#include "app/confinement/verification_launcher.h"
#include "app/inputs/provider_choice.h"
#include "app/inputs/run_inputs.h"
#include "app/run/carry_over.h"
#include "app/run/run_steps.h"
#include "app/setup/mcp_servers.h"
#include "app/setup/script_files.h"
#include "app/show/failure.h"
#include "core/agent/loop.h"
#include "core/agent/prompt.h"
#include "core/base/error.h"
#include "core/git/config/git_secrets.h"
#include "core/provider/sign_in/credentials.h"
#include "core/secrets/address_passwords.h"
#include "core/text/text.h"
#include "core/workspace/diff/make_diff.h"
#include "core/workspace/tree_search.h"
#include "policies/engine/engine.h"
#include "policies/environment/known_secrets.h"
#include "policies/sandbox/canary.h"
#include "policies/sandbox/keeper/keeper.h"
#include "policies/sandbox/keeper/support.h"
#include "tools/commands/command_output.h"

namespace sortie {
namespace {

/// With nothing around it the canary would try all its ways out on the machine itself.
std::vector<GuaranteeProof> proofs_without_sandbox() {
  std::vector<GuaranteeProof> proofs;
  for (const Guarantee guarantee : {Guarantee::writes, Guarantee::secrets, Guarantee::network,
                                    Guarantee::processes, Guarantee::kernel})
    proofs.push_back({guarantee, false, "sandbox.mode is none: there is nothing to prove"});
  return proofs;
}

}  // namespace

void Run::end_if_stopped() const {
  if (!stop().stop_requested()) return;
  const bool interrupt = signals_->received() == SIGINT;
  throw RunEnds{interrupt ? ExitCode::interrupted : ExitCode::terminated,
                interrupt ? "interrupted by SIGINT" : "ended by a signal",
                "the same command again"};
}

namespace {

/// What the stages will put into --out.
std::vector<std::string> names_saved(const Task& task) {
  std::vector<std::string> names;
  for (const TaskStage& stage : task.stages)
    if (!stage.save.empty()) names.push_back(stage.save);
  return names;
}

/// What would only come out when the work is done.
void check_diff_base(const RunInputs& inputs) {
  if (inputs.task.output.base != DiffBase::head) return;
  const auto git = read_git_info(inputs.workspace);
  if (git && !git->head_commit.empty()) return;
  const auto place = inputs.task.places.find("output.diff.base");
  const std::string refused = git ? "" : why_git_is_refused(inputs.workspace);
  throw InputError((place == inputs.task.places.end() ? "" : place->second + ": error: ") +
                   "output.diff.base: head: the workspace has no commit" +
                   (refused.empty() ? "" : " that can be used: " + refused) + "; use start");
}

}  // namespace

/// Everything up to the keeper: single-threaded, and before any key is read.
void Run::begin() {
  result_.run_id = inputs_.run_id;
  result_.run_key = run_key(inputs_, git_.head_commit);
  result_.name = inputs_.task.name;
  result_.requested_model = inputs_.task.model.name;
  result_.started = clock_.now();
  result_.approval = name_of(inputs_.approval);
  result_.warnings = inputs_.warnings;
  result_.digests = {{"task", inputs_.task.digest}, {"policy", inputs_.policy.digest}};
  out_.write("result.json", write_json_pretty(running_json(result_.run_id, result_.run_key,
                                                           names_saved(inputs_.task))));
  remove_stale(options_);
  check_start(inputs_.workspace);
  read_notes();
}

/// What an earlier run left for this one.
void Run::read_notes() {
  notes_file_ = carry_over_file(inputs_.task, options_.out);
  if (notes_file_.empty()) return;
  CarriedNotes notes = read_carry_over(notes_file_);
  old_notes_ = std::move(notes.text);
  if (notes.cut)
    result_.warnings.push_back("context.carry_over: only the first " +
                               std::to_string(kMostNotes >> 10) + " KiB of " +
                               notes_file_.string() + " are read");
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

/// What commands may inherit from: all but the keys, whatever their variables are called.
Environment Run::commands_environment() const {
  Environment environment = environment_;
  for (const auto& name : key_variables(inputs_)) environment.erase(name);
  for (const auto& name : mcp_token_variables(inputs_.task)) environment.erase(name);
  return environment;
}

namespace {

/// Bytes of the outputs of a run that stand whole beside it.
constexpr std::uint64_t kMostOutputs = 256u << 20;

/// Where outputs stand whole while the run lasts: gone with its state.
std::filesystem::path make_outputs_folder(const std::filesystem::path& state) {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::canonical(state, error) / "outputs";
  if (!error) std::filesystem::create_directory(folder, error);
  if (error) throw path_error(folder.string(), error.value());
  return folder;
}

}  // namespace

void Run::confine_with(Namespaces namespaces, const std::filesystem::path& state,
                       const std::string& no_namespaces) {
  workspace_ = open_run_workspace(inputs_, out_.path(), state, namespaces);
  result_.isolation = name_of(workspace_->isolation());
  result_.isolation_reason = workspace_->reason();
  std::vector<std::filesystem::path> files = files_of_run(inputs_.task, inputs_.policy);
  if (!notes_file_.empty()) files.push_back(notes_file_);
  confinement_ = std::make_unique<Confinement>(
      ConfinementInputs{inputs_.policy, inputs_.approval, inputs_.workspace, out_.path(),
                        std::move(files), workspace_->mount_plan(), namespaces != Namespaces::none,
                        no_namespaces, state, make_outputs_folder(state)},
      commands_environment());
  confinement_->judge_scripts_by(
      script_files(workspace_->start(), confinement_->view(), confinement_->workspace()));
  if (!confinement_->keeper().layers().namespaces)
    protected_paths_ = std::make_unique<ProtectedPaths>(
        confinement_->workspace(), inputs_.workspace, confinement_->profile().protect);
  result_.layers = confinement_->layers_json();
  outputs_ = std::make_unique<WholeOutputs>(
      confinement_->outputs(), std::min<std::uint64_t>(kMostOutputs, inputs_.policy.limits.disk));
}

namespace {

/// What the end of a run takes fits into it; who needs longer is blocked.
constexpr std::chrono::seconds kMostOverTime{60};

}  // namespace

void Run::start_record() {
  // Before a key is in our memory: no process of this user may trace us or read /proc/PID/environ
  // and mem from here on, and no core file is written (prctl(2)).
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) throw system_error("prctl", ExitCode::environment);
  signals_ = std::make_unique<Signals>();
  signals_->end_at(budget_.deadline() + kMostOverTime);
  take_credentials();
  learn_secrets();
  transcript_ = std::make_unique<Transcript>(out_.path(), clock_, inputs_.policy.limits.transcript);
  errors_ = std::make_unique<ErrorStream>(STDERR_FILENO);
  progress_ = std::make_unique<Progress>(style_, redactor_, *errors_);
  events_.add(*transcript_);
  events_.add(tally_);
  open_live_events();
  if (live_events_) events_.add(*live_events_);
  if (!style_.quiet) events_.add(*progress_);
  events_.on(run_started_event(describe_start(inputs_, result_, git_, *workspace_, *confinement_)));
  if (!not_looked_for_.empty()) {
    std::string names;
    for (const auto& name : not_looked_for_) names += (names.empty() ? "" : ", ") + name;
    progress_->say("secrets: not looked for, since short or an ordinary word: " + names);
  }
  for (const auto& warning : inputs_.warnings) progress_->warn(warning);
  for (const auto& warning : confinement_->warnings()) {
    progress_->warn(warning);
    result_.warnings.push_back(warning);
  }
  tell_made_paths();
  if (inputs_.policy.sandbox == SandboxMode::none)
    progress_->warn("sandbox: NONE by the policy: commands can do all that this user can");
  else if (inputs_.policy.network == NetworkMode::full)
    progress_->warn("network: OPEN by the policy: commands reach all that this machine reaches");
  for (const auto& missing : confinement_->missing()) progress_->say("sandbox: " + missing);
  if (inputs_.task.workspace.isolation == Isolation::automatic &&
      workspace_->isolation() == Isolation::copy)
    progress_->say("isolation: copy (" + workspace_->reason() + ")");
  git_places_.reset();
}

void Run::open_egress() {
  egress_ = std::make_unique<Egress>(
      inputs_.policy, *confinement_, environment_, [this](const EgressConnection& connection) {
        if (!proving_)
          events_.on(network_connection_event(events_.turn(), network_record(connection)));
      });
}

/// Reads the keys and the sign-in. What a refresh brings during the run is a secret from then on.
void Run::take_credentials() {
  keys_ = take_model_keys(inputs_, options_);
  sign_in_ = take_sign_in(inputs_, options_, confinement_->profile());
  if (!sign_in_) return;
  sign_in_->options.learn = [this](const std::vector<Secret>& secrets) {
    redactor_.add_all(secrets);
  };
  sign_in_->options.say = [this](const std::string& line) { progress_->say(line); };
  sign_in_->options.warn = [this](const std::string& line) {
    progress_->warn(line);
    result_.warnings.push_back(line);
  };
}

/// Collects the secrets, and erases the variables that held them. A failure before this has shown
/// nothing of them; its words are redacted at the run's end, for which they are collected then.
void Run::learn_secrets() {
  if (secrets_known_) return;
  secrets_known_ = true;
  proxy_ = proxy_of_environment();
  auto known = known_secrets(inputs_.policy, environment_);
  // From a file or descriptor, no variable's value stands for the key.
  for (const auto& key : keys_.keys) {
    if (!key.value) continue;
    if (is_looked_for(*key.value, environment_)) {
      secrets_.push_back(*key.value);
      redactor_.add({key.variable, *key.value});
    } else if (std::find(known.left_out.begin(), known.left_out.end(), key.variable) ==
               known.left_out.end()) {
      known.left_out.push_back(key.variable);
    }
  }
  if (sign_in_) {
    const std::vector<Secret> tokens = sign_in_->file.secrets();
    redactor_.add_all(tokens);
    for (const Secret& token : tokens) secrets_.push_back(token.value);
  }
  const auto git_files =
      confinement_ ? confinement_->git_files() : search_tree(inputs_.workspace).git_files;
  for (auto& secret : git_config_secrets(inputs_.workspace, git_files))
    known.values.push_back(std::move(secret));
  learn(redactor_, inputs_.policy, known.values);
  not_looked_for_ = std::move(known.left_out);
  const auto& included = inputs_.policy.environment_include;
  for (const Secret& secret : environment_secrets(inputs_.policy, environment_)) {
    take_environment_key(secret.name);  // erased: no variable of ours holds it any more
    // What the policy gives to commands, the canary may find there.
    const bool given = std::find(included.begin(), included.end(), secret.name) != included.end();
    if (!given && is_looked_for(secret.value, environment_)) secrets_.push_back(secret.value);
  }
  for (const auto& [name, value] : environment_)
    if (value.find("://") != std::string::npos && !address_passwords(value).empty())
      take_environment_key(name);
}

void Run::prove_guarantees() {
  std::vector<GuaranteeProof> proofs;
  if (inputs_.policy.sandbox == SandboxMode::none) {
    proofs = proofs_without_sandbox();
  } else {
    proving_ = true;
    proofs = run_canary(confinement_->launcher(), confinement_->profile(),
                        confinement_->environment(), secrets_);
    proving_ = false;
  }
  result_.guarantees = guarantees_json(proofs);
  const std::string missing = missing_guarantees(inputs_.policy, proofs);
  if (!missing.empty())
    throw RunEnds{ExitCode::environment, missing, "sortie doctor says what this machine can do"};
}

namespace {

/// As the output of any other command.
class VerificationOutput : public OutputTaker {
 public:
  VerificationOutput(const Redactor& redactor, std::size_t shown_bytes, WholeOutputs* whole)
      : output_(redactor, shown_bytes, whole) {}
  void feed(std::string_view bytes) override { output_.feed(bytes); }
  CollectedOutput finish() override { return output_.finish(); }

 private:
  CommandOutput output_;
};

}  // namespace

VerificationOptions Run::verification_options(const std::string& phase, int round) const {
  VerificationOptions options;
  options.workdir = confinement_->workspace();
  options.environment = confinement_->environment();
  options.phase = phase;
  options.round = round;
  options.turn = agent_ ? agent_->loop().turn() : 0;
  options.shown_bytes = inputs_.task.context.shown_output;
  options.max_output_bytes = inputs_.policy.limits.output;
  options.redactor = &redactor_;
  options.take_output = [this] {
    return std::make_unique<VerificationOutput>(redactor_, inputs_.task.context.shown_output,
                                                outputs_.get());
  };
  options.name_whole = [this](RunEvent& event, const std::string& path) {
    if (!outputs_) return;
    if (const auto whole = outputs_->find(path)) set_whole_output(event, *whole);
  };
  return options;
}

/// Why a verification command may not run now, by rules that look at the tree as it is.
std::string Run::verification_problem() const {
  if (!inputs_.policy.verify_by_rules) return "";
  for (const VerifyCommand& command : inputs_.task.verify.commands) {
    const Decision decision = confinement_->engine().decide(
        RunCommand{.argv = command.argv, .workdir = confinement_->workspace()});
    if (decision.effect != Effect::allow)
      return "the verification command '" + one_line(command.text, 80) +
             "' may not run: " + decision.reason + " (bounds.verify is rules)";
  }
  return "";
}

/// What the model asked for. The tool runner looks at the protected paths afterwards.
RunTests::Outcome Run::run_tests(std::stop_token stop) {
  if (std::string problem = verification_problem(); !problem.empty())
    return {.passed = false, .text = std::move(problem)};
  VerificationLauncher launcher(*confinement_);
  const VerificationResult result =
      run_verification(inputs_.task.verify.commands, launcher, events_, budget_,
                       verification_options("run_tests", result_.verification_rounds + 1), stop);
  RunTests::Outcome outcome{result.passed, verification_report(result), {}, last_whole(result)};
  if (!result.outcomes.empty()) outcome.exit = result.outcomes.back().exit;
  return outcome;
}

/// Nothing of the agent's may run while its work is judged.
void Run::end_background() {
  const int ended = agent_ ? agent_->end_background() : 0;
  undo_made_paths();
  if (ended == 0 || !protected_paths_) return;
  if (const auto changed = protected_paths_->restore_changed(); !changed.empty())
    throw RunEnds{ExitCode::integrity, "a command changed the protected path " + changed.front()};
}

VerificationResult Run::verify(const std::string& phase, int round) {
  end_background();
  if (const std::string problem = verification_problem(); !problem.empty())
    throw RunEnds{ExitCode::task_failed, problem};
  const VerificationOptions options = verification_options(phase, round);
  VerificationLauncher launcher(*confinement_);
  auto result =
      run_verification(inputs_.task.verify.commands, launcher, events_, budget_, options, stop());
  undo_made_paths();
  if (protected_paths_) {
    if (const auto changed = protected_paths_->restore_changed(); !changed.empty())
      throw RunEnds{ExitCode::integrity,
                    "a verification command changed the protected path " + changed.front()};
  }
  end_if_stopped();
  if (result.stopped) end_by_time("during verification");
  return result;
}

void Run::verify_start() {
  const ExpectedStart before = inputs_.task.verify.before;
  if (inputs_.task.verify.commands.empty() || before == ExpectedStart::any) return;
  result_.verification_before = verify_whole("before", 1);
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

/// What something made under a protected name is gone before anything is judged.
void Run::undo_made_paths() {
  if (MadePaths* made = confinement_->made_paths()) made->undo();
}

/// In kept/, before it goes.
void Run::keep_what_is_taken(const std::filesystem::path& path) {
  taken_empty_.merge(times_of_empty_files(confinement_->view(), path));
  keep_taken(out_.path(), confinement_->view(), path.string(), redactor_, taken_);
  result_.kept = taken_.digests;
}

/// On record and in the warnings as it happens, whoever made it.
void Run::tell_made_paths() {
  if (protected_paths_)
    protected_paths_->keep_by(
        [this](const std::filesystem::path& path) { keep_what_is_taken(path); });
  MadePaths* made = confinement_->made_paths();
  if (made == nullptr) return;
  made->keep_by([this](const std::filesystem::path& path) {
    keep_what_is_taken(path);
    return MadePaths::Kept::copied;
  });
  made->tell([this](const std::vector<std::string>& paths) {
    std::string names;
    for (const auto& path : paths) names += (names.empty() ? "" : ", ") + path;
    events_.on(check_hit_event(events_.turn(), "protected_path_made", names, ""));
  });
}

/// What a later run should know, in the model's own words. The work is done: what goes wrong here
/// is told and no more.
void Run::take_notes() {
  if (notes_file_.empty() || !agent_) return;
  std::string why_not;
  const std::string text = agent_->loop().ask_aside(kCarryOverRequest, why_not, stop());
  if (const auto secret = redactor_.find(text); !secret.empty())
    why_not = "they would hold the value of " + secret;
  if (why_not.empty())
    new_notes_ = redactor_.text(text);
  else
    result_.warnings.push_back("context.carry_over: the notes stay as they were: " + why_not);
}

ExitCode Run::execute() {
  std::string fault;
  try {
    begin();
    confine();
    start_record();
    end_if_stopped();
    open_egress();
    prove_guarantees();
    end_if_stopped();
    verify_start();
    work();
    check_diff();
    take_notes();
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
  } catch (const std::exception& error) {
    const Error failure = failure_of(error);
    result_.code = failure.code();
    result_.reason = failure.what();
    if (failure.code() == ExitCode::internal) result_.next = kHowToReport;
  }
  return end();
}

ExitCode run_task(const RunOptions& options, const OutputStyle& style) {
  RunOptions settled = options;
  settle_stdout(settled);
  std::optional<GitPlacesOnce> start(std::in_place);
  RunInputs inputs = load_inputs(settled);
  check_machine();
  check_diff_base(inputs);
  check_flag_outputs(settled, inputs);
  Run run(std::move(inputs), settled, style);
  start.reset();  // the run has its own, which ends with its start
  return run.execute();
}

}  // namespace sortie
