#include "app/run/replay.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "app/run/recorded_inputs.h"
#include "app/run/recorded_replay.h"
#include "app/run/run.h"
#include "app/show/standard_output.h"
#include "ci/run_check.h"
#include "ci/run_compare.h"
#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/git/git_info.h"
#include "core/text/display_width.h"
#include "core/text/shell_quote.h"
#include "core/text/text.h"
#include "core/workspace/tree.h"
#include "policies/file/policy_loader.h"
#include "policies/rules/policy.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// A temporary folder that is removed at the end.
class ReplayFolder {
 public:
  ReplayFolder() : path_(make_temporary_folder("sortie-replay")) {}
  ReplayFolder(const ReplayFolder&) = delete;
  ReplayFolder& operator=(const ReplayFolder&) = delete;
  ~ReplayFolder() {
    try {
      remove_tree(path_);
    } catch (const std::exception&) {  // a folder in $TMPDIR is left behind
    }
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// The workspace of the replay, which must have the recorded base.
/// @throws InputError
fs::path find_base(const ReplayOptions& options, const RunStart& start) {
  const std::string named = options.workspace.empty() ? start.workspace.path : options.workspace;
  std::error_code error;
  const fs::path folder = fs::canonical(named, error);
  if (error || !fs::is_directory(folder, error))
    throw InputError("the workspace " + path_text(named) +
                     " is not there: name a folder with the run's base (-C DIR)");
  const auto git = read_git_info(folder);
  const std::string head = git ? git->head_commit : "";
  if (head == start.workspace.base_commit) return folder;
  const auto said = [](const std::string& commit) {
    return commit.empty() ? std::string("no commit") : commit;
  };
  throw InputError(path_text(folder) + " is at " + said(head) + ", and the run began at " +
                   said(start.workspace.base_commit) +
                   ": name a folder with that base, for example of `git worktree add`");
}

/// Whether commands get variables of the replay's environment that tell more than where they run.
bool passes_on_variables(const Policy& policy) {
  return policy.environment_inherit == InheritedVariables::all ||
         !policy.environment_include.empty();
}

/// What a recorded policy allows that could do harm, if the record is a stranger's; "" for nothing.
std::string risk_of(const Policy& policy) {
  if (policy.sandbox == SandboxMode::none) return "runs commands without a sandbox";
  if (policy.network != NetworkMode::none) return "lets commands reach the network";
  if (policy.escalation) return "lets its rules give commands another sandbox";
  for (const Guarantee needed : {Guarantee::writes, Guarantee::secrets, Guarantee::network})
    if (std::find(policy.guarantee.begin(), policy.guarantee.end(), needed) ==
        policy.guarantee.end())
      return std::string("does not insist on the guarantee ") + name_of(needed);
  for (const std::string& path : policy.write) {
    const fs::path normal = fs::path(path).lexically_normal();
    if (normal.is_absolute() || path.starts_with("~") ||
        (!normal.empty() && *normal.begin() == ".."))
      return "lets commands write to " + one_line(path, 200);
  }
  // What they print is shown.
  if (!policy.read.empty()) return "lets commands read " + one_line(policy.read.front(), 200);
  if (passes_on_variables(policy)) return "passes variables of the environment on to commands";
  return "";
}

/// The policy of a record is data like all of it: one from elsewhere must not open this machine.
/// @throws InputError
void check_policy(const ReplayOptions& options, const fs::path& folder) {
  if (options.trust_policy || !options.policy.empty()) return;
  const std::string risk = risk_of(load_policy((folder / "policy.yaml").string()));
  if (!risk.empty())
    throw InputError("the recorded policy " + risk +
                     ": if the record is your own, say --trust-policy; else name a policy of yours "
                     "(--policy FILE)");
}

RunOptions run_options(const ReplayOptions& options, const RecordedInputs& recorded,
                       const fs::path& workspace, const fs::path& folder) {
  const WorkspaceStart& was = recorded.start.workspace;
  RunOptions run;
  run.task = (folder / "task.yaml").string();
  run.policy = options.policy.empty() ? (folder / "policy.yaml").string() : options.policy;
  if (options.policy.empty()) run.approval = recorded.approval;
  run.workspace = workspace.string();
  run.out = options.out.empty() ? (folder / "out").string() : options.out;
  run.fresh = true;
  run.replay = recorded.transcript.string();
  run.replay_calls = run.replay;
  run.isolation = options.isolation;
  if (run.isolation.empty() && was.isolation != "none") run.isolation = was.isolation;
  if (workspace != was.path) run.replay_moved_from = was.path;
  run.silent = true;
  return run;
}

/// A line of the terminal, or a long one; the part that matters begins at `from`.
std::string shown_line(const char* label, const std::string& text, std::size_t from = 0) {
  constexpr std::size_t kLongest = 400;
  constexpr std::size_t kLeast = 40;
  const std::size_t columns = error_columns();
  const std::size_t most = columns == 0 ? kLongest : std::max(columns, kLeast) - 1;
  return cut_to_columns(label + (from > 0 ? "…" + text.substr(from) : text), most) + "\n";
}

/// Where two long texts are shown from: shortly before the place where they differ.
std::size_t shown_from(const std::string& one, const std::string& other) {
  constexpr std::size_t kBefore = 16;
  std::size_t at = static_cast<std::size_t>(
      std::mismatch(one.begin(), one.end(), other.begin(), other.end()).first - one.begin());
  if (at <= 2 * kBefore || at == one.size()) return 0;
  for (at -= kBefore; at > 0 && (static_cast<unsigned char>(one[at]) & 0xc0u) == 0x80u;) --at;
  return at;
}

std::string sides(const RunDifference& difference) {
  const std::size_t from = shown_from(difference.recorded, difference.replayed);
  return (difference.call.empty() ? "" : shown_line("  call:     ", difference.call)) +
         shown_line("  recorded: ", difference.recorded, from) +
         shown_line("  replayed: ", difference.replayed, from);
}

std::string counted(std::size_t count, const char* noun) {
  return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

/// A difference may come from the workspace: how to replay without what is in it by now.
std::string about_base(const ReplayOptions& options, const fs::path& workspace,
                       const RunStart& start) {
  const std::string& commit = start.workspace.base_commit;
  const std::string place = "replay: it began on " + path_text(workspace) + " as it is now";
  if (commit.empty()) return place + ", which may not be as it was when the run began\n";
  return place + ", with uncommitted and ignored files; to leave them out: git worktree add DIR " +
         commit + ", and " + shell_line({"sortie", "replay", options.run, "-C", "DIR"}) + "\n";
}

/// Prints what the comparison found.
/// @param about  printed below a first difference
ExitCode report(const RunComparison& found, bool strict, const std::string& about) {
  std::string text;
  for (const std::string& gap : found.gaps)
    text += "replay: not done again: " + gap + ": the record lacks it\n";
  for (const RunDifference& output : found.outputs)
    text += "output of " + output.where + " differs:\n" + sides(output);
  if (found.first)
    text += "replay: differs: " + found.first->where + "\n" + sides(*found.first) + about;
  const bool equal = !found.first && (!strict || found.outputs.empty());
  if (!found.first && !equal)
    text += "replay: differs: " + counted(found.outputs.size(), "output") +
            " (without --strict they do not count)\n";
  if (!text.empty()) print_error(text);
  if (equal)
    print_out("replay: equal: " + counted(found.decisions, "decision") + ", " +
              counted(found.calls, "call") + ", " + counted(found.verifications, "verification") +
              ", the diff (" + counted(found.diff_bytes, "byte") + ")\n");
  return equal ? ExitCode::success : ExitCode::integrity;
}

}  // namespace

ExitCode replay_run(const ReplayOptions& options, const OutputStyle& style) {
  const RunCheck check = check_run(options.run);
  if (!check.record.ok) {
    print_error(check.record.text() + "\n");
    return ExitCode::integrity;
  }
  if (!check.record.finished)
    throw InputError(path_text(options.run) +
                     ": the run has not ended: there is nothing to compare");
  if (options.tools == ReplayTools::recorded) return replay_record(options.run);
  const RecordedInputs recorded = read_recorded_inputs(options.run);
  const fs::path workspace = find_base(options, recorded.start);
  const ReplayFolder folder;
  write_recorded_inputs(recorded, folder.path());
  check_policy(options, folder.path());
  const RunOptions run = run_options(options, recorded, workspace, folder.path());
  OutputStyle quiet = style;
  quiet.quiet = !style.verbose;
  run_task(run, quiet);
  return report(compare_runs(recorded.transcript.parent_path(), run.out), options.strict,
                about_base(options, workspace, recorded.start));
}

}  // namespace sortie
