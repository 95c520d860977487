#include "app/init/init.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>

#include "app/commands/command_line.h"
#include "app/commands/doctor.h"
#include "app/init/demo.h"
#include "app/show/standard_output.h"
#include "core/base/error.h"
#include "core/base/own_variable.h"
#include "core/catalog/providers.h"
#include "core/files/file_name.h"
#include "core/text/shell_quote.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

struct InitFlags {
  std::string argument;  ///< TOOLCHAIN
  InitOptions options;
  std::string model;  ///< --model
  std::string provider;
  std::string base_url;
  std::string demo;  ///< --demo
  bool dry_run = false;
};

/// A path as the caller has it: relative to the project, "../.github/x" above it. For people: a
/// name may hold commands to a terminal.
std::string shown_path(const InitPlan& plan, const fs::path& path) {
  return one_line(
      path.lexically_relative(plan.project.empty() ? fs::path(".") : plan.project).string());
}

std::string file_lines(const InitPlan& plan, const char* would) {
  std::size_t width = 0;
  for (const auto* files : {&plan.files, &plan.unchanged})
    for (const InitFile& file : *files) width = std::max(width, shown_path(plan, file.path).size());
  const std::size_t label = std::max(std::string_view(would).size(),
                                     plan.unchanged.empty() ? 0 : sizeof("unchanged") - 1);
  const auto line = [&](const std::string& what, const InitFile& file) {
    const std::string path = shown_path(plan, file.path);
    return what + std::string(label - what.size() + 1, ' ') + path +
           std::string(width - path.size() + 2, ' ') + file.purpose + "\n";
  };
  std::string text;
  for (const InitFile& file : plan.files) text += line(would, file);
  for (const InitFile& file : plan.unchanged) text += line("unchanged", file);
  return text;
}

/// What was found, and what was taken of it.
std::string found_lines(const InitPlan& plan) {
  const Toolchain& taken = plan.toolchain;
  std::string text =
      "toolchain " + taken.name + ": " + taken.shown +
      (taken.sign.empty() ? ", whose files are not here" : ", by " + one_line(taken.sign)) + "\n";
  if (taken.name == "plain") text = "toolchain plain: no files of a known toolchain are here\n";
  for (const std::string& note : taken.notes) text += "  note: " + note + "\n";
  for (const Toolchain& other : plan.others)
    text += "  also here: " + other.shown + ", by " + one_line(other.sign) +
            "; to take it: --toolchain " + other.name + "\n";
  for (const auto& [folder, name] : plan.below)
    text += "  " + name + " in " + one_line(folder.string()) +
            "; to take it: run 'sortie init' there\n";
  const std::string system = name_of(plan.ci.system);
  text += plan.ci.system == CiSystem::none ? "no workflow: " + one_line(plan.ci.why, 400) + "\n"
                                           : "workflow for " + system + ": " + plan.ci.why + "\n";
  return text;
}

/// The files as they would be, each below its name.
std::string file_texts(const InitPlan& plan) {
  std::string text;
  for (const InitFile& file : plan.files)
    text += "\n==> " + shown_path(plan, file.path) + " <==\n" + file.content;
  return text;
}

/// Another provider whose key is set here while the chosen one's is not: "anthropic".
std::string provider_with_key(const FirstModel& model) {
  if (model.key_variable.empty() || !own_variable(model.key_variable.c_str()).empty()) return "";
  for (const ProviderInfo& one : providers())
    if (!one.key_variable.empty() && !own_variable(std::string(one.key_variable).c_str()).empty())
      return std::string(one.name);
  return "";
}

void tell_next(const InitPlan& plan, const FirstModel& model) {
  std::string text =
      "next:\n  sortie run .sortie/task.yaml        once its prompt says what you want\n";
  if (const std::string other = provider_with_key(model); !other.empty())
    text += "  or, since its key is set here:      sortie init --force --provider " + other + "\n";
  const std::string step = ci_next_step(plan.ci.system, plan.top, plan.project, model);
  if (!step.empty()) text += "  for the workflow: commit the files; " + one_line(step, 1000) + "\n";
  print_out(text);
}

