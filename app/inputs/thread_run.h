#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/task/task.h"
#include "policies/rules/policy.h"

namespace sortie {

/// What `sortie exec` gives a run in place of files: its task and policy, and the thread that it is
/// part of. A thread is a conversation of one run or several, each of which begins with the history of
/// those before it.
struct ThreadRun {
  Task task;
  Policy policy;
  bool bounded = false;  ///< by the bounds of the policy: --policy names it
  std::string id;        ///< the thread's: that of its first run
  std::string run_id;    ///< this run's
  /// The transcripts of the thread's earlier runs, the newest first; may be missing or incomplete.
  std::vector<std::filesystem::path> earlier{};
  std::filesystem::path
      covered{};  ///< a folder that commands must not see, around --out; "": --out
  /// Where all threads are, the caller's other ones too; "" for nowhere. Commands see none of them.
  std::filesystem::path store{};
  /// The file beside the run's folder that says where the thread is kept, not synced yet; "" if it is
  /// not kept.
  std::filesystem::path place{};
  bool keeps_start = true;  ///< the diff is asked for
  bool kept = false;        ///< it can be gone on with
  bool own_out = false;     ///< --out is given; else the run's folder is no concern of its caller
  bool own_events = false;  ///< run.completed and what else sortie has in its events
  /// Is called instead of a warning where stdout could not take the answer or an event, as
  /// is_of_device() has it. Any thread.
  std::function<void(int number)> on_stdout_failure{};
};

}  // namespace sortie
