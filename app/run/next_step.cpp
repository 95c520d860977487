#include "app/run/next_step.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "app/run/next_step_of_model.h"
#include "app/run/run_ends.h"
#include "app/run/run_head.h"
#include "app/show/call_lines.h"
#include "app/show/event_items.h"
#include "app/show/failure.h"
#include "ci/report/run_story.h"
#include "core/files/file_name.h"
#include "core/record/diff_names.h"
#include "core/text/shell_quote.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kWordsBytes = 160;
constexpr std::string_view kPlainSigns = " _./-=:,+@%";

std::string in_out(const EndFacts& facts, const char* name) {
  return one_line((fs::path(facts.options.out) / name).string(), 200);
}

bool has_artifact(const EndFacts& facts, const char* name) {
  return facts.result.artifacts.count(name) != 0;
}

/// "to allow 'make', put into policy.yaml: commands: [{allow: [make]}]"
template <class One>
std::string putting(const One& denied, const EndFacts& facts) {
  std::string yaml = denied.would_allow_yaml;
  std::replace(yaml.begin(), yaml.end(), '\n', ';');
  const std::string name = policy_name(facts.inputs, facts.options);
  const std::string place =
      facts.inputs.policy.file.empty()
          ? "a policy file with 'version: 1' and 'extends: " + name + "' (--policy ./FILE.yaml)"
          : name;
  return "to allow " + denied_text(denied) + ", put into " + one_line(place, 200) + ": " +
         one_line(yaml, 300);
}

/// What would allow the call.
std::string allowing(const Denial& denial, const EndFacts& facts) {
  if (denial.would_allow_yaml.empty()) {
    if (!denial.rule)
      return "no rule of the policy " + policy_name(facts.inputs, facts.options) + " can allow " +
             denied_text(denial) + " as it is: word the task so that it needs no such call";
    return denial.rule->file + ":" + std::to_string(denial.rule->line) + " (" +
           one_line(denial.rule->text, 120) + ") denies " + denied_text(denial) +
           " on purpose: change that rule, or word the task so that it needs no such call";
  }
  return putting(denial, facts);
}

template <class One>
const One* most_frequent(const std::vector<One>& denials) {
  const auto found = std::max_element(denials.begin(), denials.end(),
                                      [](const One& a, const One& b) { return a.count < b.count; });
  return found == denials.end() ? nullptr : &*found;
}

/// The host that was denied most often and that an entry would allow; nullptr for none.
const DeniedHost* wanted_host(const Tally& tally) {
  const DeniedHost* most = nullptr;
  for (const DeniedHost& one : tally.denied_hosts)
    if (!one.would_allow_yaml.empty() && (most == nullptr || one.count > most->count)) most = &one;
  return most;
}

/// Where a call and a connection were denied, the call: without it nothing else can be.
std::string allowing_what_was_denied(const EndFacts& facts) {
  if (const Denial* denial = most_frequent(facts.tally.denials)) return allowing(*denial, facts);
  if (const DeniedHost* host = wanted_host(facts.tally)) return putting(*host, facts);
  return "";
}

/// "'git push' was denied 3 times (no rule allows it)"; "" if nothing was.
std::string what_was_denied(const Tally& tally) {
  const auto told = [](const auto* one) {
    return denied_text(*one) + " was denied" +
           (one->count > 1 ? " " + std::to_string(one->count) + " times" : "") + " (" +
           one_line(one->reason, kWordsBytes) + ")";
  };
  if (const Denial* denial = most_frequent(tally.denials)) return told(denial);
  const DeniedHost* host = wanted_host(tally);
  if (host == nullptr) host = most_frequent(tally.denied_hosts);
  return host == nullptr ? "" : told(host);
}

/// A verification command for `sortie sandbox`: its words, or a script.
std::string as_words(const std::string& command) {
  const bool plain = std::all_of(command.begin(), command.end(), [](char c) {
    return is_ascii_alphanumeric(c) || kPlainSigns.find(c) != std::string_view::npos;
  });
  return one_line(plain ? command : shell_line({"sh", "-c", command}), 200);
}

