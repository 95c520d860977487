#include "app/batch/batch_plan.h"

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "app/inputs/inputs.h"
#include "app/inputs/task_and_policy.h"
#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/own_variable.h"
#include "core/files/file_name.h"
#include "core/rates/rate_limits.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// The NAME of `--var NAME=VALUE` or `NAME@FILE`.
std::string variable_name(const std::string& text) {
  const std::size_t sign = text.find_first_of("=@");
  if (sign == std::string::npos || sign == 0)
    throw InputError("--var '" + one_line(text) +
                     "': expected NAME=VALUE, or NAME@FILE for a file's content");
  return text.substr(0, sign);
}

class Planning {
 public:
  explicit Planning(const BatchOptions& options) : options_(options) {}

  BatchPlan plan() {
    // Before the files: whoever got the shard wrong has all else still to come.
    plan_.shard =
        options_.shard.empty()
            ? Shard()
            : read_shard(options_.shard, [](const char* name) { return own_variable(name); });
    ManifestFile file = load_manifest(options_.manifest);
    const std::vector<BatchInstance> instances = file.manifest.instances.empty()
                                                     ? std::vector<BatchInstance>()
                                                     : read_instances(file.manifest.instances);
    plan_.runs = make_run_list(file, instances);
    plan_.manifest = file.manifest;
    plan_.called = options_.manifest;
    if (!plan_.manifest.rate_limits_file.empty())
      (void)load_rate_limits(plan_.manifest.rate_limits_file);
    read_tasks();
    check_variables(file);
    file.findings.throw_if_any();
    check_workspaces();
    check_predictions();
    finish();
    return std::move(plan_);
  }

 private:
  /// Reads each task as its runs will. All errors of all tasks are reported at once.
  void read_tasks() {
    std::string problems;
    for (std::size_t i = 0; i < plan_.manifest.tasks.size(); ++i) {
      const ManifestTask& task = plan_.manifest.tasks[i];
      BatchTask known;
      known.policy = !options_.run.policy.empty() ? options_.run.policy
                     : !task.policy.empty()       ? task.policy
                                                  : plan_.manifest.policy;
      RunOptions run = options_.run;
      run.task = task.task.string();
      run.policy = known.policy;
      run.workspace = some_workspace(i);
      try {
        const Task loaded = load_task_and_policy(run, "").task;
        for (const auto& [name, variable] : loaded.vars) known.variables.insert(name);
        known.budget = loaded.budget;
        known.model = options_.run.model.empty() ? loaded.model.name : options_.run.model;
        known.workspace = loaded.workspace.path;
      } catch (const InputError& error) {
        problems += (problems.empty() ? "" : "\n") + std::string(error.what());
        if (std::string_view(error.what()).find('\n') == std::string_view::npos)
          problems += " (task '" + task.name + "')";
      }
      plan_.tasks.push_back(std::move(known));
    }
    if (!problems.empty()) throw InputError(problems);
  }

  /// A folder to judge the task in: one of its runs', or the manifest's, if it is checked out later.
  std::string some_workspace(std::size_t task) const {
    for (const BatchRun& run : plan_.runs)
      if (run.task == task && !run.workspace.empty()) return run.workspace.string();
    const bool checked_out =
        std::any_of(plan_.runs.begin(), plan_.runs.end(),
                    [&](const auto& run) { return run.task == task && !run.git.empty(); });
    return checked_out ? plan_.manifest.folder.string() : options_.run.workspace;
  }

  /// The operator's variables have to be the task's; of an instance it gets those that it knows.
  void check_variables(ManifestFile& file) {
    std::set<std::string> known;
    for (const BatchTask& task : plan_.tasks)
      known.insert(task.variables.begin(), task.variables.end());
    for (const std::string& text : options_.run.variables) {
      const std::string name = variable_name(text);
      if (!known.contains(name))
        throw InputError("--var: no task declares a variable '" + name + "'");
    }
    const std::vector<std::string> names(known.begin(), known.end());
    for (const ManifestVariables& row : plan_.manifest.vars)
      for (const auto& [name, value] : row.values)
        if (!known.contains(name))
          file.findings.error(row.place, "no task declares a variable '" + name + "'",
                              nearest_name(name, names));
    for (std::size_t i = 0; i < plan_.tasks.size(); ++i) {
      const std::set<std::string>& own = plan_.tasks[i].variables;
      const std::vector<std::string> own_names(own.begin(), own.end());
      for (const auto& [name, value] : plan_.manifest.tasks[i].vars)
        if (!own.contains(name))
          file.findings.error(plan_.manifest.tasks[i].place,
                              "the task declares no variable '" + name + "'",
                              nearest_name(name, own_names));
    }
  }

  void check_workspaces() const {
    std::set<fs::path> seen;
    std::string problems;
    for (const BatchRun& run : plan_.runs)
      for (const fs::path& path : {run.workspace, run.git}) {
        std::error_code error;
        if (path.empty() || !seen.insert(path).second || fs::is_directory(path, error)) continue;
        problems += (problems.empty() ? "" : "\n") + plan_.called + ": workspace " + path.string() +
                    ": " + (error ? error.message() : "not a folder");
        if (seen.size() > 100) break;
      }
    if (!problems.empty()) throw InputError(problems);
  }

  /// A prediction is for one instance.
  void check_predictions() const {
    if (plan_.manifest.predictions.empty()) return;
    std::set<std::string> seen;
    for (const BatchRun& run : plan_.runs)
      if (!seen.insert(run.instance).second)
        throw InputError(plan_.called + ": 'predictions' needs one run of each instance; " +
                         in_quotes(run.instance) + " has several");
  }

  void finish() {
    Json list = Json::array();
    for (std::size_t i = 0; i < plan_.runs.size(); ++i) {
      list.push_back(plan_.runs[i].name);
      if (plan_.shard.has(i)) plan_.own.push_back(i);
    }
    plan_.digest = "sha256:" + sha256_hex(write_json(list));
    plan_.out = !options_.out.empty()         ? options_.out
                : !plan_.manifest.out.empty() ? plan_.manifest.out
                                              : kBatchOut;
  }

  const BatchOptions& options_;
  BatchPlan plan_;
};

}  // namespace

std::string BatchPlan::place_of(const BatchRun& run) {
  return run.git.empty() ? run.workspace.string() : run.git.string() + "@" + run.commit;
}

BatchPlan make_batch_plan(const BatchOptions& options) { return Planning(options).plan(); }

}  // namespace sortie
