#include "app/run/verifier.h"

#include <atomic>
#include <map>
#include <utility>

#include "app/artifacts/diff_verdict.h"
#include "app/run/run_ends.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/record/diff_names.h"
#include "core/text/text.h"
#include "core/workspace/tree.h"
#include "policies/engine/engine.h"
#include "tools/commands/command_output.h"

namespace sortie {

/// The tree of one verification, and the launcher of its commands.
class VerificationPlace {
 public:
  VerificationPlace() = default;
  VerificationPlace(const VerificationPlace&) = delete;
  VerificationPlace& operator=(const VerificationPlace&) = delete;
  virtual ~VerificationPlace() = default;
  /// @param again  the commands run a second time
  virtual Launcher& launcher(bool again) = 0;
  virtual ChangedState state() = 0;
  /// The run's own tree is at its place again. @throws Error
  virtual void end() {}
  /// Null for the run's own tree.
  virtual const FreshTree* fresh() const { return nullptr; }
  /// Puts back what the commands changed of what is verified, where nothing of it stays.
  virtual void put_back(const std::vector<std::string>&) {}
  /// Removes what they made at restored paths, where the start has nothing. @return  these paths
  virtual std::vector<std::string> take_out_made() { return {}; }
  /// Whether a second time begins with the setup.
  virtual bool needs_setup_again() const { return true; }
};

namespace {

/// Unique, since two may run at once if the model asks for the tests twice in one turn.
std::string next_name() {
  static std::atomic<int> count = 0;
  return "verification " + std::to_string(++count);
}

/// Starts the commands of one verification in a private set, so that they don't see what the agent's
/// commands left outside the workspace.
class VerificationLauncher : public Launcher {
 public:
  /// @param host  outlives it
  VerificationLauncher(CommandHost& host, std::string set) : host_(host), set_(std::move(set)) {}

  std::unique_ptr<RunningCommand> start(const Command& command) override {
    Command own = command;
    own.private_set = set_;
    return host_.launcher().start(own);
  }
  std::chrono::milliseconds time_left() const override { return host_.launcher().time_left(); }
  const std::string& set() const { return set_; }

 private:
  CommandHost& host_;
  std::string set_;
};

/// The run's own tree. Each time gets a private set that is empty at first.
class RunPlace : public VerificationPlace {
 public:
  RunPlace(CommandHost& host, RunTree& tree) : host_(host), tree_(tree) {}
  ~RunPlace() override { drop(); }

  Launcher& launcher(bool) override {
    drop();
    return launcher_.emplace(host_, next_name());
  }
  ChangedState state() override { return tree_.state(); }

 private:
  void drop() {
    if (launcher_) host_.drop_private_set(launcher_->set());
  }

  CommandHost& host_;
  RunTree& tree_;
  std::optional<VerificationLauncher> launcher_;
};

class FreshPlace : public VerificationPlace {
 public:
  /// @param effect  of the diff; outlives it
  FreshPlace(const FreshTree::Parts& parts, RunTree& run, RunRecord& record,
             const DiffEffect& effect)
      : run_(run),
        effect_(effect),
        commands_(parts.host, next_name()),
        tree_(parts, commands_.set(), effect) {
    if (MadePaths* made = tree_.made_paths()) {
      made->tell([&record](const auto& paths) { record_made(record, paths); });
      guarded_.emplace(commands_, *made);
    }
  }

  Launcher& launcher(bool) override {
    if (guarded_) return *guarded_;
    return commands_;
  }
  ChangedState state() override {
    if (MadePaths* made = tree_.made_paths()) made->undo();
    return run_.state_of(tree_.workspace(), tree_.files());
  }
  void end() override { tree_.end(); }
  void put_back(const std::vector<std::string>& paths) override { tree_.put_back(paths, effect_); }
  std::vector<std::string> take_out_made() override { return tree_.take_out_made(); }
  const FreshTree* fresh() const override { return &tree_; }
  bool needs_setup_again() const override { return false; }

 private:
  RunTree& run_;
  const DiffEffect& effect_;
  VerificationLauncher commands_;
  FreshTree tree_;
  std::optional<MadePathsLauncher> guarded_;
};

/// Collects output like that of any other command.
class VerificationOutput : public OutputTaker {
 public:
  VerificationOutput(const Redactor& redactor, std::size_t shown_bytes, SavedOutputs* whole)
      : output_(redactor, shown_bytes, whole) {}
  void feed(std::string_view bytes) override { output_.feed(bytes); }
  CollectedOutput finish() override { return output_.finish(); }

