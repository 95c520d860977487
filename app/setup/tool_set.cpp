#include "app/setup/tool_set.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "app/inputs/tool_choice.h"
#include "core/base/error.h"
#include "core/catalog/model_family.h"
#include "core/git/git_ignore.h"
#include "core/git/git_tree.h"
#include "core/task/tool_names.h"
#include "tools/commands/exec_command.h"
#include "tools/commands/function_tool.h"
#include "tools/commands/shell.h"
#include "tools/files/apply_patch.h"
#include "tools/files/list_dir.h"
#include "tools/files/read_file.h"
#include "tools/files/search_files.h"
#include "tools/files/view_image.h"
#include "tools/git/git_diff.h"
#include "tools/git/git_status.h"
#include "tools/plain_tools.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;
using Tools = std::vector<std::unique_ptr<Tool>>;

/// The options of every command of the run.
ShellOptions shell_options(const ToolSetParts& parts) {
  const Confinement& confinement = parts.confinement;
  const PolicyLimits& limits = parts.inputs.policy.limits;
  ShellOptions options;
  options.workspace = confinement.workspace();
  options.environment = confinement.environment();
  options.git_environment = confinement.git_environment();
  options.folders = confinement.engine().folders();
  options.command_timeout = limits.command_timeout;
  options.max_output_bytes = limits.output;
  options.shown_output = parts.inputs.task.context.shown_output;
  return options;
}

/// The services for every command of the run.
ShellParts shell_parts(const ToolSetParts& parts) {
  return {.launcher = parts.launcher,
          .files = parts.confinement.view(),
          .redactor = parts.redactor,
          .engine = &parts.confinement.engine(),
          .outputs = parts.outputs};
}

/// @param patches  the run's apply_patch
std::unique_ptr<Shell> make_commands(const ToolSetParts& parts, Tool* patches) {
  const Engine& engine = parts.confinement.engine();
  // A patch inside a command is applied by the tool, if the run has it.
  if (!enables_tool(parts.inputs.task.tools, "apply_patch") || !engine.shows_tool("apply_patch"))
    patches = nullptr;
  ShellParts with_patches = shell_parts(parts);
  with_patches.apply_patch = patches;
  return std::make_unique<Shell>(with_patches, shell_options(parts));
}

std::unique_ptr<Tool> make_shell(const ToolSetParts& parts, Tool* patches) {
  std::unique_ptr<Tool> shell = make_commands(parts, patches);
  if (!offers_local_shell(parts.inputs.task.model)) return shell;
  return std::make_unique<LocalShell>(std::move(shell));
}

/// A tool that reads by `path` can read saved outputs too.
/// @param make  makes the tool for a folder, which is its workspace
template <class Make>
std::unique_ptr<Tool> make_reader(const ToolSetParts& parts, const Make& make) {
  std::unique_ptr<Tool> tool = make(parts.confinement.view(), parts.confinement.workspace());
  if (parts.outputs == nullptr) return tool;
  const fs::path& folder = parts.outputs->folder();
  return std::make_unique<ReadsOutputs>(std::move(tool), make(parts.outputs->files(), folder),
                                        folder);
}

std::size_t place_in_table(const Tool& tool) {
  const auto table = built_in_tools();
  const auto row = std::find_if(table.begin(), table.end(), [&](const BuiltInTool& one) {
    return one.name == tool.spec().name;
  });
  return static_cast<std::size_t>(row - table.begin());
}

/// Refuses or notes tools that are enabled but missing: the task may depend on them.
void check_enabled_tools(const std::vector<std::string>& enabled, const Tools& tools,
                         std::vector<std::string>& notes) {
  for (const auto& name : enabled) {
    if (is_mcp_tool(name)) continue;  // its server has yet to be asked
    if (name == kDefaultTools || name == kNoTools) continue;
    if (std::any_of(tools.begin(), tools.end(),
                    [&](const auto& tool) { return means_tool(name, tool->spec().name); }))
      continue;
    if (name == "web_search")
      notes.push_back("tools.enable: web_search is left out: the provider has none");
    else if (name == "view_image")
      notes.push_back("tools.enable: view_image is left out: the model takes no images");
    else
      throw Error(name == "run_tests"
                      ? "tools.enable: run_tests needs commands in the task's verify"
                  : name.starts_with("git_")
                      ? "tools.enable: " + name + " needs a workspace that is a git tree"
                      : "tools.enable: there is no tool '" + name + "'",
                  ExitCode::usage);
  }
}

}  // namespace

