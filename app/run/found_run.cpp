#include "app/run/found_run.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/artifacts/run_mark.h"
#include "app/inputs/run_key.h"
#include "app/run/diffed_folders.h"
#include "app/run/own_outputs.h"
#include "app/run/recorded_changes.h"
#include "app/run/returned_run.h"
#include "ci/attempts.h"
#include "ci/recorded_diff.h"
#include "ci/result.h"
#include "ci/start_check.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/spelling.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/files/path_below.h"
#include "core/git/git_repository.h"
#include "core/record/diff_names.h"
#include "core/record/run_history.h"
#include "core/record/transcript.h"
#include "core/record/transcript_reader.h"
#include "core/text/text.h"
#include "core/workspace/checkpoint/checkpoint.h"
#include "core/workspace/checkpoint/own_state.h"
#include "core/workspace/file_stamp.h"
#include "core/workspace/own_changes.h"
#include "core/workspace/tree.h"
#include "core/workspace/undo_own_tree.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Reads "2026-11-21T03:14:15.926Z".
std::int64_t nanoseconds_of(const std::string& timestamp) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             time_of_timestamp(timestamp).time_since_epoch())
      .count();
}

/// Whether the files of the diff that were not as in the commit at the start are as they were then:
/// one that was put back to the commit since then shows in no list of changes.
/// @param workspace  of a submodule's diff the submodule
bool has_start_of(const fs::path& workspace, const DiffWritten& diff) {
  DiffWritten start = diff;
  start.files.clear();
  for (const DiffedFile& file : diff.files)
    if (file.before && !file.in_commit)
      start.files.push_back(
          {.path = file.old_path.empty() ? file.path : file.old_path, .after = file.before});
  return is_in_tree(workspace, start);
}

/// The paths of a recorded diff, in the workspace.
void add_paths(const DiffWritten& diff, std::set<std::string>& paths) {
  const std::string within = diff.submodule.empty() ? "" : diff.submodule + "/";
  for (const DiffedFile& file : diff.files)
    for (const std::string& path : {file.path, file.old_path})
      if (path.starts_with(diff.prefix)) paths.insert(within + path.substr(diff.prefix.size()));
}

/// Whether the tree has what it had at the start beside its commit. What was removed, or put back to the
/// commit, shows in no list of later changes.
/// @param but  paths that may be others
/// @return     nothing: the record does not say enough
std::optional<bool> has_start_changes(const OutputFolder& out, const fs::path& workspace,
                                      const std::vector<fs::path>& own,
                                      const std::set<std::string>& but) {
  const auto start = read_start_changes(out.path() / kTranscriptName);
  if (!start || start->digest.empty()) return std::nullopt;
  const FileMarks marks =
      find_repository(workspace).handle ? FileMarks::contents : FileMarks::times;
  const OwnState now = own_state(workspace, own, marks);
  if ("sha256:" + sha256_hex(now.list) == start->digest) return true;
  if (but.empty()) return false;
  if (start->more) return std::nullopt;
  const auto were = marks_in(start->list);
  const auto are = marks_in(now.list);
  const auto is_known = [&but](const std::map<std::string, std::string>& in,
                               const std::map<std::string, std::string>& other) {
    return std::all_of(in.begin(), in.end(), [&](const auto& one) {
      const auto& [path, mark] = one;
      const auto found = other.find(path);
      // What folders hold is compared elsewhere.
      return path.ends_with('/') || but.contains(path) ||
             (found != other.end() && found->second == mark);
    });
  };
  return is_known(were, are) && is_known(are, were);
}