/// The command of the last verification that failed; nullptr for none.
const VerificationOutcome* failed_command(const RunResult& result) {
  const auto& last = result.verification ? result.verification : result.verification_before;
  if (!last) return nullptr;
  const auto failed = std::find_if(last->outcomes.begin(), last->outcomes.end(),
                                   [](const VerificationOutcome& one) { return !one.passed; });
  return failed == last->outcomes.end() ? nullptr : &*failed;
}

/// Whether a command could not run for want of a program, by the launcher's word or the shell's.
bool lacks_program(const ExitStatus& exit) {
  constexpr int kNotFound = 127;
  return exit.ending == Ending::not_started ||
         (exit.ending == Ending::exited && exit.code == kNotFound);
}

/// A command with the setup that has run before it, in one script.
std::string with_setup(const VerificationOutcome& failed, const VerificationResult& round) {
  std::string script;
  for (const VerificationOutcome& one : round.outcomes)
    if (one.setup && one.passed) script += one.command + " && ";
  return script.empty() ? as_words(failed.command)
                        : one_line(shell_line({"sh", "-c", script + failed.command}), 300);
}

/// The flags by which git apply leaves out what was verified as at the start.
std::string without_restored(const RunResult& result) {
  constexpr std::size_t kMost = 5;
  std::string flags;
  if (result.restored.size() <= kMost)
    for (const std::string& path : result.restored)
      flags += shell_line({"--exclude=" + path}) + " ";
  return flags;
}

/// Whether anything but submodules is changed.
bool changes_workspace(const RunResult& result) {
  int files = result.changed_files;
  for (const RunResult::Submodule& one : result.submodules) files -= one.changed_files;
  return files > 0;
}

/// @param place  of the submodule, as seen from where the line is run
std::string apply_within(const fs::path& place, const RunResult::Submodule& one,
                         const EndFacts& facts) {
  std::error_code error;
  const fs::path diff = fs::absolute(fs::path(facts.options.out) / one.diff, error);
  return shell_line({"git", "-C", place.string(), "apply", diff.lexically_normal().string()});
}

/// The command that failed, and how to run it by hand, from the caller's folder.
std::string after_verification(const EndFacts& facts) {
  const VerificationOutcome* failed = failed_command(facts.result);
  const std::string where =
      "its whole output is in " + in_out(facts, "transcript.jsonl") + " (verification.completed)";
  if (failed == nullptr) return where;
  const std::string policy = policy_name(facts.inputs, facts.options);
  if (lacks_program(failed->exit))
    return "a program was not found: install it, or correct 'verify' in the task; " +
           shell_line({"sortie", "doctor", "--policy", policy}) + " shows the PATH of commands; " +
           where;
  std::error_code error;
  const bool elsewhere = fs::current_path(error) != facts.inputs.workspace;
  const auto seen_there = [elsewhere](const fs::path& path) {
    return elsewhere && path.is_relative() ? "\"$OLDPWD/" + path.string() + "\""
                                           : shell_line({path.string()});
  };
  std::string steps =
      elsewhere ? "cd " + shell_line({short_path(facts.inputs.workspace)}) + " && " : "";
  if (changes_workspace(facts.result) && has_artifact(facts, "partial.diff"))
    steps += "git apply " + without_restored(facts.result) +
             seen_there(fs::path(facts.options.out) / "partial.diff") + " && ";
  for (const RunResult::Submodule& one : facts.result.submodules)
    steps += apply_within(one.path, one, facts) + " && ";
  steps += "sortie sandbox --policy " +
           (facts.inputs.policy.file.empty() ? policy : seen_there(policy)) + " -- " +
           with_setup(*failed, facts.result.verification ? *facts.result.verification
                                                         : *facts.result.verification_before);
  return (elsewhere ? "(" + steps + ")" : steps) + std::string(kShownByHand) + where;
}

/// Whether the verification failed on the start state, as the agent left it.
bool failed_without_changes(const EndFacts& facts) {
  return facts.kind == kFailedVerification && facts.result.changed_files == 0;
}

