#include "app/run/run_opening.h"

#include <sys/prctl.h>

#include <algorithm>

#include "app/artifacts/flag_outputs.h"
#include "app/artifacts/run_mark.h"
#include "app/inputs/run_key.h"
#include "app/run/own_outputs.h"
#include "app/run/resumption.h"
#include "app/run/run_head.h"
#include "app/run/run_start.h"
#include "app/setup/models.h"
#include "core/base/error.h"
#include "core/text/text.h"
#include "core/workspace/diff/make_diff.h"
#include "core/workspace/undo_own_tree.h"
#include "policies/sandbox/keeper/keeper.h"
#include "policies/sandbox/keeper/support.h"

namespace sortie {
namespace {

/// The end of a run takes less; a process that needs longer is blocked.
constexpr std::chrono::seconds kMostOverTime{60};

/// The most bytes of saved outputs.
constexpr std::uint64_t kMostOutputs = 256u << 20;

class RunOpening {
 public:
  explicit RunOpening(RunParts& run) : run_(run) {}

  void begin();
  void confine();
  void take_secrets();
  void start_record();

 private:
  void take_up();
  void write_running(Synced synced);
  void keep_room();
  void confine_with(Namespaces namespaces, const std::filesystem::path& state,
                    const std::string& no_namespaces = {});
  void wait_for_tls();
  void make_acceptance(Confinement& confinement);
  void announce_start();

