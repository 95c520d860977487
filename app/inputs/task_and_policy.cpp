#include "app/inputs/task_and_policy.h"

#include <fcntl.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <vector>

#include "app/inputs/run_inputs.h"
#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/files/file_name.h"
#include "core/task/task_loader.h"
#include "policies/file/policy_loader.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

fs::path folder_of_task(const RunOptions& options) {
  std::error_code error;
  if (options.task == "-" || names_descriptor(options.task)) return fs::current_path(error);
  return fs::absolute(options.task, error).parent_path();
}

/// The folder that the run works in; its content is not read yet.
fs::path find_workspace(const RunOptions& options, const Task& task) {
  const fs::path path =
      options.workspace.empty() ? task.workspace.path : fs::path(options.workspace);
  std::error_code error;
  const fs::path root = fs::canonical(path, error);
  const std::string begin =
      (options.workspace.empty() ? error_at(task, {"workspace.path"}) : "") + "workspace ";
  if (error) throw InputError(begin + path.string() + ": " + error.message());
  if (!fs::is_directory(root, error)) throw InputError(begin + path.string() + ": not a folder");
  const Fd folder(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) throw InputError(begin + root.string() + ": " + errno_text(errno));
  if (root == "/") throw InputError(begin + "/: the whole machine can't be a workspace");
  return root;
}

/// Checks a workspace that the task file names; that of -C and the current folder need no check.
void check_workspace(const RunOptions& options, const Task& task, const fs::path& workspace,
                     const TaskGate& gate) {
  const std::string place = error_at(task, {"workspace.path"});
  if (!options.workspace.empty() || place.empty()) return;
  const std::string problem = gate.folder(workspace);
  if (!problem.empty())
    throw InputError(place + "the workspace " + workspace.string() +
                     " is beyond the policy's bounds: " + problem);
}

/// @param workspace  as find_workspace() finds it
GatePlaces find_places(const RunOptions& options, const Task& task, const Policy& policy,
                       const fs::path& workspace) {
  std::error_code error;
  GatePlaces places{.workspace = {},
                    .caller = fs::current_path(error),
                    .task_folder = folder_of_task(options),
                    .out = fs::absolute(options.out, error),
                    .home = own_variable("HOME")};
  // If the workspace itself is beyond the bounds, no file in it counts as the task's own.
  check_workspace(options, task, workspace, TaskGate(policy, places));
  places.workspace = workspace;
  return places;
}

/// Runs a step. @return  its error, or ""
template <typename Step>
std::string error_of(const Step& step) {
  try {
    step();
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

}  // namespace

LoadedTask load_task_and_policy(const RunOptions& options, const std::string& text) {
  if (const ThreadRun* thread = options.thread)
    return {.task = thread->task,
            .policy = thread->policy,
            .places = find_places(options, thread->task, thread->policy,
                                  find_workspace(options, thread->task))};
  TaskFile file(options.task, text, options.prompt ? "<prompt>" : "<stdin>");
  LoadedTask loaded;
  fs::path workspace;
  const std::string of_policy = error_of([&] {
    loaded.policy = load_policy(chosen_policy(options.policy, file.task()));
    loaded.policy.digest = policy_digest(loaded.policy);
  });
  std::string of_workspace = error_of([&] { workspace = find_workspace(options, file.task()); });
  if (of_policy.empty() && of_workspace.empty())
    of_workspace = error_of(
        [&] { loaded.places = find_places(options, file.task(), loaded.policy, workspace); });
  if (!of_policy.empty() || !of_workspace.empty()) file.refuse(of_policy, of_workspace);
  const TaskGate gate(loaded.policy, loaded.places);
  RefusedFiles refused;
  for (const fs::path& path : file.named_files())
    if (std::string problem = gate.file(path); !problem.empty())
      refused.emplace(path, std::move(problem));
  loaded.task = file.load(refused);
  return loaded;
}

std::string chosen_policy(const std::string& flag, const Task& task) {
  if (!flag.empty()) return flag;
  return task.policy.empty() ? "strict" : task.policy;
}

}  // namespace sortie