/// Whether the tree is as the run found it, or as its diff leaves it.
/// @param result  of the run, by its record where result.json was not written any more
bool tree_is_known(const OutputFolder& out, const RunInputs& inputs, const RunOptions& options,
                   const Json& result) {
  const std::string started = result.string_at("started");
  if (started.empty()) return false;
  const std::vector<fs::path> own = own_outputs(out.path(), inputs, options);
  const auto changes_up_to = [&](std::size_t most) {
    return own_changes_since(inputs.workspace, nanoseconds_of(started), own, most);
  };
  const bool changed = !changes_up_to(1).empty();
  std::set<std::string> paths;
  DiffWritten whole;  // of the workspace itself
  for (const RecordedDiff& found : read_recorded_diffs(out.path() / kTranscriptName)) {
    const auto& diff = found.record;
    if (!diff && !changed) continue;
    if (!diff || diff->submodule != submodule_of_diff(found.name)) return false;
    const fs::path place = place_of(diff->submodule, inputs.workspace);
    if (!(changed ? is_in_tree(place, *diff) : has_start_of(place, *diff))) return false;
    add_paths(*diff, paths);
    if (diff->submodule.empty()) whole = *diff;
  }
  if (!changed) return has_start_changes(out, inputs.workspace, own, {}).value_or(true);
  if (paths.empty()) return false;
  const auto beside = has_start_changes(out, inputs.workspace, own, paths);
  // In a repository that says it all.
  if (beside && (!*beside || find_repository(inputs.workspace).handle)) return *beside;
  const std::size_t most = paths.size() + whole.folders.size() + 1;
  const auto changes = changes_up_to(most);
  if (changes.size() >= most) return false;
  const DiffedFolders folders(whole, inputs.workspace, own);
  return std::all_of(changes.begin(), changes.end(), [&](const std::string& path) {
    return path.ends_with('/') ? folders.is_known(path.substr(0, path.size() - 1))
                               : paths.count(path) != 0;
  });
}

bool may_return(Reuse reuse, std::int64_t code) {
  return reuse == Reuse::any || (reuse == Reuse::success && code == 0);
}

[[noreturn]] void refuse(const OutputFolder& out, const std::string& why) {
  throw Error("--out " + out.path().string() + ": holds an unfinished run " + why +
                  "; --fresh discards it, another --out keeps it",
              ExitCode::usage);
}

/// Where the user's own tree has changed since the run began.
std::vector<std::string> base_differences(const OutputFolder& out, const RunInputs& inputs,
                                          const RunOptions& options) {
  const fs::path state = out.path() / "state";
  // The user's own tree may hold the run's work, and has changed by it.
  return has_own_tree(state)
             ? changed_by_others(fs::canonical(state), own_outputs(out.path(), inputs, options))
             : changes_of_base(out, inputs, options);
}

/// The checkpoint to go on from, where there is no such state. A run that worked in the user's own
/// tree here has it undone first.
std::optional<Checkpoint> find_checkpoint(const OutputFolder& out, const RunMark& mark,
                                          const RunHistory& history) {
  if (mark.is_own() && has_own_tree(out.path() / "state")) return std::nullopt;
  for (const fs::path& file : {checkpoint_to_restore(out.path()), checkpoint_file(out.path())})
    if (auto found = Checkpoint::find(file, history.starts.front().run_id, history.records))
      return found;
  return std::nullopt;
}

/// The folders of a run's attempts that have begun; none for a run of one.
std::vector<fs::path> attempts_in(const fs::path& out) {
  std::vector<fs::path> found;
  std::error_code error;
  for (int n = 1; n <= kMostAttempts; ++n)
    if (fs::is_directory(fs::symlink_status(out / attempt_folder(n), error)))
      found.push_back(out / attempt_folder(n));
  return found;
}

/// Whether an attempt is a success by its own result.
bool one_has_passed(const std::vector<fs::path>& attempts) {
  return std::any_of(attempts.begin(), attempts.end(), [](const fs::path& folder) {
    const TextFile file = read_bytes_file(folder / "result.json", kMostResultBytes);
    try {
      if (!file.problem.empty()) return false;
      const auto end = read_attempt_end(1, parse_json(file.text));
      return end && end->passed();
    } catch (const JsonError&) {
      return false;
    }
  });
}

/// Whether the transcript in a folder is the file that the run wrote there.
bool is_sealed(const fs::path& folder) {
  std::string seal;
  each_record_line(folder / kTranscriptName, [&](std::string_view line) {
    seal = parse_record(line).data.string_at("seal");
    return false;
  });
  return !seal.empty() && seal == transcript_seal(folder);
}

