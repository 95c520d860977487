#include <sys/prctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>

#include "app/commands/command_line.h"
#include "app/confinement/egress.h"
#include "app/confinement/in_place.h"
#include "app/run/signals.h"
#include "app/show/failure.h"
#include "app/show/standard_output.h"
#include "app/show/words.h"
#include "core/base/error.h"
#include "core/git/config/git_secrets.h"
#include "core/git/git_info.h"
#include "core/process/process.h"
#include "core/secrets/redact.h"
#include "core/text/ci_commands.h"
#include "core/text/terminal_text.h"
#include "core/text/text.h"
#include "policies/environment/environment.h"
#include "policies/environment/known_secrets.h"
#include "policies/file/policy_loader.h"
#include "policies/rules/policy.h"

namespace sortie {
namespace {

struct SandboxOptions {
  std::string policy = "strict";
  std::string mode;
  std::vector<std::string> command;
};

/// Why the command did not end by itself, for people.
std::string ending_text(const ExitStatus& status) {
  if (!status.detail.empty()) return status.detail;
  switch (status.ending) {
    case Ending::signalled:
      return "ended by signal " + std::to_string(status.code);
    case Ending::timed_out:
      return "killed at limits.command_timeout";
    case Ending::output_limit:
      return "killed at limits.output";
    case Ending::cancelled:
      return "ended on a stop request";
    default:
      return "killed at a limit of the policy";
  }
}

/// The exit code for the caller: the command's own if it has one.
/// @param signal  the signal that stopped sortie; 0 for none
int shell_status(const ExitStatus& status, int signal) {
  if (status.ending == Ending::cancelled && signal != SIGINT) return 143;
  return shell_code(status);
}

/// Prints a line on stderr.
void print_note(const std::string& text) { print_error("sortie: " + text + "\n"); }

/// Prints the command's output on stdout. If stdout can't be written, the command is ended, and the
/// error is reported once the folder's protected paths are restored.
///
/// The output is filtered as that of a tool call: control sequences could fool the reader of a
/// terminal, and a CI system would obey commands in its log.
class ShownOutput {
 public:
  ShownOutput(const Redactor& redactor, const Signals& signals)
      : signalled_(signals.token()), redacted_(redactor, Audience::tools) {}

  void take(std::string_view bytes) { print(redacted_.feed(plain_.feed(bytes))); }
  void finish() { print(redacted_.feed(plain_.finish()) + redacted_.finish()); }
  std::stop_token stop() const { return stop_.get_token(); }
  const std::optional<Error>& failure() const { return failure_; }

 private:
  void print(const std::string& text) {
    if (failure_) return;
    try {
      print_bytes(harmless_.feed(text), signalled_);
    } catch (const Error& error) {
      failure_ = error;
      stop_.request_stop();
    }
  }

  std::stop_token signalled_;
  std::stop_source stop_;
  std::stop_callback<std::function<void()>> on_signal_{signalled_,
                                                       [this] { stop_.request_stop(); }};
  TerminalText plain_;
  StreamRedactor redacted_;
  CiCommandFilter harmless_{ci_systems()};
  std::optional<Error> failure_;
};

void learn_secrets(Redactor& redactor, const Policy& policy, const Environment& own,
                   const Confinement& confinement) {
  auto known = known_secrets(policy, own);
  for (auto& secret : git_config_secrets(std::filesystem::canonical("."), confinement.git_files()))
    known.values.push_back(std::move(secret));
  learn(redactor, policy, known.values);
}

/// Prints what the user must know about the sandbox.
void announce_start(const Policy& policy, InPlace& place, bool quiet) {
  if (quiet) return;
  if (policy.sandbox == SandboxMode::none)
    print_note("sandbox: NONE by the policy: the command can do all that this user can");
  if (const auto why = why_git_is_refused(std::filesystem::canonical(".")); !why.empty())
    print_note("sandbox: as in a folder without git: " + why);
  for (const auto& note : place.notes()) print_note("sandbox: " + note);
  for (const auto& missing : place.confinement().missing()) print_note("sandbox: " + missing);
  for (const auto& warning : place.confinement().warnings()) print_note(warning);
}

ExitCode run_sandboxed(const SandboxOptions& options, bool quiet) {
  check_machine();
  Policy policy = load_policy(options.policy);
  if (options.mode == "read-only") policy.sandbox = SandboxMode::read_only;
  if (options.mode == "workspace-write") policy.sandbox = SandboxMode::workspace_write;
  const auto own = own_environment();
  const HeldSignals held;  // what it puts into the folder must be removed again
  InPlace place(policy, std::filesystem::canonical("."), own);
  // No process of this user may look for the secrets that are read next (prctl(2)).
  if (::prctl(PR_SET_DUMPABLE, 0) != 0) throw system_error("prctl", ExitCode::environment);
  const Signals signals;
  Redactor redactor;
  learn_secrets(redactor, policy, own, place.confinement());
  Egress egress(policy, place.confinement(), own, [](const EgressConnection& connection) {
    if (connection.state == EgressConnection::State::denied)
      print_note("network: " + one_line(connection.reason, 500));
  });
  egress.report_from_now_on();
  announce_start(policy, place, quiet);

  Command command;
  command.argv = options.command;
  command.workdir = std::filesystem::canonical(".");
  command.environment = place.confinement().environment();
  command.timeout = policy.limits.command_timeout;
  command.max_output_bytes = policy.limits.output;
  ShownOutput output(redactor, signals);
  const ExitStatus status = run_command(
      place.confinement().launcher(), command,
      [&output](std::string_view bytes) { output.take(bytes); }, output.stop());
  output.finish();
  // A program of the command may have hit a limit although the command itself went on.
  if (!output.failure() && (status.ending != Ending::exited || !status.detail.empty()))
    print_note(options.command.front() + ": " + ending_text(status));
  if (const auto changed = place.restore_changed(); !changed.empty()) {
    if (output.failure()) print_note(output.failure()->what());
    throw Error(changed, ExitCode::integrity);
  }
  if (output.failure()) throw Error(*output.failure());
  return static_cast<ExitCode>(shell_status(status, signals.received()));
}

}  // namespace

void add_sandbox(CommandTable& table) {
  auto options = std::make_shared<SandboxOptions>();
  CLI::App& app = add_command(
      table, table.root, "sandbox", "Run one command in a policy's sandbox, in this folder.",
      "sortie sandbox --policy auto -- make test",
      [options, &table] { return run_sandboxed(*options, table.style.quiet); });
  app.add_option("--policy", options->policy, "policy file or preset")->capture_default_str();
  app.add_option("--mode", options->mode, "read-only or workspace-write, instead of the policy's")
      ->check(CLI::IsMember({"read-only", "workspace-write"}));
  add_words(app, "COMMAND", options->command, "after --: the command and its arguments").required();
}

}  // namespace sortie
