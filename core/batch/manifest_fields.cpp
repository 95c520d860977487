#include "core/batch/manifest_fields.h"

#include <initializer_list>
#include <utility>

#include "core/batch/run_name.h"
#include "core/rates/rate_limits.h"
#include "core/task/task_fields.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::int64_t kMostJobs = 1024;
constexpr TextLimits kPartOfName = {.pattern = "[a-z0-9_][a-z0-9_.-]{0,63}",
                                    .meaning = "1 to 64 of a-z, 0-9, '-', '_' and '.'"};
constexpr TextLimits kVariable = {.pattern = "[A-Za-z_][A-Za-z0-9_-]{0,63}",
                                  .meaning = "a name of letters, digits, '_' and '-'"};
constexpr TextLimits kFileName = {.pattern = "[A-Za-z0-9_][A-Za-z0-9._-]{0,127}",
                                  .meaning = "a file name without folders"};

FieldValue placed(FieldValue value, TextPlace& place) {
  value.read = [read = std::move(value.read), &place](const YamlNode& node, const std::string& name,
                                                      Diagnostics& findings) {
    place = node.place;
    read(node, name, findings);
  };
  return value;
}

FieldValue folder_text(std::string& target) { return text_value(target, {.max_bytes = 4096}); }

Fields task_entry_fields(ManifestTask& task, const fs::path& folder) {
  return Fields("a task of the batch")
      .require("task", path_value(task.task, folder), "The task file, relative to the manifest.")
      .add("policy", policy_value(task.policy, folder),
           "The policy of its runs: a preset's name, or a file relative to the manifest.")
      .add("name", text_value(task.name, kPartOfName),
           "Its part of the runs' names; by default the file's name, or its folder's for a file "
           "called task.yaml.")
      .add("vars", text_map_value(task.vars, kVariable), "Template variables of its runs.")
      .add("workspace", folder_text(task.workspace),
           "The folder that its runs work in, instead of `workspaces`.");
}

Fields workspace_entry_fields(ManifestWorkspace& workspace) {
  return Fields("a workspace of the batch")
      .add("path", folder_text(workspace.path),
           "A folder, relative to the manifest; {{variables}} of the run are replaced.")
      .add("git", folder_text(workspace.git),
           "A git repository on this machine, relative to the manifest, instead of a folder: a "
           "commit of it is checked out for the runs.")
      .add("commit", text_value(workspace.commit, {.max_bytes = 1024}),
           "With `git`: the commit, branch or tag; by default HEAD. {{variables}} are replaced.")
      .add("depth", integer_value(workspace.depth, 1, 1'000'000),
           "With `git`: how many commits of history the checkout has; by default all that the "
           "commit has, and none that came later.")
      .add("name", text_value(workspace.name, kPartOfName),
           "Its part of the runs' names; by default the folder's name.");
}

void read_task(const YamlNode& node, Manifest& manifest, Diagnostics& findings) {
  ManifestTask task{.place = node.place};
  if (node.is_scalar()) {
    if (const auto text = read_text(node, "tasks", {}, findings))
      task.task = absolute_path(manifest.folder, *text);
    else
      return;
  } else {
    task_entry_fields(task, manifest.folder).read(node, findings);
  }
  manifest.tasks.push_back(std::move(task));
}

void read_workspace(const YamlNode& node, Manifest& manifest, Diagnostics& findings) {
  ManifestWorkspace workspace{.place = node.place};
  if (node.is_scalar()) {
    const auto text = read_text(node, "workspaces", {}, findings);
    if (!text) return;
    workspace.path = *text;
  } else {
    workspace_entry_fields(workspace).read(node, findings);
    if (node.is_mapping() && workspace.path.empty() == workspace.git.empty())
      findings.error(node.place, "a workspace has either 'path' or 'git'");
    for (const char* key : {"commit", "depth"})
      if (const YamlNode* one = node.find(key); one != nullptr && workspace.git.empty())
        findings.error(one->place, "'" + std::string(key) + "' belongs to a workspace with 'git'");
  }
  manifest.workspaces.push_back(std::move(workspace));
}

void read_row(const YamlNode& node, Manifest& manifest, Diagnostics& findings) {
  ManifestVariables row{.values = {}, .place = node.place};
  text_map_value(row.values, kVariable).read(node, "vars", findings);
  manifest.vars.push_back(std::move(row));
}

using ReadItem = void (*)(const YamlNode&, Manifest&, Diagnostics&);

FieldValue list_value(Manifest& manifest, const char* wanted, std::function<Json()> item,
                      ReadItem read) {
  return {.schema =
              [item] {
                return Json::object({{"type", "array"}, {"items", item()}, {"minItems", 1}});
              },
          .read =
              [&manifest, wanted, read](const YamlNode& node, const std::string& name,
                                        Diagnostics& findings) {
                if (!check_list(node, name, wanted, findings)) return;
                if (node.items.empty())
                  findings.error(node.place, "'" + name + "' is empty; leave it out");
                for (const YamlNode& each : node.items)
                  if (each.kind != YamlNode::Kind::refused) read(each, manifest, findings);
              },
          .write = kNotWritten};
}

Json text_or(Json mapping) {
  return Json::object({{"anyOf", Json::array({Json::object({{"type", "string"}, {"minLength", 1}}),
                                              std::move(mapping)})}});
}

Json task_entry_schema() {
  ManifestTask any;
  return text_or(task_entry_fields(any, "/").schema());
}

Json workspace_entry_schema() {
  ManifestWorkspace any;
  return text_or(with_one_of(workspace_entry_fields(any).schema(), {"path", "git"}));
}

Json text_map_schema() {
  VariableMap any;
  return text_map_value(any, kVariable).schema();
}