/// Whether the run may have come with the folder that it is to work on, with any outcome or history:
/// --out lies in it, and a transcript is not the file that the run wrote.
/// @param attempts  attempts_in()
/// @param killed    the run does not say that it has ended
bool came_with_folder(const OutputFolder& out, const std::vector<fs::path>& attempts, bool killed,
                      const RunInputs& inputs, const GitInfo& git) {
  const bool inside = path_below(out.path(), inputs.workspace) ||
                      (!git.toplevel.empty() && path_below(out.path(), git.toplevel));
  if (!inside) return false;
  const auto is_recorded = [](const fs::path& folder) {
    return beginning_of(folder / kTranscriptName) == Beginning::record;
  };
  if (attempts.empty()) return !is_recorded(out.path()) || !is_sealed(out.path());
  // What the top has of an attempt are copies: a run that has ended has at least one of its own. One
  // that was killed before its first record has nothing to believe.
  bool one_is_own = false;
  for (const fs::path& folder : attempts) {
    if (!is_recorded(folder)) continue;
    if (!is_sealed(folder)) return true;
    one_is_own = true;
  }
  return !killed && !one_is_own;
}

/// What the key of an unfinished run was made of, if it is this one on another commit, or by another
/// version of sortie: its base has moved on, and it can never be gone on with.
/// @param before  the parts of its key, as far as they are known; null: those of now
std::optional<Json> moved_on_from(Json before, const std::string& head, const std::string& version,
                                  const std::string& key, const Json& now) {
  if (!before.is_object()) before = now;
  before.set("head", head);
  before.set("version", version);
  if (run_key(before) != key) return std::nullopt;
  Json moved = before;
  moved.set("head", now["head"]);
  moved.set("version", now["version"]);
  return run_key(moved) == run_key(now) ? std::optional(before) : std::nullopt;
}

}  // namespace

bool has_state(const fs::path& out) {
  std::error_code error;
  return fs::exists(out / "state/began", error) && RunMark(out / "state").is_whole() &&
         !fs::exists(checkpoint_to_restore(out), error);
}

std::vector<std::string> changes_of_base(const OutputFolder& out, const RunInputs& inputs,
                                         const RunOptions& options) {
  struct stat began {};
  const fs::path state = fs::canonical(out.path() / "state");
  if (::stat((state / "began").c_str(), &began) != 0) throw path_error(state.string(), errno);
  return own_changes_since(inputs.workspace, stamp_of(began).ctime,
                           own_outputs(out.path(), inputs, options));
}

bool can_go_on(ExitCode code, bool worked) noexcept {
  if (code == ExitCode::busy) return false;
  return is_retryable(code) || (worked && code == ExitCode::budget) ||
         (worked && code == ExitCode::environment);
}

