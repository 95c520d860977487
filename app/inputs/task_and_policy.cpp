#include "app/inputs/task_and_policy.h"

#include <fcntl.h>

#include <cerrno>
#include <cstdlib>
#include <optional>
#include <system_error>
#include <utility>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/files/file_name.h"
#include "core/task/task_loader.h"
#include "policies/file/policy_loader.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

fs::path home_of_caller() {
  const char* home = std::getenv("HOME");
  return home == nullptr ? fs::path() : fs::path(home);
}

fs::path folder_of_task(const RunOptions& options) {
  std::error_code error;
  if (options.task == "-" || names_descriptor(options.task)) return fs::current_path(error);
  return fs::absolute(options.task, error).parent_path();
}

/// The folder that the run works in; nothing of it is read yet.
fs::path find_workspace(const RunOptions& options, const Task& task) {
  const fs::path path =
      options.workspace.empty() ? task.workspace.path : fs::path(options.workspace);
  std::error_code error;
  const fs::path root = fs::canonical(path, error);
  if (error) throw InputError("workspace " + path.string() + ": " + error.message());
  if (!fs::is_directory(root, error))
    throw InputError("workspace " + path.string() + ": is not a folder");
  const Fd folder(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder) throw InputError("workspace " + root.string() + ": " + errno_text(errno));
  if (root == "/") throw InputError("workspace /: the whole machine is no workspace");
  return root;
}

/// What the task's file says is asked about; the folder of -C and that of the caller are not.
void check_workspace(const RunOptions& options, const Task& task, const fs::path& workspace,
                     const TaskGate& gate) {
  const auto place = task.places.find("workspace.path");
  if (!options.workspace.empty() || place == task.places.end()) return;
  const std::string problem = gate.folder(workspace);
  if (!problem.empty())
    throw InputError(place->second + ": error: the workspace " + workspace.string() +
                     " is beyond the policy's bounds: " + problem);
}

/// Reads the policy once the task is known as far as that takes.
class Judge {
 public:
  explicit Judge(const RunOptions& options) : options_(options) {}

  const TaskGate& gate(const Task& task) {
    if (gate_) return *gate_;
    policy_ = load_policy(chosen_policy(options_.policy, task));
    std::error_code error;
    places_ = {.workspace = {},
               .caller = fs::current_path(error),
               .task_folder = folder_of_task(options_),
               .out = fs::absolute(options_.out, error),
               .home = home_of_caller()};
    // Where the workspace itself is beyond the bounds, no file in it is the task's own.
    const fs::path workspace = find_workspace(options_, task);
    check_workspace(options_, task, workspace, TaskGate(policy_, places_));
    places_.workspace = workspace;
    gate_.emplace(policy_, places_);
    return *gate_;
  }

  Policy take_policy() { return std::move(policy_); }
  const GatePlaces& places() const { return places_; }

 private:
  const RunOptions& options_;
  Policy policy_;
  GatePlaces places_;
  std::optional<TaskGate> gate_;
};

}  // namespace

LoadedTask load_task_and_policy(const RunOptions& options, const std::string& piped) {
  Judge judge(options);
  LoadedTask loaded;
  loaded.task = load_task(options.task, piped, [&judge](const fs::path& file, const Task& task) {
    return judge.gate(task).file(file);
  });
  judge.gate(loaded.task);
  loaded.places = judge.places();
  loaded.policy = judge.take_policy();
  return loaded;
}

std::string chosen_policy(const std::string& flag, const Task& task) {
  if (!flag.empty()) return flag;
  return task.policy.empty() ? "strict" : task.policy;
}

}  // namespace sortie
