#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/batch/instances.h"
#include "core/batch/manifest_loader.h"

namespace sortie {

/// One run of a batch: a task with its workspace and its variables.
struct BatchRun {
  std::string name;                   ///< unique in the batch, and the same at each start of it
  std::size_t task = 0;               ///< in Manifest::tasks
  std::string workspace_name{};       ///< "" if the manifest has no workspaces
  std::filesystem::path workspace{};  ///< absolute; "": the task's own, or a git one
  std::filesystem::path git{};        ///< the repository to check out; absolute; "" for none
  std::string commit{};               ///< of it; "HEAD" if the manifest names none
  std::optional<int> depth{};
  VariableMap vars{};      ///< the operator's
  VariableMap fields{};    ///< those of its instance: data of others
  std::string instance{};  ///< its id; "" for none
};

/// Makes the list of runs: tasks × workspaces × vars × instances, without what the manifest leaves out.
/// The order is that of the manifest, so a shard has the same runs at each start.
/// @param instances  of the manifest's file; empty if it names none
/// @throws InputError  all findings at once: unknown variables, two runs of one name
std::vector<BatchRun> make_run_list(ManifestFile& file,
                                    const std::vector<BatchInstance>& instances);

}  // namespace sortie
