#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/batch/batch_options.h"
#include "core/batch/run_list.h"
#include "core/batch/shard.h"
#include "core/task/task.h"

namespace sortie {

/// What a batch knows of one of its tasks.
struct BatchTask {
  std::string policy;               ///< for --policy; "": the task's own
  std::set<std::string> variables;  ///< that it declares
  TaskBudget budget{};
  std::string model{};
  std::filesystem::path workspace{};  ///< its own; absolute
};

/// A batch before its first run: what it consists of, checked.
struct BatchPlan {
  Manifest manifest;
  std::string called;            ///< the manifest's file as the user wrote it
  std::vector<BatchTask> tasks;  ///< as Manifest::tasks
  std::vector<BatchRun> runs;    ///< of all shards
  std::vector<std::size_t> own;  ///< those of this shard
  Shard shard;
  std::string digest;         ///< "sha256:…" of the list of runs
  std::filesystem::path out;  ///< as the user wrote it

  const BatchTask& task_of(const BatchRun& run) const { return tasks.at(run.task); }
  /// The path that runs of a workspace have in reports: "/src/x", "/src/x.git@v1", or "".
  static std::string place_of(const BatchRun& run);
};

/// Reads the manifest and everything that it names, and checks it as each run would: tasks, policies,
/// variables, workspaces.
/// @throws InputError  all errors of the manifest, or of its tasks, at once
BatchPlan make_batch_plan(const BatchOptions& options);

}  // namespace sortie
