#include "app/exec/exec.h"

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "app/commands/command_line.h"
#include "app/commands/run_flags.h"
#include "app/commands/version_text.h"
#include "app/show/words.h"
#include "core/base/isolation.h"

namespace sortie {
namespace {

void add_agent(CLI::App& app, ExecOptions& options) {
  begin_group(app, "Sandbox");
  app.add_option("-s,--sandbox", options.sandbox,
                 "read-only, workspace-write, or danger-full-access, which has none; default: "
                 "read-only")
      ->check(CLI::IsMember({"read-only", "workspace-write", "danger-full-access"}));
  app.add_flag("--full-auto", options.full_auto,
               "the same as -s workspace-write; beside another -s the stricter counts");
  app.add_flag("--dangerously-bypass-approvals-and-sandbox,--yolo", options.unsandboxed,
               "the same as -s danger-full-access, in any folder");
  app.add_option("-a,--ask-for-approval", options.ask_for_approval,
                 "when codex would ask; nobody is asked here, which is never")
      ->check(CLI::IsMember({"never", "on-request", "on-failure", "untrusted"}));
  add_repeatable(app, "--add-dir", options.add_dirs,
                 "another folder that may be written to with -s workspace-write");
  app.add_option("--policy", options.run.policy,
                 "policy file or preset, in place of -s, --add-dir and the sandbox of -c");
  app.add_option("--isolation", options.run.isolation,
                 names_for_help<Isolation>() + "; default: none, which works in the folder itself");
}

void add_input(CLI::App& app, ExecOptions& options) {
  begin_group(app, "Input");
  app.add_option("-C,--cd", options.run.workspace, "workspace; default: this folder");
  app.add_flag("--skip-git-repo-check", options.skip_git_check,
               "work in a folder that is in no git repository");
  add_repeatable(app, "-i,--image", options.images,
                 "images for the prompt: all words up to the next option, or separated by commas");
  app.add_option("--output-schema", options.output_schema, "JSON Schema of the final message");
  add_repeatable(app, "-c,--config", options.config,
                 "KEY=VALUE of codex's configuration, VALUE in TOML");
  app.add_flag("--search", options.search, "the same as -c web_search=live");
  app.add_option("-p,--profile", options.profile,
                 "the values of a profile in codex's own configuration, before those of -c");
  app.add_flag("--strict-config", options.strict_config,
               "a key of -c that means nothing here is an error");
}

void add_output(CommandTable& table, CLI::App& app, ExecOptions& options) {
  begin_group(app, "Output");
  app.add_flag("--json,--experimental-json", options.run.json,
               "events on stdout, one JSON object a line, as codex writes them");
  app.add_flag("--sortie-events", options.own_events,
               "with --json: also what only sortie has, such as run.completed at the end");
  app.add_option("-o,--output-last-message", options.run.last_message,
                 "also write the final message here; a file is removed if the run fails");
  app.add_option("--diff", options.run.diff, "write the diff of the run here; - is stdout");
  app.add_option("--out", options.run.out,
                 "folder for transcript, diff and result; an earlier run in it moves to DIR.prev");
  add_status_file(app, options.run.status_file);
  add_exit_map(app, table.retryable_code);
  app.add_flag("--ephemeral", options.ephemeral, "keep no thread: it can't be resumed");
}

void add_local(CLI::App& app, ExecOptions& options) {
  app.add_flag("--oss", options.oss, "a model on this machine: Ollama, or --local-provider");
  app.add_option("--local-provider", options.local_provider, "with --oss: ollama or lmstudio")
      ->check(CLI::IsMember({"ollama", "lmstudio"}));
}

/// Accepted since scripts have them; what they choose is not there, or always so.
void add_ignored(CLI::App& app, ExecOptions& options) {
  begin_group(app, "Accepted without effect");
  struct Ignored {
    std::vector<std::string> values;
    bool flag = false;
  };
  const auto kept = std::make_shared<Ignored>();
  app.callback([kept] {});  // they live as long as the command
  for (const char* name :
       {"--not-so-yolo", "--ignore-user-config", "--ignore-rules",
        "--dangerously-bypass-hook-trust", "--include-plan-tool", "--progress-cursor"})
    app.add_flag(name, kept->flag, "accepted without effect");
  for (const char* name : {"--approve-for-me", "--trust"})
    app.add_flag(name, options.trust,
                 "accepted without effect: -s workspace-write lets files be edited");
  for (const char* name : {"--cyber-access-program", "--thread-source", "--enable", "--disable"})
    add_repeatable(app, name, kept->values, "accepted without effect");
}

/// Of a flag that is given several times the last one counts.
void take_last(CLI::App& app) {
  for (CLI::Option* option : app.get_options())
    if (option->nonpositional() && option->get_items_expected_max() == 1 &&
        option->get_multi_option_policy() == CLI::MultiOptionPolicy::Throw)
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

ExitCode start_exec(const CommandTable& table, ExecOptions& options) {
  options.retryable_apart = table.retryable_code.has_value();
  return run_exec(options, table.style);
}

void add_resume(CommandTable& table, CLI::App& exec, const std::shared_ptr<ExecOptions>& options) {
  CLI::App& app = add_command(
      table, exec, "resume", "Go on with a thread: a new run with the history of its earlier ones.",
      "sortie exec resume --last \"now write the tests\"", [options, &table] {
        options->resume = true;
        return start_exec(table, *options);
      });
  app.fallthrough();
  add_words(app, "WORDS", options->resume_words, "ID and PROMPT; with --last PROMPT alone")
      .expected(0, -1);
  app.add_flag("--last", options->last, "the newest thread of this workspace");
  app.add_flag("--all", options->all, "with --last: the newest of any workspace");
  take_last(app);
}

void add_review(CommandTable& table, CLI::App& exec, const std::shared_ptr<ExecOptions>& options) {
  CLI::App& app =
      add_command(table, exec, "review", "Review changes: findings as the final message.",
                  "sortie exec review --base main", [options, &table] {
                    options->review = true;
                    return start_exec(table, *options);
                  });
  app.fallthrough();
  add_words(app, "PROMPT", options->review_words, "what to review, in place of the flags")
      .expected(0, -1);
  app.add_flag("--uncommitted", options->reviewed.uncommitted,
               "what is staged, unstaged and untracked");
  app.add_option("--base", options->reviewed.base, "what changed since this branch");
  app.add_option("--commit", options->reviewed.commit, "the change of this commit");
  app.add_option("--title", options->reviewed.title, "the title of that commit");
  take_last(app);
}

}  // namespace

void add_exec(CommandTable& table) {
  auto options = std::make_shared<ExecOptions>();
  options->run.out.clear();
  CLI::App& app = add_command(
      table, table.root, "exec", "Run a prompt, as `codex exec` does: same flags, same events.",
      "sortie exec --json -s workspace-write \"make the failing test pass\"",
      [options, &table] { return start_exec(table, *options); });
  app.alias("e");
  app.set_version_flag("-V,--version", version_text());
  add_words(app, "PROMPT", options->words, "the prompt; none or -: stdin is the prompt")
      .expected(0, -1);
  add_input(app, *options);
  add_agent(app, *options);
  add_model(app, options->run);
  add_local(app, *options);
  add_output(table, app, *options);
  add_limits(app, options->run);
  add_ignored(app, *options);
  add_debugging(app, options->run);
  take_last(app);
  add_resume(table, app, options);
  add_review(table, app, options);
}

}  // namespace sortie
