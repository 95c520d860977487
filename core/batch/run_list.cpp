#include "core/batch/run_list.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/batch/run_name.h"
#include "core/files/file_name.h"
#include "core/task/placeholders.h"
#include "core/task/task_fields.h"
#include "core/text/pattern.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// Where a text with {{variables}} goes: what an instance brings into it is data of others.
enum class Place { name, path, commit };

/// A run with what its name is made of.
struct Draft {
  BatchRun run;
  std::string raw_name{};  ///< before it was made a folder's
  TextPlace place{};
};

class Expansion {
 public:
  Expansion(ManifestFile& file, const std::vector<BatchInstance>& instances)
      : manifest_(file.manifest), findings_(file.findings), instances_(instances) {}

  std::vector<BatchRun> list() {
    check_size();
    for (std::size_t task = 0; task < manifest_.tasks.size(); ++task) add_task(task);
    check_filters();
    findings_.throw_if_any();
    name_apart();
    std::vector<BatchRun> runs;
    for (Draft& draft : drafts_) runs.push_back(std::move(draft.run));
    if (runs.empty())
      throw InputError(manifest_.file.string() + ": 'include' and 'exclude' leave no run");
    return runs;
  }

 private:
  void check_size() const {
    const auto one = [](std::size_t count) { return std::max<std::size_t>(count, 1); };
    const double all = static_cast<double>(manifest_.tasks.size()) *
                       static_cast<double>(one(manifest_.workspaces.size())) *
                       static_cast<double>(one(manifest_.vars.size())) *
                       static_cast<double>(one(instances_.size()));
    if (all > static_cast<double>(kMostBatchRuns))
      throw InputError(manifest_.file.string() + ": more than " + std::to_string(kMostBatchRuns) +
                       " runs; make several batches of them");
  }

  void add_task(std::size_t index) {
    const ManifestTask& task = manifest_.tasks[index];
    const ManifestWorkspace own{.path = task.workspace, .name = "own", .place = task.place};
    std::vector<const ManifestWorkspace*> workspaces;
    if (!task.workspace.empty())
      workspaces = {&own};
    else
      for (const ManifestWorkspace& each : manifest_.workspaces) workspaces.push_back(&each);
    if (workspaces.empty()) workspaces = {nullptr};
    for (const ManifestWorkspace* workspace : workspaces) add_rows(index, workspace, &own);
  }

  void add_rows(std::size_t task, const ManifestWorkspace* workspace,
                const ManifestWorkspace* own) {
    const ManifestVariables none;
    if (manifest_.vars.empty()) add_instances(task, workspace, own, none, 0);
    for (std::size_t row = 0; row < manifest_.vars.size(); ++row)
      add_instances(task, workspace, own, manifest_.vars[row], row);
  }

  void add_instances(std::size_t task, const ManifestWorkspace* workspace,
                     const ManifestWorkspace* own, const ManifestVariables& row, std::size_t) {
    if (instances_.empty()) add(task, workspace, own, row, nullptr);
    for (const BatchInstance& instance : instances_) add(task, workspace, own, row, &instance);
  }

  void add(std::size_t index, const ManifestWorkspace* workspace, const ManifestWorkspace* own,
           const ManifestVariables& row, const BatchInstance* instance) {
    const ManifestTask& task = manifest_.tasks[index];
    Draft draft{.run = {.name = {}, .task = index}, .raw_name = {}, .place = task.place};
    BatchRun& run = draft.run;
    run.vars = row.values;
    for (const auto& [name, value] : task.vars) run.vars[name] = value;
    if (instance != nullptr) {
      run.fields = instance->fields;
      for (const auto& [name, value] : run.vars) run.fields.erase(name);
      run.instance = instance->id;
    }
    if (workspace != nullptr) set_workspace(draft, *workspace, workspace == own);
    draft.raw_name = name_of(draft, task, row);
    run.name = run_name_of(draft.raw_name);
    if (is_wanted(draft)) drafts_.push_back(std::move(draft));
  }

  void set_workspace(Draft& draft, const ManifestWorkspace& workspace, bool own) {
    BatchRun& run = draft.run;
    if (workspace.git.empty()) {
      const std::string text = expand(draft, workspace.path, Place::path, workspace.place);
      run.workspace = absolute_path(manifest_.folder, text);
    } else {
      const std::string text = expand(draft, workspace.git, Place::path, workspace.place);
      if (text.find("://") != std::string::npos)
        findings_.error(workspace.place,
                        "'git': expected a repository on this machine, got an "
                        "address; clone it first: git clone --mirror");
      run.git = absolute_path(manifest_.folder, text);
      run.commit = workspace.commit.empty()
                       ? "HEAD"
                       : expand(draft, workspace.commit, Place::commit, workspace.place);
      run.depth = workspace.depth;
    }
    if (own) return;
    // The same place of the manifest, whatever the instance: its id tells the runs apart.
    const std::string& as_written = workspace.git.empty() ? workspace.path : workspace.git;
    run.workspace_name =
        !workspace.name.empty()
            ? workspace.name
            : run_name_of(fs::path(as_written).lexically_normal().filename().string() == "."
                              ? "here"
                              : fs::path(as_written).filename().string());
    if (workspace.name.empty() && !workspace.commit.empty() &&
        workspace.commit.find("{{") == std::string::npos)
      run.workspace_name += "-" + run_name_of(workspace.commit).substr(0, 40);
  }