template <std::vector<ManifestFilter> Manifest::*list>
void read_filter(const YamlNode& node, Manifest& manifest, Diagnostics& findings) {
  ManifestFilter filter{.globs = {}, .place = node.place};
  text_map_value(filter.globs, kVariable, {}).read(node, "a combination", findings);
  if (node.is_mapping() && node.members.empty())
    findings.error(node.place, "a combination without a key means all runs");
  (manifest.*list).push_back(std::move(filter));
}

Fields budget_fields(BatchBudget& budget) {
  static constexpr double kMostCost = 1e9;
  FieldValue time{
      .schema =
          [] {
            std::chrono::milliseconds any{1min};
            Json schema = duration_value(any, 1ms, 24h * 365).schema();
            std::erase_if(schema.members(),
                          [](const Json::Member& each) { return each.first == "default"; });
            return schema;
          },
      .read =
          [&budget](const YamlNode& node, const std::string& name, Diagnostics& findings) {
            std::chrono::milliseconds value{0};
            duration_value(value, 1ms, 24h * 365).read(node, name, findings);
            if (value.count() > 0) budget.time = value;
          },
      .write = kNotWritten};
  return Fields("budget")
      .add("cost", real_value(budget.cost, 0, kMostCost),
           "USD. Each run reserves its task's budget before it starts, and gives back what it did "
           "not use.")
      .add("tokens", integer_value(budget.tokens, 1, 1'000'000'000'000'000),
           "Uncached input and output, in the same way.")
      .add("time", std::move(time), "Wall clock of all starts of the batch together.");
}

Fields retry_fields(BatchRetry& retry) {
  return Fields("retry")
      .add("attempts", integer_value(retry.attempts, 1, 1000), "Starts of one run at most.")
      .add("wait", duration_value(retry.wait, 1ms, 24h),
           "The pause of all starts after a provider refused or failed; doubled with each failure "
           "in a row.")
      .add("max_wait", duration_value(retry.max_wait, 1ms, 24h),
           "The longest such pause, unless the provider names a longer one.");
}

/// A file, or what it would have as `providers`.
FieldValue rate_limits_value(Manifest& manifest) {
  FieldValue providers = provider_rates_value(manifest.rate_limits);
  return {.schema = [schema = providers.schema] { return text_or(schema()); },
          .read =
              [&manifest, read = providers.read](const YamlNode& node, const std::string& name,
                                                 Diagnostics& findings) {
                if (node.is_mapping()) return read(node, name, findings);
                if (const auto text = read_text(
                        node, name, {.meaning = "a mapping of providers, or a file"}, findings))
                  manifest.rate_limits_file = absolute_path(manifest.folder, *text);
              },
          .write = kNotWritten};
}

/// `auto`, or a number.
FieldValue jobs_value(std::optional<int>& jobs) {
  return {
      .schema =
          [] {
            return Json::object({{"anyOf", Json::array({Json::object({{"const", "auto"}}),
                                                        Json::object({{"type", "integer"},
                                                                      {"minimum", 1},
                                                                      {"maximum", kMostJobs}})})},
                                 {"default", "auto"}});
          },
      .read =
          [&jobs](const YamlNode& node, const std::string& name, Diagnostics& findings) {
            if (node.is_scalar() && node.text == "auto") return;
            integer_value(jobs, 1, kMostJobs).read(node, name, findings);
          },
      .write = kNotWritten};
}

}  // namespace

Fields manifest_fields(Manifest& manifest) {
  return Fields("manifest")
      .require("version", version_value(1), "The version of the format.")
      .require("tasks", list_value(manifest, "a list of tasks", task_entry_schema, read_task),
               "The tasks: files, or mappings with more about one of them.")
      .add("workspaces",
           list_value(manifest, "a list of workspaces", workspace_entry_schema, read_workspace),
           "The folders that each task runs in; by default the task's own.")
      .add("vars", list_value(manifest, "a list of mappings", text_map_schema, read_row),
           "Rows of template variables: each task runs once with each row.")
      .add("instances", path_value(manifest.instances, manifest.folder),
           "A file of JSON objects, one a line: each task runs once with each. Its texts become "
           "the task's variables of the same names, as untrusted data.")
      .add("include",
           list_value(manifest, "a list of combinations", text_map_schema,
                      read_filter<&Manifest::include>),
           "Only these combinations: globs by name, task, workspace, instance or a variable.")
      .add("exclude",
           list_value(manifest, "a list of combinations", text_map_schema,
                      read_filter<&Manifest::exclude>),
           "None of these combinations.")
      .add("name", placed(text_value(manifest.name, {.max_bytes = 1024}), manifest.name_at),
           "The name of each run, with {{variables}} of it; by default made of its parts.")
      .add("policy", policy_value(manifest.policy, manifest.folder),
           "The policy of all runs: a preset's name, or a file relative to the manifest.")
      .add("out", folder_text(manifest.out), "The output folder, relative to the current folder.")
      .add("jobs", jobs_value(manifest.jobs),
           "Runs at the same time; auto: by the machine's cores and free memory.")
      .add("keep_going", boolean_value(manifest.keep_going),
           "Whether further runs are started after one has failed for good.")
      .add("budget", mapping_value(budget_fields(manifest.budget)), "Limits of all runs together.")
      .add("retry", mapping_value(retry_fields(manifest.retry)),
           "How runs are started again after a failure of the provider, or a kill.")
      .add("rate_limits", rate_limits_value(manifest),
           "What each provider allows in a minute, for all runs on this machine; or a file of it.")
      .add("predictions", text_value(manifest.predictions, kFileName),
           "Also write the diffs as SWE-bench predictions, to this file in the output folder.");
}

}  // namespace sortie