 private:
  CommandOutput output_;
};

}  // namespace

std::string changes_what_it_checks(const std::vector<std::string>& paths) {
  return "the verification changes what it checks: " + some_of(paths);
}

std::string digest_of(const Diff& diff) {
  std::map<std::string, std::string> digests = {{kChangesDiff, sha256_hex(diff.text)}};
  for (const Diff& one : diff.submodules)
    digests[diff_name(kChangesDiff, one.submodule)] = sha256_hex(one.text);
  return digest_of_diffs(digests);
}

std::string absent_from_fresh_tree(const Diff& diff, const std::vector<std::string>& restored) {
  std::vector<std::string> absent = diff.ignored_changes;
  for (const LeftOut& one : diff.left_out)
    if (one.why == LeftOut::Why::product) absent.push_back(one.path);
  std::string text;
  if (!absent.empty())
    text +=
        "It ran on the tree of the start with your diff, which lacks what git ignores and what a "
        "build made in this run: " +
        some_of(absent) + ".\n";
  if (!restored.empty())
    text +=
        "These were as at the start, whatever you changed in them: " + some_of(restored) + ".\n";
  return text;
}

bool Verifier::is_fresh() const {
  const TaskVerify& task = parts_.inputs.task.verify;
  return !task.commands.empty() && task.in == VerifyIn::fresh;
}

VerificationOptions Verifier::options_for(VerificationPhase phase, int round) const {
  VerificationOptions options;
  options.workdir = parts_.host.workspace();
  options.environment = parts_.host.environment();
  options.phase = phase;
  options.round = round;
  options.turn = parts_.record.turn();
  options.tree = name_of(VerifyIn::run);
  if (parts_.inputs.task.verify.baseline == VerifyBaseline::no_new_failures) {
    options.read_tests = true;
    options.all_commands = phase == VerificationPhase::before;
    if (parts_.result.verification_before && phase != VerificationPhase::before)
      options.baseline = &*parts_.result.verification_before;
  }
  options.shown_bytes = parts_.inputs.task.context.shown_output;
  options.max_output_bytes = parts_.inputs.policy.limits.output;
  options.redactor = &parts_.redactor;
  options.take_output = [this] {
    return std::make_unique<VerificationOutput>(
        parts_.redactor, parts_.inputs.task.context.shown_output, &parts_.outputs);
  };
  options.find_whole = [this](const std::string& path) { return parts_.outputs.find(path); };
  return options;
}

/// Why the rules refuse a verification command in the current tree, or "".
std::string Verifier::refusal() const {
  if (!parts_.inputs.policy.verify_by_rules) return "";
  const TaskVerify& task = parts_.inputs.task.verify;
  for (const auto* commands : {&task.setup, &task.commands}) {
    for (const VerifyCommand& command : *commands) {
      const Decision decision = parts_.host.engine().decide(
          RunCommand{.argv = command.argv, .workdir = parts_.host.workspace()});
      if (decision.effect != Effect::allow)
        return "the verification command '" + one_line(command.text, 80) +
               "' may not run: " + decision.reason + " (bounds.verify is rules)";
    }
  }
  return "";
}

FreshTree::Parts Verifier::tree_parts() const {
  return {parts_.inputs.task.verify, parts_.host, parts_.tree.workspace(), parts_.view};
}

std::unique_ptr<VerificationPlace> Verifier::open_place(const Diff* diff) const {
  if (!is_fresh()) return std::make_unique<RunPlace>(parts_.host, parts_.tree);
  static const DiffEffect kStart;
  return std::make_unique<FreshPlace>(tree_parts(), parts_.tree, parts_.record,
                                      diff != nullptr ? diff->effect : kStart);
}

/// For a call of the model. The tool runner checks the protected paths afterwards. Where nothing can
/// be mounted, the run's tree can't be put aside while other programs of the agent may run.
RunTests::Outcome Verifier::run_tests(std::stop_token stop) {
  if (std::string problem = refusal(); !problem.empty())
    return {.passed = false, .text = std::move(problem)};
  VerificationOptions options =
      options_for(VerificationPhase::run_tests, parts_.result.verification_rounds + 1);
  Diff diff;
  std::unique_ptr<VerificationPlace> place;
  std::string note;
  if (is_fresh() && parts_.host.can_make_tree()) {
    diff = parts_.tree.snapshot([&stop] {
      if (stop.stop_requested()) throw ToolError("run_tests was stopped");
    });
    options.tree = name_of(VerifyIn::fresh);
    options.diff = digest_of(diff);
    place = std::make_unique<FreshPlace>(tree_parts(), parts_.tree, parts_.record, diff.effect);
    note = absent_from_fresh_tree(diff, place->fresh()->restored());
    if (const std::string lost = undiffable_changes(diff); !lost.empty()) note += lost + "\n";
  } else {
    place = std::make_unique<RunPlace>(parts_.host, parts_.tree);
  }
  const TaskVerify& task = parts_.inputs.task.verify;
  const VerificationResult result =
      run_verification({task.setup, task.commands}, place->launcher(false), parts_.record.events(),
                       parts_.budget, options, stop);
  std::string text = verification_report(result);
  if (!result.passed) text += note;
  RunTests::Outcome outcome{result.passed, std::move(text), {}, last_whole(result)};
  if (!result.outcomes.empty()) outcome.exit = result.outcomes.back().exit;
  return outcome;
}

void Verifier::end_background(Background* agent) {
  const int ended = agent != nullptr ? agent->end_background() : 0;
  parts_.tree.names().undo_made();
  if (ended > 0) parts_.tree.names().check_unchanged("a command");
}

VerificationResult Verifier::run_once(VerificationOptions options, Background* agent,
                                      VerificationPlace& place, bool again) {
  const bool own_tree = place.fresh() == nullptr;
  if (own_tree) end_background(agent);
  if (const std::string problem = refusal(); !problem.empty())
    throw RunEnds{ExitCode::task_failed, problem};
  const TaskVerify& task = parts_.inputs.task.verify;
  VerificationSteps steps{task.setup, task.commands};
  if (again && !place.needs_setup_again()) steps.setup = {};
  VerificationResult result = run_verification(steps, place.launcher(again), parts_.record.events(),
                                               parts_.budget, options, parts_.signals.token());
  if (own_tree) {
    parts_.tree.names().undo_made();
    parts_.tree.names().check_unchanged("a verification command");
  }
  end_if_stopped(parts_.signals);
  if (result.stopped) parts_.tree.end_by_time("during verification");
  return result;
}

/// After each command that another one follows: it may run code of the agent, which could change what
/// the next one checks, and have it take that back. New files are for builds; at restored paths they
/// are removed, or a command could plant a test there.
/// @param changed  gets what differs of the start and of the run's changes
void Verifier::look_between(const ChangedState& judged, VerificationPlace& place,
                            std::set<std::string>& changed) {
  const std::vector<std::string> removed = place.take_out_made();
  taken_out_.insert(removed.begin(), removed.end());
  for (const std::string& path : differing_paths(judged, place.state()))
    if (judged.contains(path) || has_path(parts_.tree.workspace().start(), path))
      changed.insert(path);
}

/// A verification counts only if the tree is the same before and after each command: they run code of
/// the agent, which could write whatever makes them pass. One that merely creates files (a cache, a
/// build product) creates the same ones again, and passes when it is run once more. What it changed of
/// the start and the diff is put back before in a fresh tree, as it does not get into the diff.
VerificationResult Verifier::verify(VerificationPhase phase, int round, const Diff* diff,
                                    Background* agent) {
  left_.reset();
  changed_.clear();
  taken_out_.clear();
  end_background(agent);
  const std::unique_ptr<VerificationPlace> place = open_place(diff);
  VerificationOptions options = options_for(phase, round);
  RunResult& run = parts_.result;
  if (const FreshTree* fresh = place->fresh()) {
    options.tree = name_of(VerifyIn::fresh);
    if (diff != nullptr) options.diff = digest_of(*diff);
    run.restored = fresh->restored();
  }
  run.verified_in = options.tree;
  run.verified_diff = options.diff;
  ChangedState judged = place->state();
  std::set<std::string> between;
  options.between = [&] { look_between(judged, *place, between); };
  for (bool again = false;; again = true) {
    between.clear();
    VerificationResult result = run_once(options, agent, *place, again);
    ChangedState left = place->state();
    std::vector<std::string> paths = differing_paths(judged, left);
    if (place->fresh() == nullptr)
      for (const std::string& path : paths)
        if (!judged.contains(path)) made_.insert(path);
    between.insert(paths.begin(), paths.end());
    paths.assign(between.begin(), between.end());
    const bool is_over = again || !result.passed || paths.empty();
    if (is_over) place->end();
    if (!result.passed) return result;
    if (paths.empty()) {
      changed_.clear();
      if (place->fresh() == nullptr) left_ = std::move(left);
      return result;
    }
    changed_ = run.changed_by_verification = paths;
    if (is_over && diff != nullptr && place->fresh() != nullptr) return result;
    if (is_over) end_changed(result, paths);
    parts_.record.say("the verification changed what it checks (" + some_of(paths, 3) +
                      "): it runs once more");
    place->put_back(paths);
    place->take_out_made();
    judged = place->fresh() != nullptr ? place->state() : std::move(left);
  }
}

void Verifier::end_changed(const VerificationResult& result,
                           const std::vector<std::string>& paths) {
  parts_.result.verification = result;
  parts_.result.verified = false;
  throw RunEnds{ExitCode::task_failed, changes_what_it_checks(paths), kLetItChange};
}

}  // namespace sortie