Previous judge_found_run(const OutputFolder& out, const RunInputs& inputs,
                         const RunOptions& options, const GitInfo& git, const Json& key_parts,
                         std::vector<std::string>& warnings, std::optional<EarlierRun>& recorded) {
  const FoundOutput& found = out.found();
  const RunMark mark(out.path() / "state");
  if (found.has_run) mark.wait_for_processes(out.path());
  if (options.fresh) return found.has_run ? Previous::discarded : Previous::nothing;
  if (!found.has_run) return Previous::nothing;
  // A turn of a thread is always a new run.
  if (inputs.thread != nullptr) return Previous::kept;
  Json result = found.result;
  std::string status = found.status;
  std::string key = result.string_at("run_key");
  const fs::path transcript = out.path() / kTranscriptName;
  const std::vector<fs::path> attempts = attempts_in(out.path());
  const bool has_record = !attempts.empty() || beginning_of(transcript) == Beginning::record;
  const bool killed = status.empty() || status == "running";
  // Killed before its first record: nothing was done.
  if (killed && !has_record) return Previous::discarded;
  if (came_with_folder(out, attempts, killed, inputs, git)) {
    warnings.push_back(
        "the run in --out " + out.path().string() +
        " is not believed, and was moved to OUT.prev: it lies inside of the workspace, and was not "
        "made there; an --out elsewhere may be brought");
    return Previous::kept;
  }
  const auto history = [&]() -> const RunHistory& {
    if (!recorded) recorded = read_earlier_run(transcript);
    return recorded->history;
  };
  if (killed) status = "running";
  // The attempts of a run of several know how far it came; what lies beside them may be older.
  if (killed && attempts.empty()) {
    key = history().starts.front().run_key;
    if (const auto& end = history().end) {
      result = as_the_tree_is(result_of_record(end->result, history().last_digest), out,
                              inputs.workspace);
      status = result.string_at("status");
      out.write("result.json", result_text(result));
    }
  }
  const bool ended = status != "running";
  const bool same_key = key == run_key(key_parts);
  const std::int64_t code = result.integer_at("exit_code", -1);
  if (ended && same_key && attempts.empty() && !has_own_tree(out.path() / "state") &&
      is_done_but_for_handover(out, result, killed))
    return Previous::returned;
  // Its end was to undo it, and was killed: the rest of that comes first.
  const bool undone = undo_has_begun(out.path() / "state");
  if (ended && undone) return Previous::kept;
  const bool finished = ended && !can_go_on(static_cast<ExitCode>(code), true);
  const bool left = options.reuse == Reuse::success && !attempts.empty() &&
                    !attempts_left(static_cast<ExitCode>(code), result["attempts"]).empty();
  const bool may_go_on = has_record && same_key && (!finished || left);
  const bool whole = has_state(out.path());
  std::optional<Checkpoint> checkpoint;
  if (may_go_on && !whole && attempts.empty()) {
    checkpoint = find_checkpoint(out, mark, history());
  }
  const bool has_work = checkpoint || whole;
  if (ended && (!may_go_on || !has_work)) {
    const bool returned =
        same_key && may_return(options.reuse, code) && tree_is_known(out, inputs, options, result);
    if (!returned) return Previous::kept;
    // The folders of its attempts have all that --apply needs.
    const bool applies =
        !attempts.empty() && code == 0 && apply_is_due(out, inputs, options, result);
    return applies ? Previous::resumed : Previous::returned;
  }
  if (!same_key) {
    Json before = mark.key_parts();
    const std::string head =
        recorded ? history().starts.front().workspace.base_commit : before.string_at("head");
    const std::string version =
        recorded ? history().starts.front().sortie : before.string_at("version");
    if (recorded) before = Json();  // the record is enough, without the state
    if (const auto old = moved_on_from(std::move(before), head, version, key, key_parts)) {
      warnings.push_back("an unfinished run was moved to OUT.prev, and the work begins anew: " +
                         differing_parts(*old, key_parts) + " differs");
      return Previous::kept;
    }
  }
  if (!same_key) {
    const Json& before = mark.key_parts();
    const std::string what = before.is_object() ? differing_parts(before, key_parts) : "";
    refuse(out,
           "of another key: " + (what.empty() ? "its task, policy or model" : what) + " differs");
  }
  // What it did is lost; the transcript is kept.
  if (!has_work) {
    // Killed twice before its first turn: there is nothing to keep.
    const bool idle = !ended && recorded && history().turns.empty();
    return idle ? Previous::discarded : Previous::kept;
  }
  // What is left is the handover; another attempt is only begun on the same base.
  if (one_has_passed(attempts)) return Previous::resumed;
  // Files that it changed are others than at its start, and what they were is not known for certain:
  // it begins anew.
  if (ended && code == static_cast<int>(ExitCode::conflict)) return Previous::kept;
  if (checkpoint) {
    const auto differences =
        checkpoint->base_differences(inputs.workspace, own_outputs(out.path(), inputs, options));
    if (!differences.empty())
      refuse(out, "of another base: the workspace differs in " + some_of(differences));
    return Previous::restored;
  }
  const bool in_own_tree = has_own_tree(out.path() / "state");
  // Its end has undone it, or has tried to.
  if (ended && in_own_tree) return Previous::kept;
  // Nothing that it did is recorded, or all was undone: it begins anew.
  if (undone || (in_own_tree && history().turns.empty())) return Previous::kept;
  const auto changes = base_differences(out, inputs, options);
  if (changes.empty()) return Previous::resumed;
  if (finished) return Previous::kept;
  refuse(out, "of another base: since it began, the workspace has changed in " + some_of(changes));
}

}  // namespace sortie