/// Runs doctor on the new task, named as the caller has it. What it finds does not undo the files: they
/// may be for a machine that has what is missing here.
void tell_doctor(const fs::path& task, bool problems_only = false) {
  try {
    const DoctorBrief brief = brief_doctor(task.string());
    if (problems_only && brief.works) return;
    std::string text = brief.works && brief.looked_at_all ? "doctor: the task can run here\n"
                       : brief.works ? "doctor: of what it looks at, nothing is missing here\n"
                                     : "doctor: something is missing here ('sortie doctor --task " +
                                           shell_quoted(task.string()) + "' says more)\n";
    for (const std::string& line : brief.lines) text += "  " + line + "\n";
    print_out(text);
  } catch (const Error& error) {
    print_out(std::string("doctor: could not try the sandbox here: ") + error.what() + "\n");
  }
}

/// Where no program is installed but this one: an example with all that its run needs.
ExitCode init_demo(const InitFlags& flags) {
  const InitOptions& project = flags.options;
  if (!flags.argument.empty() || !project.toolchain.empty() || !project.ci.empty() ||
      !flags.model.empty() || !flags.provider.empty() || !flags.base_url.empty() || project.force ||
      flags.dry_run)
    throw InputError("--demo: the example is always the same; leave out what is for a project");
  const fs::path folder = fs::path(flags.demo).lexically_normal();
  const std::size_t count = write_demo(folder);
  const fs::path task = (folder / "task.yaml").lexically_normal();
  print_out("wrote " + std::to_string(count) + " files to " + path_text(folder) +
            ": a small Python tool, a task with its policy, and recorded answers of a model\n");
  tell_doctor(task, true);
  print_out("next, without a key and a network:\n  sortie run " + shell_quoted(task.string()) +
            " --out " + shell_quoted((folder / "out").lexically_normal().string()) + "\n");
  return ExitCode::success;
}

ExitCode init(InitFlags flags) {
  if (!flags.demo.empty()) return init_demo(flags);
  if (!flags.argument.empty()) {
    if (!flags.options.toolchain.empty() && flags.options.toolchain != flags.argument)
      throw InputError("two toolchains are named: " + flags.argument + " and --toolchain " +
                       flags.options.toolchain);
    flags.options.toolchain = flags.argument;
  }
  std::error_code error;
  const fs::path here = fs::canonical(".", error);
  if (error) throw InputError(std::string("the current folder: ") + error.message());
  flags.options.model = first_model(flags.provider, flags.model, flags.base_url);
  const InitPlan plan = plan_init(here, flags.options);
  if (flags.dry_run) {
    print_out(found_lines(plan) + file_lines(plan, "would write") + file_texts(plan));
    return ExitCode::success;
  }
  write_init(plan);
  print_out(found_lines(plan) + file_lines(plan, "wrote"));
  tell_doctor(".sortie/task.yaml");
  tell_next(plan, flags.options.model);
  return ExitCode::success;
}

}  // namespace

void add_init(CommandTable& table) {
  auto flags = std::make_shared<InitFlags>();
  CLI::App& app = add_command(
      table, table.root, "init",
      "Write a first task, a policy and a CI workflow for the project in this folder; run doctor.",
      "sortie init", [flags] { return init(*flags); });
  app.add_option("TOOLCHAIN", flags->argument, "the toolchain, where the files here do not tell it")
      ->check(CLI::IsMember(toolchain_names()));
  app.add_option("--toolchain", flags->options.toolchain, "the same as a flag")
      ->check(CLI::IsMember(toolchain_names()));
  std::vector<std::string> systems;
  for (const auto& row : kSpelling<CiSystem>) systems.emplace_back(row.name);
  app.add_option("--ci", flags->options.ci,
                 "the workflow's system, where the repository has no sign of it")
      ->check(CLI::IsMember(systems));
  app.add_option("-m,--model", flags->model, "the task's model");
  app.add_option("--provider", flags->provider, "its provider, whose key the workflow passes on");
  app.add_option("--base-url", flags->base_url,
                 "its address, which the policy then lets the key go to");
  app.add_flag("--force", flags->options.force, "replace files that exist");
  app.add_flag("--dry-run", flags->dry_run, "print the files instead of writing them");
  app.add_option(
         "--demo", flags->demo,
         "instead: write an example into the new or empty folder DIR, whose task runs without "
         "a key and a network")
      ->type_name("DIR");
}

}  // namespace sortie
