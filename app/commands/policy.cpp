#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>

#include "app/commands/commands.h"
#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/base/json.h"
#include "policies/explain.h"
#include "policies/policy.h"

namespace sortie {
namespace {

struct CheckOptions {
  std::string policy;
  std::vector<std::string> command;
  bool batch = false;
};

/// `policy check`: 0 allow, 3 deny or forbid, 2 for an invalid policy.
ExitCode check_one(const Policy& policy, const std::vector<std::string>& argv) {
  const Decision decision =
      check_command(policy, policy.approval, argv, std::filesystem::current_path());
  write_all(STDOUT_FILENO, decision_text(decision));
  return decision.effect == Effect::allow ? ExitCode::success : ExitCode::denied;
}

/// The argv of a line of --batch; empty, and so denied, where the line is none.
std::vector<std::string> batch_argv(const std::string& line) {
  std::vector<std::string> argv;
  try {
    const Json json = parse_json(line);
    if (!json.is_array()) return {};
    for (const auto& word : json.items()) {
      if (!word.is_string()) return {};
      argv.push_back(word.text());
    }
  } catch (const JsonError&) {
    return {};
  }
  return argv;
}

/// One JSON argv a line on stdin, exactly one line `allow` or `deny` each.
ExitCode check_batch(const Policy& policy) {
  const auto workdir = std::filesystem::current_path();
  std::string line;
  while (std::getline(std::cin, line)) {
    const Decision decision = check_command(policy, policy.approval, batch_argv(line), workdir);
    const bool allowed = decision.effect == Effect::allow;
    if (!write_all(STDOUT_FILENO, allowed ? "allow\n" : "deny\n"))
      throw Error("stdout: " + errno_text(errno), ExitCode::environment);
  }
  return ExitCode::success;
}

}  // namespace

void add_policy(CommandTable& table) {
  CLI::App* policy = table.root.add_subcommand("policy", "Check a policy, or decide a command.");
  policy->require_subcommand(1);
  auto options = std::make_shared<CheckOptions>();
  CLI::App& check =
      add_command(table, *policy, "check",
                  "Validate a policy; with a command: decide it and say by which rule.",
                  "sortie policy check strict -- git status", [options] {
                    const Policy loaded = load_policy(options->policy);
                    if (options->batch) return check_batch(loaded);
                    if (!options->command.empty()) return check_one(loaded, options->command);
                    write_all(STDOUT_FILENO, options->policy + ": valid, " + loaded.digest + "\n");
                    return ExitCode::success;
                  });
  check.add_option("POLICY", options->policy, "policy file or preset")->required();
  check.add_option("COMMAND", options->command, "after --: the command to decide");
  check.add_flag("--batch", options->batch, "decide one JSON argv a line of stdin");
  check.positionals_at_end(false);
  add_policy_learn(table, *policy);
  add_policy_backtest(table, *policy);
}

}  // namespace sortie