std::string after_task_failed(const EndFacts& facts) {
  const RunResult& result = facts.result;
  const std::string denied = allowing_what_was_denied(facts);
  if (!denied.empty() && (facts.kind == kNoChanges || failed_without_changes(facts))) return denied;
  if (facts.kind == kNoChanges) {
    return "read what the agent says in " + in_out(facts, "last-message.txt") +
           "; a task that may end without a change says expect: {changes: any}";
  }
  const bool failed_after = result.verification && !result.verification->passed;
  const bool failed_before =
      !result.verification && result.verification_before && !result.verification_before->passed;
  if (failed_after || failed_before) {
    const DeniedHost* host = wanted_host(facts.tally);
    return after_verification(facts) + (host == nullptr ? "" : "; " + putting(*host, facts));
  }
  // What did not hold is named by its key in the task.
  if (result.reason.find("(expect.diff.") != std::string::npos)
    return "look at " + in_out(facts, "partial.diff") +
           "; if it may be so, widen 'expect.diff' in the task";
  if (result.reason.find("(expect.tool_success)") != std::string::npos)
    return "see why its calls failed in " + in_out(facts, "transcript.jsonl") +
           "; a task whose calls may all fail says expect: {tool_success: false}";
  if (facts.inputs.task.output.schema)
    return "compare " + in_out(facts, "last-message.txt") + " with output.schema of the task";
  return "see what the agent did in " + in_out(facts, "transcript.jsonl");
}

/// How to apply the diff of a success from the caller's folder.
std::string after_success(const EndFacts& facts) {
  if (facts.result.nothing_to_do) return "nothing: the start state passes its verification";
  if (facts.result.changed_files == 0)
    return has_artifact(facts, "last-message.json")
               ? "the answer is in " + in_out(facts, "last-message.json")
               : "the answer is in " + in_out(facts, "last-message.txt");
  if (facts.result.isolation == name_of(Isolation::none))
    return "nothing: the tree has the changes of " + in_out(facts, "changes.diff") + " already";
  std::error_code error;
  const fs::path here = fs::current_path(error);
  if (facts.result.applied.value_or(false))
    return "look at the changes in " +
           (here == facts.inputs.workspace ? "this folder" : short_path(facts.inputs.workspace));
  if (facts.options.diff == "-" && facts.result.submodules.empty())
    return "nothing: stdout has the diff, and " + in_out(facts, "changes.diff") + " too";
  const bool is_here = here == facts.inputs.workspace;
  std::string line;
  if (changes_workspace(facts.result)) {
    const fs::path diff = fs::path(facts.options.out) / kChangesDiff;
    line = is_here ? shell_line({"git", "apply", in_out(facts, kChangesDiff)})
                   : shell_line({"git", "-C", short_path(facts.inputs.workspace), "apply"}) + " " +
                         (diff.is_absolute() ? shell_line({diff.string()})
                                             : "\"$PWD/" + diff.string() + "\"");
  }
  for (const RunResult::Submodule& one : facts.result.submodules) {
    const fs::path place =
        is_here ? fs::path(one.path) : fs::path(short_path(facts.inputs.workspace)) / one.path;
    line += (line.empty() ? "" : " && ") + apply_within(place, one, facts);
  }
  return line;
}

/// Whether the run's folder goes with the end of this process: of a turn of `exec` of which nothing is
/// kept.
bool leaves_no_folder(const EndFacts& facts) {
  const ThreadRun* thread = facts.inputs.thread;
  return thread != nullptr && !thread->kept && !thread->own_out;
}

/// What to do after a success of such a turn, whose outputs are those of its flags alone.
std::string after_unkept_turn(const EndFacts& facts) {
  const RunOptions& options = facts.options;
  if (options.diff == "-") return "nothing: stdout has the diff";
  const bool in_place = facts.result.isolation == name_of(Isolation::none);
  if (!options.diff.empty() && !in_place && facts.result.changed_files > 0)
    return "look at the changes in " + one_line(options.diff, 200) + ", and apply them (git apply)";
  if (!options.last_message.empty() && options.last_message != "-")
    return "the answer is in " + one_line(options.last_message, 200);
  return options.json ? "nothing: the events have the answer" : "nothing: stdout has the answer";
}

/// What goes on with a thread whose turn has ended well, or was interrupted; "" for other ends, and
/// where no thread is kept: the same command again would pay for a finished turn once more.
std::string next_of_thread(const EndFacts& facts) {
  const ThreadRun* thread = facts.inputs.thread;
  const ExitCode code = facts.result.code;
  if (thread == nullptr || !thread->kept ||
      (code != ExitCode::success && code != ExitCode::interrupted && code != ExitCode::terminated))
    return "";
  return "sortie exec resume " + thread->id + " PROMPT";
}