std::vector<std::unique_ptr<Tool>> make_tools(const ToolSetParts& parts,
                                              std::vector<std::string>& notes) {
  const Task& task = parts.inputs.task;
  const Engine& engine = parts.confinement.engine();
  const fs::path& workspace = parts.confinement.workspace();
  DiskFiles& view = parts.confinement.view();
  const std::size_t shown_output = task.context.shown_output;
  const auto is_hidden = [&engine](const fs::path& path) { return engine.is_hidden(path); };
  const auto is_protected = [&engine](const fs::path& path) { return engine.is_protected(path); };

  // A line a tool; their order is that of built_in_tools().
  Tools tools;
  const auto add = [&tools](std::unique_ptr<Tool> tool) { tools.push_back(std::move(tool)); };
  add(std::make_unique<ApplyPatch>(view, workspace, is_protected, is_hidden));
  Tool* const patches = tools.back().get();
  add(make_shell(parts, patches));
  add(std::make_unique<ExecCommand>(make_commands(parts, patches), parts.sessions, shown_output));
  add(std::make_unique<WriteStdin>(parts.sessions, shown_output));
  add(std::make_unique<UpdatePlan>());
  if (offers_view_image(task)) add(std::make_unique<ViewImage>(view, workspace, is_hidden));
  add(make_reader(parts, [&](const DiskFiles& files, const fs::path& folder) {
    ReadFileOptions options{.stream = stream_below(files.root()), .max_bytes = shown_output};
    if (folder == workspace) options.hidden = is_hidden;
    return std::make_unique<ReadFile>(files, folder, std::move(options));
  }));
  add(std::make_unique<ListDir>(view, workspace, parts.clock,
                                ListDirOptions{.hidden = is_hidden, .max_bytes = shown_output}));
  add(make_reader(parts, [&](const DiskFiles& files, const fs::path& folder) {
    SearchFilesOptions options{.max_output = shown_output - shown_output / 8};
    if (folder == workspace && !parts.git.toplevel.empty()) {
      const fs::path& repository = parts.inputs.workspace;
      options.outer_ignore_files = [repository] { return outer_ignore_files(repository); };
      options.dot_names = [repository] { return tracked_dot_names(repository); };
    }
    return std::make_unique<SearchFiles>(files, folder, parts.clock,
                                         folder == workspace ? is_hidden : HiddenPaths(),
                                         std::move(options));
  }));
  if (!parts.git.toplevel.empty()) {
    add(std::make_unique<GitStatus>(view, parts.inputs.workspace, parts.clock,
                                    GitStatusOptions{.hidden = is_hidden}));
    if (parts.diff)
      add(std::make_unique<GitDiff>(
          parts.diff, workspace, parts.clock,
          GitDiffOptions{.hidden = is_hidden, .max_bytes = shown_output - shown_output / 8}));
  }
  if (!task.verify.commands.empty()) add(std::make_unique<RunTests>(parts.run_tests));
  if (offers_web_search(task.model)) add(std::make_unique<WebSearch>());
  for (const TaskFunction& function : task.functions)
    add(std::make_unique<FunctionTool>(function, shell_parts(parts), shell_options(parts)));

  check_enabled_tools(task.tools, tools, notes);
  for (const TaskFunction& function : task.functions)
    if (!enables_tool(task.tools, function.name))
      notes.push_back("tools.enable leaves out the function " + function.name);
  std::erase_if(tools,
                [&](const auto& tool) { return !enables_tool(task.tools, tool->spec().name); });
  std::stable_sort(tools.begin(), tools.end(), [](const auto& left, const auto& right) {
    return place_in_table(*left) < place_in_table(*right);
  });
  return tools;
}

std::map<std::string, std::string> absent_tools(const ToolSetParts& parts) {
  const Task& task = parts.inputs.task;
  std::map<std::string, std::string> absent;
  if (!offers_view_image(task))
    absent["view_image"] =
        takes_images(task.model.provider, task.model.name) == TakesImages::no
            ? "the model takes no images"
            : "it is not known whether the model takes images, and the task does not name the tool";
  if (parts.git.toplevel.empty())
    absent["git_status"] = absent["git_diff"] = "the workspace is not a git tree";
  else if (!parts.diff)
    absent["git_diff"] = "what the tree was at the start is not kept; use git diff in a command";
  if (task.verify.commands.empty()) absent["run_tests"] = "the task has no verification commands";
  if (!offers_web_search(task.model)) absent["web_search"] = "the provider has none";
  for (const BuiltInTool& tool : built_in_tools())
    if (!enables_tool(task.tools, tool.name))
      absent.try_emplace(tool.name, "the task's tools.enable leaves it out");
  // Each is a name for the other.
  absent.erase("shell");
  absent.erase("local_shell");
  return absent;
}

}  // namespace sortie
