#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "app/artifacts/artifacts.h"
#include "app/artifacts/diff_verdict.h"
#include "app/artifacts/flag_outputs.h"
#include "app/artifacts/leaks.h"
#include "app/run/carry_over.h"
#include "app/run/run_steps.h"
#include "app/show/failure.h"
#include "core/agent/loop.h"
#include "core/base/error.h"
#include "core/base/patient_io.h"
#include "core/text/ci_commands.h"
#include "core/text/terminal_text.h"
#include "policies/sandbox/keeper/keeper.h"

namespace sortie {

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
    result_.code = failure_of(error).code();
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
  if (!errors_) errors_ = std::make_unique<ErrorStream>(STDERR_FILENO);
  finish([this] { learn_secrets(); });
  finish([this] {
    if (agent_ && agent_->end_background() > 0 && protected_paths_)
      protected_paths_->restore_changed();
  });
  finish([this] { fail_stage(); });
  if (result_.code != ExitCode::success && workspace_ && confinement_ && !diff_failed_ &&
      transcript_)
    finish([this] { make_partial_diff(); });
  if (result_.code != ExitCode::success && result_.code != ExitCode::leak && workspace_ &&
      confinement_ && transcript_)
    finish([this] { keep_undiffed(); });
  if (agent_) {
    message_ = redactor_.text(agent_->loop().take_last_message());
    if (!message_.empty()) message_ += '\n';
    turn_ = agent_->loop().turn();
  }
  agent_.reset();
  finish([this] {
    if (confinement_) result_.survivors_excluded = confinement_->keeper().shut_down();
  });
  egress_.reset();  // nobody can use it any more; what was open is on record now
  if (!result_.survivors_excluded)
    result_.warnings.push_back("it could not be proved that no process of the run is left");
  if (!result_.ignored_changes.empty())
    result_.warnings.push_back(std::to_string(result_.ignored_changes.size()) +
                               " changed paths are ignored by git and not in the diff: "
                               "ignored_changes; output.diff.include takes them in");
  if (diff_)
    for (auto& warning : diff_warnings(*diff_, made_by_verification_))
      result_.warnings.push_back(std::move(warning));
  for (auto& warning : tally_.warnings()) result_.warnings.push_back(std::move(warning));
  if (signals_) signals_->never_end();  // whoever takes the outputs has a time of his own
  finish([this] { write_artifacts(); });
  write_notes();
  result_.duration = budget_.time_used();
  finish([this] { close_record(); });
  const ExitCode recorded = result_.code;
  const std::string untold =
      finish([this] { write_result(out_.path(), result_json(result_, tally_), redactor_); });
  // A record may end twice; the last end counts.
  if (result_.code != recorded) finish([this] { close_record(); });
  if (progress_) progress_->finish();
  if (!untold.empty()) errors_->write("sortie: result.json: " + redactor_.text(untold) + "\n");
  if (options_.json)
    end_live_events();
  else if (result_.code == ExitCode::success && options_.diff != "-")
    print_message();
  out_.remove_state();
  say_last(last_line(result_, tally_.last_action, options_.out, redactor_));
  return result_.code;
}

void Run::write_artifacts() {
  const bool success = result_.code == ExitCode::success;
  if (!message_.empty()) {
    // Whoever finds the JSON may read it as what was asked for: a misfit is only text.
    const std::string name = answer_check_ && answered_ ? "last-message.json" : "last-message.txt";
    out_.write(name, message_);
    result_.artifacts[name] = digest_of(message_);
  }
  write_diff(success ? "changes.diff" : "partial.diff");
  if (!success) return;
  std::string_view message = message_;
  if (!message.empty()) message.remove_suffix(1);
  write_flag_files(options_, diff_ ? diff_->text : "", message, stop());
  if (options_.diff == "-") print(diff_ ? diff_->text : "");
}

/// Only what came of a success is worth to be read by the next run.
void Run::write_notes() {
  if (new_notes_.empty() || result_.code != ExitCode::success) return;
  try {
    write_carry_over(notes_file_, new_notes_);
  } catch (const Error& error) {
    result_.warnings.push_back(std::string("the notes stay as they were: ") + error.what());
  }
}

void Run::write_diff(const std::string& name) {
  if (!diff_ && name != "changes.diff") return;
  std::string diff = diff_ ? diff_->text : "";
  // A diff that was refused for what it holds must not stand beside the refusal.
  if (result_.code == ExitCode::leak) {
    diff = redactor_.text(diff);
    const auto left = find_leaks(redactor_, diff);
    if (leaks_in_binary_ || !describe_leaks(left, Leak::Kind::value).empty()) {
      result_.warnings.push_back(name + " is not written: it holds a secret that can't be cut out");
      return;
    }
  }
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

RunEnd Run::run_end() const {
  RunEnd end;
  end.code = result_.code;
  end.status = status_of(result_);
  end.reason = result_.reason;
  end.usage = tally_.usage_json();
  end.durations = tally_.durations_json(result_.duration);
  end.counts = tally_.counts_json();
  end.artifacts = result_.artifacts;
  return end;
}

void Run::close_record() {
  if (!transcript_) return;
  RunEvent end = run_completed_event(turn_, run_end());
  result_.digests.erase("transcript");  // of a record that has ended before
  end.data.set("result", redactor_.json(result_json(result_, tally_), Audience::people));
  events_.on(end);
  result_.digests["transcript"] = "sha256:" + transcript_->last_digest();
}

/// The final message is in the output folder too: that it could not be printed is only told.
void Run::print_message() {
  try {
    // A model's words are data for a pipe or a file; a terminal would act on what is in them, and
    // so would a CI system that reads the pipe as its log.
    const CiSystems systems = ci_systems();
    const bool is_json = answer_check_ && answered_;
    if (::isatty(STDOUT_FILENO) != 1)
      return print(is_json ? CiCommandFilter::json(message_, systems)
                           : without_ci_commands(message_, systems));
    TerminalText plain;
    std::string text = plain.feed(message_);
    print(without_ci_commands(text += plain.finish(), systems));
  } catch (const Error& error) {
    errors_->write(std::string("sortie: ") + error.what() + "\n");
  }
}

/// A reader that went away has had enough and is only told of; a disk that is full has lost data
/// that was asked for.
void Run::print(const std::string& text) {
  const int number = write_within(STDOUT_FILENO, text, {}, stop());
  if (number == 0) return;
  const std::string problem = "stdout: " + write_problem(number);
  if (number == ECANCELED)
    throw Error(problem,
                signals_->received() == SIGINT ? ExitCode::interrupted : ExitCode::terminated);
  if (number != EPIPE) throw Error(problem, ExitCode::environment);
  errors_->write("sortie: " + problem + "\n");
}

}  // namespace sortie