/// What to do about an end, by its exit code.
std::string after_code(const EndFacts& facts) {
  switch (facts.result.code) {
    case ExitCode::success:
      return leaves_no_folder(facts) ? after_unkept_turn(facts) : after_success(facts);
    case ExitCode::task_failed:
      return after_task_failed(facts);
    case ExitCode::denied:
      if (!facts.tally.denials.empty()) return allowing(facts.tally.denials.back(), facts);
      return "see the calls in " + in_out(facts, "result.json") + " (denials)";
    case ExitCode::usage:
      return "correct what the message names, and run the same command again";
    case ExitCode::budget:
      return "the same command with a larger budget";
    case ExitCode::refused:
      return after_refusal(facts);
    case ExitCode::auth:
      return after_auth(facts);
    case ExitCode::environment:
      return after_environment(facts.result.cause) +
             (!facts.result.artifacts.contains("partial.diff")
                  ? ""
                  : "; " + in_out(facts, "partial.diff") + " has the work");
    case ExitCode::integrity:
      return "look at the change before anything else; if it is wanted, the policy's paths.protect "
             "is the place to allow it";
    case ExitCode::leak:
      return "read " + in_out(facts, "partial.diff") +
             ", and keep the value out of what the agent can read (paths.hide, environment.exclude "
             "of the policy); if it may be seen, the policy says redact: {on_leak: report}";
    case ExitCode::unavailable:
      return after_unavailable(facts);
    case ExitCode::limited:
      return after_limit(facts);
    case ExitCode::busy:
      return "wait for the other process, or name another --out";
    case ExitCode::conflict:
      if (facts.result.applied) return after_failed_apply(in_out(facts, "partial.diff"));
      return in_out(facts, "partial.diff") + " has the work, and " + in_out(facts, "kept") +
             " these files; apply it by hand, or run the same command again: it begins anew";
    case ExitCode::interrupted:
    case ExitCode::terminated:
      return "the same command again";
    case ExitCode::internal:
      break;
  }
  return kHowToReport;
}

}  // namespace

std::string denied_text(const Denial& denial) {
  for (const RecordedAction& action : denial.actions)
    if (action.argv) return in_quotes(pasteable(*action.argv), 100);
  for (const RecordedAction& action : denial.actions)
    if (action.path) return in_quotes(denial.tool + " " + *action.path, 100);
  return in_quotes(denial.tool, 100);
}

std::string denied_text(const DeniedHost& one) {
  return "a connection to " + (one.host.empty() ? one.place() : in_quotes(one.place(), 100));
}

std::string next_step(const EndFacts& facts) {
  if (const std::string next = next_of_thread(facts); !next.empty()) return next;
  std::string next = after_code(facts);
  if (leaves_no_folder(facts) && next.find(facts.options.out) != next.npos)
    return "the same command with --out FOLDER, which keeps the record of what was done";
  return next;
}

std::string after_failed_apply(const std::string& diff) {
  return "put these files back, and run the same command again: it applies the diff without a "
         "model; or apply " +
         diff + " by hand (git apply --3way)";
}

std::string full_reason(const EndFacts& facts) {
  std::string reason = facts.result.reason;
  const bool idle = failed_without_changes(facts);
  if (facts.kind == kFailedVerification) {
    const VerificationOutcome* failed = failed_command(facts.result);
    if (failed != nullptr && failed->setup) reason += ", in its setup";
    if (!facts.result.restored.empty())
      reason += ", with these as at the start (verify.restore): " + some_of(facts.result.restored);
    if (idle) reason += "; no file was changed";
  }
  if (facts.kind != kNoChanges && !idle) return reason;
  if (const std::string denied = what_was_denied(facts.tally); !denied.empty())
    reason = (idle ? reason : "no file was changed") + ", and " + denied;
  const std::string words = one_line_of_words(trimmed(facts.message), kWordsBytes);
  return reason + (words.empty() ? "; the agent said nothing" : "; the agent: \"" + words + "\"");
}

}  // namespace sortie