  RunParts& run_;
};

/// Everything up to the keeper: before any key is read, and single-threaded where it is not forked yet.
void RunOpening::begin() {
  // Threads are begun only where the keeper's process is there already.
  if (run_.early_keeper != nullptr) {
    if (!run_.goes_on())
      run_.git_view = look_for_git_view(run_.inputs, run_.covered(), run_.secrets.for_commands());
    run_.tls = prepare_model_tls(run_.inputs, run_.options);
  }
  run_.result.run_id = run_.inputs.run_id;
  run_.result.run_key = run_key(run_.key_parts);
  run_.result.name = run_.inputs.task.name;
  run_.result.requested_model = run_.inputs.task.model.name;
  run_.result.started = run_.clock.now();
  run_.result.approval = name_of(run_.inputs.approval);
  run_.result.warnings = run_.inputs.warnings;
  run_.result.digests = {{"task", run_.inputs.task.digest}, {"policy", run_.inputs.policy.digest}};
  // The transcript of a run that is resumed says so before its earlier end goes.
  if (run_.goes_on())
    take_up();
  else
    write_running(Synced::content);
  remove_stale(run_.options);
  check_start(run_.inputs.workspace);
  run_.notes.read(run_.result.warnings);
}

void RunOpening::write_running(Synced synced) {
  Json running =
      running_json(run_.result.run_id, run_.result.run_key, names_saved(run_.inputs.task));
  // Of the end of a run that goes on: they are the run's as long as they are there.
  const Json& kept = run_.out.found().result["kept"];
  if (run_.goes_on() && !kept.members().empty()) running.set("kept", kept);
  run_.out.write("result.json", write_json_pretty(running), synced);
}

/// Goes on with what an earlier process of this run has recorded.
void RunOpening::take_up() {
  const RunHistory& history = run_.record.take_up();
  take_up_inputs(history, run_.inputs);
  run_.result.run_id = run_.inputs.run_id;
  run_.result.started = history.began;
  run_.budget.take_up(history.used);
  // Nothing was done yet: the base is all there is.
  if (history.turns.empty()) run_.out.remove_state();
}

/// Keeps room on the disk for the end of the transcript and for result.json, should artifacts fill it.
void RunOpening::keep_room() {
  constexpr std::size_t kRoom = 64 << 10;
  if (run_.room) return;
  run_.room.emplace(run_.out.path() / "room");
  try {
    run_.room->write(std::string(kRoom, '\n'));
  } catch (...) {
    run_.room.reset();  // or the second try to confine would take it for kept
    throw;
  }
}

/// Tries the full sandbox first, since most machines have it, and probing takes longer than the rest
/// of the start. Probes everything step by step only if that fails.
void RunOpening::confine() {
  const std::filesystem::path state = run_.out.make_state(run_.inputs.workspace);
  if (run_.inputs.policy.sandbox == SandboxMode::none) return confine_with(Namespaces::none, state);
  try {
    confine_with(Namespaces::assumed, state);
    if (run_.confinement->keeper().layers().namespaces) return;
  } catch (const Error&) {
    // The second try reports what is wrong, with a remedy.
  }
  wait_for_tls();
  run_.git_view.reset();
  run_.confinement.reset();
  run_.workspace.reset();
  if (run_.previous != Previous::resumed) run_.out.remove_state();
  std::string why;
  const bool namespaces = namespaces_available(&why);
  confine_with(namespaces ? Namespaces::proved : Namespaces::none,
               run_.out.make_state(run_.inputs.workspace), why);
}

/// Before another keeper is forked.
void RunOpening::wait_for_tls() {
  if (run_.tls.valid()) run_.tls.wait();
}

void RunOpening::confine_with(Namespaces namespaces, const std::filesystem::path& state,
                              const std::string& no_namespaces) {
  const RunPlaces places{.out = run_.covered(),
                         .state = state,
                         .outputs = own_outputs(run_.covered(), run_.inputs, run_.options)};
  run_.workspace = open_run_workspace(run_.inputs, places, namespaces);
  // What was made in the user's tree while it was copied is in the copy: look for it afterwards.
  if (run_.workspace->isolation() == Isolation::copy) run_.git_view.reset();
  if (run_.inputs.thread == nullptr)
    run_.own_tree_undo.watch(*run_.workspace, state);
  else if (run_.workspace->isolation() == Isolation::none && run_.inputs.thread->keeps_start)
    never_undo(state);
  run_.result.isolation = name_of(run_.workspace->isolation());
  run_.result.isolation_reason = run_.workspace->reason();
  std::vector<std::filesystem::path> files = files_of_run(run_.inputs.task, run_.inputs.policy);
  if (run_.notes.are_kept()) files.push_back(run_.notes.file());
  // What it says while the run goes on is believed at once.
  if (!run_.options.status_file.empty())
    files.push_back(std::filesystem::absolute(run_.options.status_file));
  if (!run_.options.rate_limits.empty())
    files.push_back(std::filesystem::absolute(run_.options.rate_limits));
  protect_linked(*run_.workspace, files, run_.result.warnings);
  // After a power loss, only work in the user's own tree that is to be undone is known by its mark.
  const bool undone = run_.workspace->mount_plan().in_place && run_.inputs.thread == nullptr;
  const Synced synced = undone ? Synced::name : Synced::nothing;
  const auto mark = [&](int keeper) {
    if (keeper < 0) return wait_for_tls();
    run_.workspace->keep_record();  // the mark names a file of it where there are no birth times
    RunMark::write(state, run_.key_parts, keeper, synced);
    run_.secrets.learn_environment();
    if (!run_.tls.valid()) run_.tls = prepare_model_tls(run_.inputs, run_.options);
    describe_inputs(run_.inputs, run_.start);
    keep_room();
  };
  run_.confinement = confine_run(run_.inputs, places, *run_.workspace, std::move(files), namespaces,
                                 no_namespaces, run_.secrets.for_commands(), mark,
                                 {.keeper = run_.early_keeper, .git_view = run_.git_view.get()});
  run_.result.layers = run_.confinement->layers_json();
  run_.outputs = std::make_unique<SavedOutputs>(
      run_.confinement->outputs(),
      std::min<std::uint64_t>(kMostOutputs, run_.inputs.policy.limits.disk));
  run_.outputs->show_to([&record = run_.record](const void* output, std::string_view text) {
    record.show_output(output, text);
  });
}

void RunOpening::take_secrets() {
  // Before a key is in our memory: no process of this user may trace us or read /proc/PID/environ
  // and mem from here on, and no core file is written (prctl(2)).
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) throw system_error("prctl", ExitCode::environment);
  run_.signals = std::make_unique<Signals>();
  run_.signals->end_at(run_.budget.deadline() + kMostOverTime);
  run_.secrets.take_credentials(run_.confinement->profile(), run_.record);
  collect_secrets(run_);
}

void RunOpening::start_record() {
  run_.secrets.learn();
  make_acceptance(*run_.confinement);
  run_.record.begin(run_.clock, run_.inputs.policy.limits.transcript);
  announce_start();
}

void RunOpening::make_acceptance(Confinement& confinement) {
  const Redactor& redactor = run_.secrets.redactor();
  run_.tree = std::make_unique<RunTree>(
      RunTree::Parts{run_.inputs, *run_.workspace, confinement.view(), run_.budget, run_.clock,
                     *run_.signals, run_.out.path(), redactor, run_.record, run_.result},
      ProtectedNames::Parts{.root = run_.inputs.workspace,
                            .seen_as = confinement.workspace(),
                            .protect = confinement.profile().protect,
                            .links_at_start = confinement.links_at_start(),
                            .workspace = *run_.workspace,
                            .view = confinement.view(),
                            .git = run_.git,
                            .made = confinement.made_paths(),
                            .in_place = run_.workspace->mount_plan().in_place,
                            .mounted = confinement.keeper().layers().namespaces,
                            .out = run_.out.path(),
                            .redactor = redactor,
                            .record = run_.record,
                            .result = run_.result});
  run_.acceptance =
      std::make_unique<Acceptance>(Acceptance::Parts{.inputs = run_.inputs,
                                                     .host = confinement,
                                                     .root = confinement.keeper().view_root(),
                                                     .tree = *run_.tree,
                                                     .view = confinement.view(),
                                                     .git = run_.git,
                                                     .budget = run_.budget,
                                                     .signals = *run_.signals,
                                                     .redactor = redactor,
                                                     .outputs = *run_.outputs,
                                                     .record = run_.record,
                                                     .result = run_.result});
}

/// Emits the first event, and prints what the operator must know.
void RunOpening::announce_start() {
  RunStart start = std::move(run_.start);
  describe_start(run_.inputs, run_.result, run_.git, *run_.workspace, *run_.confinement, start);
  start.seal = transcript_seal(run_.out.path());
  const auto& earlier = run_.record.earlier();
  if (earlier) start.resumed_from = std::to_string(earlier->records - 1);
  run_.record.events().on({earlier ? earlier->used.turns : 0, std::move(start)});
  if (earlier) {
    run_.record.sync();
    write_running(Synced::name);
    run_.out.remove_end();
  }
  if (run_.attempt == nullptr || run_.attempt->number == 1)
    run_.record.show_lines(
        head_lines(run_.record.log_style(), run_.inputs, run_.options, run_.result));
  if (earlier) run_.record.say_taken_up();
  if (const auto names = run_.secrets.not_searched_for(); !names.empty())
    run_.record.say("secrets: not searched for, since short or ordinary words: " +
                    joined(names, ", "));
  // Those of the inputs and of all that was done before there was a log.
  for (const auto& warning : run_.result.warnings) run_.record.show_warning(warning);
  if (!run_.out.undone().empty()) run_.record.warn("the earlier run: " + run_.out.undone());
  for (const auto& warning : run_.confinement->warnings()) run_.record.warn(warning);
  run_.tree->names().start_keeping();
  if (const std::string risk = open_risk(run_.inputs.policy); !risk.empty())
    run_.record.show_warning(risk);
  for (const auto& missing : run_.confinement->missing()) run_.record.say("sandbox: " + missing);
  if (run_.inputs.task.workspace.isolation == Isolation::automatic &&
      run_.workspace->isolation() == Isolation::copy)
    run_.record.say("isolation: copy (" + run_.workspace->reason() + ")");
}

}  // namespace

void open_run(RunParts& run) {
  RunOpening opening(run);
  opening.begin();
  opening.confine();
  opening.take_secrets();
}

void begin_record(RunParts& run) { RunOpening(run).start_record(); }

}  // namespace sortie