  /// "fix.backend.python-3-11.django__django-11099"
  std::string name_of(const Draft& draft, const ManifestTask& task, const ManifestVariables& row) {
    const BatchRun& run = draft.run;
    if (!manifest_.name.empty())
      return expand(draft, manifest_.name, Place::name, manifest_.name_at);
    // The id alone, as people look for it.
    if (!run.instance.empty() && manifest_.tasks.size() == 1 && manifest_.vars.empty() &&
        manifest_.workspaces.size() < 2)
      return run.instance;
    std::vector<std::string> parts = {task.name};
    if (!run.workspace_name.empty() && (run.instance.empty() || manifest_.workspaces.size() > 1))
      parts.push_back(run.workspace_name);
    if (!row.values.empty()) {
      std::string values;
      for (const auto& [name, value] : row.values)
        values += (values.empty() ? "" : "-") + value.substr(0, 40);
      parts.push_back(values);
    }
    if (!run.instance.empty()) parts.push_back(run.instance);
    return joined(parts, ".");
  }

  /// Replaces {{variables}}; a finding for those that the run does not have.
  std::string expand(const Draft& draft, const std::string& text, Place place,
                     const TextPlace& at) {
    std::string all;
    for (const PromptPart& part : split_prompt(text)) {
      if (part.kind != PromptPart::Kind::variable) {
        all += part.text;
        continue;
      }
      if (const auto own = draft.run.vars.find(part.text); own != draft.run.vars.end()) {
        all += own->second;
        continue;
      }
      const auto field = draft.run.fields.find(part.text);
      if (field == draft.run.fields.end()) {
        unknown(draft, part.text, at);
        continue;
      }
      if (const std::string problem = problem_of(field->second, place); !problem.empty())
        report(at, "{{" + part.text + "}} of instance " + in_quotes(draft.run.instance) + " " +
                       problem);
      all += field->second;
    }
    return all;
  }

  /// Why a value of somebody else can't be a part of such a text; "" if it can.
  static std::string problem_of(const std::string& value, Place place) {
    if (place == Place::name) return "";
    if (value.empty() || value.front() == '-' || value.find('\0') != std::string::npos)
      return "is empty, or begins with '-'";
    if (place == Place::path && !is_plain_path(value))
      return "is not a plain relative path: " + in_quotes(value);
    return "";
  }

  void unknown(const Draft& draft, const std::string& name, const TextPlace& at) {
    std::vector<std::string> known;
    for (const auto& [each, value] : draft.run.vars) known.push_back(each);
    for (const auto& [each, value] : draft.run.fields) known.push_back(each);
    const std::string who =
        draft.run.instance.empty() ? "" : " (instance " + in_quotes(draft.run.instance) + ")";
    report(at, "no variable '" + one_line(name, 60) + "' in this run" + who,
           nearest_name(name, known));
  }

  /// Once for each place: a hundred instances may lack the same.
  void report(const TextPlace& at, std::string message, std::string nearest = {}) {
    if (reported_.insert({at.line, at.column}).second)
      findings_.error(at, std::move(message), std::move(nearest));
  }

  /// What a key of a filter means in a run; nothing if it has no such variable.
  std::optional<std::string> value_of(const Draft& draft, const std::string& key) const {
    const BatchRun& run = draft.run;
    if (key == "name") return run.name;
    if (key == "task") return manifest_.tasks[run.task].name;
    if (key == "workspace") return run.workspace_name;
    if (key == "instance") return run.instance;
    for (const VariableMap* map : {&run.vars, &run.fields})
      if (const auto found = map->find(key); found != map->end()) return found->second;
    return std::nullopt;
  }

  bool matches(const Draft& draft, const ManifestFilter& filter) {
    bool all = true;
    for (const auto& [key, glob] : filter.globs) {
      const auto value = value_of(draft, key);
      if (value) known_keys_.insert(key);
      all = all && value && Pattern::word_glob(glob).matches(*value);
    }
    return all;
  }

  bool is_wanted(const Draft& draft) {
    // All of them, so that each key is looked for.
    bool included = manifest_.include.empty();
    bool excluded = false;
    for (const ManifestFilter& filter : manifest_.include)
      if (matches(draft, filter)) included = true;
    for (const ManifestFilter& filter : manifest_.exclude)
      if (matches(draft, filter)) excluded = true;
    return included && !excluded;
  }

  void check_filters() {
    for (const auto* list : {&manifest_.include, &manifest_.exclude})
      for (const ManifestFilter& filter : *list)
        for (const auto& [key, glob] : filter.globs)
          if (!known_keys_.contains(key))
            findings_.error(filter.place, "no run has a '" + key +
                                              "'; expected name, task, workspace, instance or the "
                                              "name of a variable");
  }

  /// Different texts may have become one name: then a part of their digest is added.
  void name_apart() {
    std::map<std::string, std::vector<Draft*>> by_name;
    for (Draft& draft : drafts_) by_name[draft.run.name].push_back(&draft);
    for (auto& [name, same] : by_name) {
      if (same.size() == 1) continue;
      std::set<std::string> raw;
      for (const Draft* draft : same) raw.insert(draft->raw_name);
      if (raw.size() < same.size())
        throw InputError(manifest_.file.string() + ": " + std::to_string(same.size()) +
                         " runs are called " + in_quotes(name) +
                         "; give 'name' with the variables that tell them apart");
      for (Draft* draft : same)
        draft->run.name = name.substr(0, 100) + "-" + short_digest(draft->raw_name);
    }
  }

  const Manifest& manifest_;
  Diagnostics& findings_;
  const std::vector<BatchInstance>& instances_;
  std::vector<Draft> drafts_;
  std::set<std::pair<int, int>> reported_;
  std::set<std::string> known_keys_;
};

}  // namespace

std::vector<BatchRun> make_run_list(ManifestFile& file,
                                    const std::vector<BatchInstance>& instances) {
  return Expansion(file, instances).list();
}

}  // namespace sortie
