#include "app/inputs/run_inputs.h"

#include <algorithm>
#include <cstdlib>

#include "core/files/path_below.h"
#include "policies/engine/approver.h"

namespace sortie {

namespace fs = std::filesystem;

bool nothing_may_be_written(const RunInputs& inputs) {
  if (inputs.policy.sandbox == SandboxMode::read_only) return true;
  const auto& stages = inputs.task.stages;
  return !stages.empty() && std::all_of(stages.begin(), stages.end(), [](const TaskStage& stage) {
    return stage.sandbox == StageSandbox::read_only;
  });
}

bool replays(const RunInputs& inputs) { return inputs.task.model.provider == "replay"; }

bool signs_in(const RunInputs& inputs) { return inputs.auth_file && inputs.auth_file->is_sign_in; }

std::string own_variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

std::vector<fs::path> files_of_run(const Task& task, const Policy& policy) {
  std::vector<fs::path> files;
  if (!task.file.empty()) files.push_back(task.file);
  if (!task.model.cassette.empty()) files.push_back(task.model.cassette);
  if (!task.functions_file.empty()) files.push_back(task.functions_file);
  if (!task.output.schema_file.empty()) files.push_back(task.output.schema_file);
  for (const TaskImage& image : task.images) files.push_back(image.path);
  // It runs outside the sandbox, so a command that could write it could escape.
  for (auto& file : approver_files(policy)) files.push_back(std::move(file));
  return files;
}

fs::path view_home(const Environment& own) {
  const auto home = own.find("HOME");
  const fs::path path = home == own.end() ? fs::path() : fs::path(home->second);
  if (!path.is_absolute() || path == "/") return "/home/agent";
  // Of service users some live in a folder of the system, which a private one must not cover.
  for (const char* of_system : {"/usr", "/etc", "/opt", "/bin", "/sbin", "/lib", "/lib64", "/proc",
                                "/sys", "/dev", "/run", "/boot"})
    if (is_below(path.lexically_normal(), of_system)) return "/home/agent";
  return path.lexically_normal();
}

std::vector<fs::path> folders_to_read(const Policy& policy, const fs::path& workspace,
                                      const Environment& own) {
  std::vector<fs::path> folders;
  for (const auto& path : policy.read) {
    const bool of_home = path == "~" || path.starts_with("~/");
    folders.push_back(fs::weakly_canonical(
        of_home ? view_home(own) / fs::path(path).lexically_relative("~") : workspace / path));
  }
  return folders;
}

}  // namespace sortie
