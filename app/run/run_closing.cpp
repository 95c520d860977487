#include "app/run/run_closing.h"

#include <functional>

#include "app/artifacts/diff_verdict.h"
#include "app/artifacts/run_reports.h"
#include "app/run/codex_words.h"
#include "app/run/found_run.h"
#include "app/run/next_step.h"
#include "app/run/run_head.h"
#include "app/show/failure.h"
#include "ci/attestation.h"
#include "core/base/error.h"
#include "policies/sandbox/keeper/keeper.h"

namespace sortie {
namespace {

class RunClosing {
 public:
  explicit RunClosing(RunParts& run) : run_(run) {}

  ExitCode end();

 private:
  void attest();
  void end_agent();
  void end_processes();
  void hand_over();
  void apply();
  void explain_end();
  void report();
  void close_record();
  void end_record();
  void print_end(const std::string& untold);
  EndFacts end_facts() const;
  /// Where people look for what the run has left; "" for nowhere.
  std::string shown_out() const {
    const ThreadRun* thread = run_.inputs.thread;
    return thread != nullptr && !thread->own_out ? "" : run_.options.out;
  }
  std::string finish(const std::function<void()>& step);

  RunParts& run_;
};

/// Runs one step of the end; if it fails, the run is not a success.
/// @return  the error, or ""
std::string RunClosing::finish(const std::function<void()>& step) {
  try {
    step();
    return "";
  } catch (const std::exception& error) {
    const std::string problem = error.what();
    if (run_.result.code != ExitCode::success) {
      run_.result.warnings.push_back(problem);
      return problem;
    }
    const Error failure = failure_of(error);
    run_.result.code = failure.code();
    run_.result.cause = failure.cause();
    // An error of the file system this late is not one of usage.
    if (run_.result.code == ExitCode::usage) run_.result.code = ExitCode::environment;
    run_.result.reason = problem;
    run_.apply.undo(run_.result);
    run_.handover->withdraw_success();
    run_.result.next = next_step(end_facts());
    return problem;
  }
}

/// Ends every run: no process is left, artifacts, the end of the transcript, the last line.
///
/// The artifacts come first, then the end of the transcript, result.json last: each reports the steps
/// before it, so that transcript, result.json and exit code agree.
ExitCode RunClosing::end() {
  run_.handover.emplace(Handover::Parts{run_.options, run_.out, run_.secrets.redactor(),
                                        run_.tree.get(), run_.acceptance.get(), run_.signals.get(),
                                        run_.record, run_.result});
  finish([this] {
    if (const std::string problem = run_.out.leave_path(); !problem.empty())
      throw Error(problem, ExitCode::integrity);
  });
  finish([this] {
    collect_secrets(run_);
    run_.secrets.learn();
  });
  end_agent();
  end_processes();
  run_.own_tree_undo.undo_if_failed(run_.result, run_.record);
  if (run_.signals) run_.signals->never_end();  // readers of the outputs have their own time limits
  hand_over();
  report();
  run_.room.reset();
  finish([this] { end_record(); });
  attest();
  const ExitCode recorded = run_.result.code;
  const std::string untold = finish([this] {
    const Json result = result_json(run_.result, run_.record.tally());
    run_.out.write("result.json", result_text(result, run_.secrets.redactor()));
  });
  // A record may end twice; the last end counts.
  if (run_.result.code != recorded) {
    run_.own_tree_undo.undo_if_failed(run_.result, run_.record);
    close_record();
  }
  if (run_.result.code == ExitCode::success) run_.apply.settle();
  print_end(untold);
  return run_.result.code;
}

/// Writes the attestation of a success. It names the digests of the transcript and of result.json, so
/// it comes after the one and before the other.
void RunClosing::attest() {
  // Without a diff there is nothing to attest.
  if (run_.result.code != ExitCode::success || !run_.workspace->keeps_start()) return;
  finish([this] {
    const std::string result =
        result_text(result_json(run_.result, run_.record.tally()), run_.secrets.redactor());
    run_.out.write(kAttestationName, attestation_text(run_.out.path(), result), Synced::content);
  });
  if (run_.result.code != ExitCode::success) close_record();
}

/// Writes summary.md and report.html, or removes those of an end that does not hold. Without them the
/// run is what it is: they can be made at any time. Those of several attempts come with their end.
void RunClosing::report() {
  for (const char* name : kReportNames) run_.result.artifacts.erase(name);
  if (!run_.record.has_begun() || run_.attempt != nullptr || shown_out().empty()) return;
  try {
    const Redactor& redactor = run_.secrets.redactor();
    const Json result =
        redactor.json(result_json(run_.result, run_.record.tally()), Audience::people);
    run_.result.artifacts.merge(write_reports(run_.out, result, redactor));
  } catch (const std::exception& error) {
    run_.result.warnings.push_back(without_reports(error.what()));
    run_.record.show_warning(run_.result.warnings.back());
  }
}

/// Ends the record once more, since the end has changed.
void RunClosing::close_record() {
  report();
  finish([this] { end_record(); });
}

/// The artifacts are on disk before the record says that they are.
void RunClosing::end_record() {
  run_.out.sync();
  run_.record.close();
}

/// Prints all that people get at the end: the message or the last event, the sum, the last line.
void RunClosing::print_end(const std::string& untold) {
  const bool prints_message = run_.result.code == ExitCode::success && !run_.options.json &&
                              run_.options.diff != "-" && !run_.options.silent;
  run_.record.end_progress(!prints_message);
  if (!untold.empty())
    run_.record.write_error("sortie: result.json: " + run_.secrets.redactor().text(untold));
  if (run_.options.json) run_.record.end_live_events(run_.stop());
  if (prints_message) run_.handover->print_message();
  if (!run_.own_tree_undo.keeps_state() &&
      (!run_.record.has_begun() || run_.own_tree_undo.watches() || run_.inputs.thread != nullptr ||
       !can_go_on(run_.result.code, run_.worked)))
    run_.out.remove_state();
  if (run_.record.has_begun())
    run_.record.show_lines(sum_lines(run_.result, run_.record.tally(), shown_out()));
  run_.record.say_last(run_.options.silent ? std::string()
                                           : last_line(run_.result, run_.record.tally().last_action,
                                                       shown_out(), run_.secrets.redactor()),
                       run_.stop());
}

/// Ends the agent, and makes its diff while the tree still exists.
void RunClosing::end_agent() {
  // A run that was stopped has no time for it: the next one looks.
  if (run_.start_digest && run_.stop().stop_requested()) run_.start_digest->drop();
  if (run_.start_digest) finish([this] { run_.start_digest->settle(); });
  if (run_.work) {
    finish([this] {
      if (run_.work->end_background() > 0) run_.tree->names().restore_changed();
    });
    finish([this] { run_.work->fail_stage(); });
    if (can_go_on(run_.result.code, run_.worked)) run_.tree->checkpoint();
  }
  if (run_.record.has_begun()) {
    if (run_.result.code != ExitCode::success && !run_.tree->diff_failed())
      finish([this] { run_.tree->make_partial_diff(); });
    // A success has such files where the policy allows them.
    if (run_.result.code != ExitCode::leak) finish([this] { run_.tree->keep_undiffed(); });
  }
  if (run_.work) run_.handover->take(run_.work->take_answer());
  run_.work.reset();
}

void RunClosing::end_processes() {
  finish([this] {
    if (run_.confinement) run_.result.survivors_excluded = run_.confinement->keeper().shut_down();
  });
  run_.egress.reset();  // nobody can use it any more; its connections are recorded now
}

/// Writes the artifacts and collects the warnings.
void RunClosing::hand_over() {
  std::vector<std::string>& warnings = run_.result.warnings;
  if (!run_.result.survivors_excluded)
    warnings.push_back("it could not be proved that no process of the run is left");
  const std::size_t before = warnings.size();
  if (run_.tree && run_.tree->diff())
    for (auto& warning : diff_warnings(*run_.tree->diff(), run_.acceptance->made_by_verification(),
                                       run_.tree->patched()))
      warnings.push_back(std::move(warning));
  for (std::size_t i = before; i < warnings.size(); ++i) run_.record.show_warning(warnings[i]);
  for (const auto& warning : run_.record.tally().warnings()) warnings.push_back(warning);
  finish([this] { run_.handover->write_artifacts(); });
  finish([this] { apply(); });
  run_.own_tree_undo.undo_if_failed(run_.result, run_.record);
  // The next run should only read the notes of a successful one.
  if (run_.result.code == ExitCode::success) {
    try {
      run_.notes.write();
    } catch (const Error& error) {
      warnings.push_back(std::string("the notes stay as they were: ") + error.what());
    }
  }
  run_.result.duration = run_.budget.time_used();
  explain_end();
}

/// Writes the diff into the workspace (--apply). Before that, the run is on record as a success that
/// is not applied: should this fail or be killed, the same command only has to apply it.
void RunClosing::apply() {
  if (!run_.options.apply || run_.result.code != ExitCode::success || !run_.tree ||
      !run_.tree->diff())
    return;
  run_.result.applied = false;
  run_.result.duration = run_.budget.time_used();
  explain_end();
  run_.record.close();
  run_.result.next.clear();
  run_.apply.apply(*run_.tree->diff(), *run_.workspace, run_.out.path(), run_.result);
}

EndFacts RunClosing::end_facts() const {
  return {run_.inputs,         run_.options,  run_.result,
          run_.record.tally(), run_.end_kind, run_.handover->message()};
}

/// Says what to do about the end, and more of its cause.
void RunClosing::explain_end() {
  const EndFacts facts = end_facts();
  std::string reason = full_reason(facts);
  run_.result.retryable = retryable_by(facts);
  if (run_.result.next.empty() || run_.inputs.thread != nullptr)
    run_.result.next = next_step(facts);
  run_.result.reason =
      run_.inputs.thread == nullptr ? std::move(reason) : with_codex_words(facts.kind, reason);
}

}  // namespace

ExitCode close_run(RunParts& run) { return RunClosing(run).end(); }

}  // namespace sortie
