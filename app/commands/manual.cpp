#include "app/commands/manual.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "core/base/exit_code.h"
#include "core/text/text.h"

namespace sortie {
namespace {

// Keys and addresses of providers stand in core/catalog/providers.cpp; docs_test compares.
constexpr VariableRow kVariables[] = {
    {"OPENAI_API_KEY, ANTHROPIC_API_KEY, AZURE_OPENAI_API_KEY",
     "The key of the model's provider. A task may name another variable (model.api_key_env). Read "
     "once and then erased; no command gets it."},
    {"CODEX_API_KEY", "For exec, in place of OPENAI_API_KEY."},
    {"CODEX_INTERNAL_ORIGINATOR_OVERRIDE",
     "Who calls exec: the header originator of its requests; else sortie."},
    {"CODEX_HOME, SORTIE_HOME, XDG_STATE_HOME",
     "Where exec keeps its threads: the first that is set; else ~/.local/state/sortie."},
    {"SORTIE_KEEP_THREADS",
     "How many threads exec keeps, and for how long: 30d,1000 if it is not set; 'all'."},
    {"SORTIE_BASE_URL", "The address of the task's own model, as with --base-url."},
    {"OPENAI_BASE_URL, OPENAI_API_BASE, ANTHROPIC_BASE_URL, AZURE_OPENAI_ENDPOINT, "
     "AZURE_OPENAI_BASE_URL",
     "The address of this provider's API. The policy has to let the key go there "
     "(bounds.credentials)."},
    {"SORTIE_AUTH_URL", "The address at which a ChatGPT sign-in is refreshed."},
    {"HTTPS_PROXY, ALL_PROXY, NO_PROXY",
     "The proxy to models and MCP servers with an https address, and ahead of sortie's own proxy "
     "under network.mode: allow-list. Also in lower case."},
    {"HTTP_PROXY",
     "The proxy ahead of sortie's own for what commands ask in plain http; else ALL_PROXY. No model "
     "or MCP server is asked through it. Also in lower case."},
    {"SSL_CERT_FILE, SSL_CERT_DIR",
     "Certificates of authorities to trust instead of the system's."},
    {"PATH",
     "Where programs are found. Commands get those of its folders that they can't write to."},
    {"VIRTUAL_ENV, CONDA_PREFIX",
     "Passed on to commands together with the environment's folder of PATH."},
    {"HOME, TMPDIR",
     "The policy's ~/ and the known tool folders; places that commands may write to. Commands "
     "have a HOME and a TMPDIR of their own."},
    {"XDG_CONFIG_HOME",
     "Where git's own settings are looked for: they are only asked whether they convert line ends."},
    {"PAGER", "What shows the text of sortie show on a terminal; less -R without it."},
    {"TERM, NO_COLOR, CI", "Whether stderr is shown in colour, and with a status line."},
    {"GITHUB_ACTIONS, GITEA_ACTIONS, FORGEJO_ACTIONS, GITLAB_CI, TF_BUILD, TEAMCITY_VERSION",
     "The CI system whose commands are made harmless in what is printed."},
    {"GITHUB_WORKSPACE, BUILD_SOURCESDIRECTORY",
     "The job's folder: files in notes of a CI system are named from there."},
    {"GITHUB_OUTPUT, GITHUB_STEP_SUMMARY",
     "With GITHUB_ACTIONS: the files that get the outputs of the step and its summary."},
    {"SLURM_ARRAY_TASK_ID, SLURM_ARRAY_TASK_COUNT, SLURM_ARRAY_TASK_MIN, SLURM_ARRAY_TASK_MAX, "
     "SLURM_ARRAY_TASK_STEP",
     "The part of a batch that sortie batch --shard auto runs; other engines have their own."},
    {"SORTIE_SHARDS",
     "How many shards there are, for sortie batch --shard auto on engines that don't say it, such "
     "as Kubernetes."},
};

constexpr ArtifactRow kArtifacts[] = {
    {"result.json", "The state of the run, and then its outcome."},
    {"transcript.jsonl, blobs/", "Everything that happened; sortie verify checks it."},
    {"changes.diff", "After a success: what was changed, for git apply."},
    {"submodules/", "After a success: the diffs of submodules that the task lists."},
    {"attestation.json", "After a success: an in-toto statement of the run, for a signer."},
    {"partial.diff", "After any other end: what had been changed by then."},
    {"partial-submodules/", "After any other end: the same of submodules."},
    {"last-message.txt, last-message.json",
     "The agent's final message; .json if it matches an output schema."},
    {"report.html, summary.md",
     "The run for people, as a page and as Markdown; sortie report makes them again."},
    {"commit-message.txt, change.mbox, pr.json, review.json",
     "What sortie land writes: for git commit, git am, a pull request and a review."},
    {"kept/", "Files that no diff holds, and what was removed under protected names."},
    {".lock", "The process id of the run in progress."},
    {".gitignore", "So that git add leaves a run's record out."},
    {"state/",
     "Files of the run, for as long as it can go on; in state/changes.tar those from which another "
     "machine can."},
    {"restore.tar", "Such a file, while a tree is made from it."},
};

/// The group of options that every command has (CLI11's default).
constexpr const char* kCommonOptions = "Options";

/// Text as roff reads it literally (man(7)).
std::string roff(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else
      escaped += c;
  }
  // A dot or quote that begins a line would be a request.
  if (!escaped.empty() && (escaped[0] == '.' || escaped[0] == '\'')) escaped.insert(0, "\\&");
  return escaped;
}

/// A term and, indented below it, what it means.
void add_entry(const std::string& term, const std::string& meaning, std::string& page) {
  page += ".TP\n.B " + roff(term) + "\n" + roff(meaning) + "\n";
}

/// Under headings where they are grouped; those that every command has come last.
void add_options(const CLI::App& app, std::string& page) {
  std::vector<std::string> groups;
  for (const auto* option : app.get_options())
    if (const auto& group = option->get_group();
        !group.empty() && std::find(groups.begin(), groups.end(), group) == groups.end())
      groups.push_back(group);
  std::stable_partition(groups.begin(), groups.end(),
                        [](const std::string& group) { return group != kCommonOptions; });
  for (const std::string& group : groups) {
    if (groups.size() > 1) page += ".PP\n.I " + roff(group) + "\n";
    for (const auto* option : app.get_options())
      if (option->get_group() == group)
        add_entry(option->get_name(true, true), option->get_description(), page);
  }
}

void add_command_section(const CLI::App& app, const std::string& name, std::string& page) {
  const auto commands = app.get_subcommands([](const CLI::App*) { return true; });
  // `exec` is a command of its own, and has commands below it.
  if (commands.empty() || app.get_require_subcommand_min() == 0) {
    page += ".SS " + roff(name) + "\n" + roff(app.get_description()) + "\n";
    for (const std::string& alias : app.get_aliases())
      page += "Short: sortie " + roff(alias) + ".\n";
    add_options(app, page);
    page += ".PP\n.nf\n";
    const std::string footer = app.get_footer();
    for (const auto line : split_lines(footer)) page += roff(std::string(line)) + "\n";
    page += ".fi\n";
  }
  for (const auto* command : commands)
    add_command_section(*command, name + " " + command->get_name(), page);
}

void add_exit_codes(std::string& page) {
  page += ".SH EXIT STATUS\n";
  for (const ExitCodeRow& row : exit_code_table())
    add_entry(std::to_string(static_cast<int>(row.code)) + " " + row.status, row.meaning, page);
  page += ".PP\nWith 10 to 19 and the signals the same command may succeed when it is run again.\n";
}

void add_files(std::string& page) {
  page +=
      ".SH FILES\nThere is no configuration besides the task, the policy and the flags. "
      "A run writes into its output folder (\\-\\-out, sortie\\-out):\n";
  for (const ArtifactRow& row : artifact_table()) add_entry(row.name, row.meaning, page);
  page += ".PP\nA finished run that was there before is moved to the folder's name with .prev.\n";
}

void add_variables(std::string& page) {
  page += ".SH ENVIRONMENT\nAn empty variable counts as one that is not set.\n";
  for (const VariableRow& row : variable_table()) add_entry(row.names, row.meaning, page);
}

}  // namespace

std::span<const VariableRow> variable_table() noexcept { return kVariables; }

std::span<const ArtifactRow> artifact_table() noexcept { return kArtifacts; }

std::string man_page(const CLI::App& root) {
  std::string page = ".TH SORTIE 1 \"\" \"sortie " SORTIE_VERSION "\" \"User Commands\"\n";
  page += ".SH NAME\nsortie \\- one\\-shot batch runner for coding agents\n";
  page += ".SH SYNOPSIS\n.B sortie\n.I COMMAND\n[options]\n";
  page += ".SH DESCRIPTION\n" + roff(root.get_description()) + "\n";
  page += ".SH COMMANDS\n";
  add_command_section(root, "sortie", page);
  add_exit_codes(page);
  add_variables(page);
  add_files(page);
  return page;
}

}  // namespace sortie
