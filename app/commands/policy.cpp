#include <unistd.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "app/commands/commands.h"
#include "app/commands/policy_batch.h"
#include "app/show/standard_output.h"
#include "app/show/words.h"
#include "core/base/error.h"
#include "policies/engine/engine.h"
#include "policies/engine/explain.h"
#include "policies/file/policy_loader.h"
#include "policies/file/policy_warnings.h"
#include "policies/file/rule_examples.h"
#include "policies/rules/policy.h"

namespace sortie {
namespace {

struct CheckOptions {
  std::string policy;
  std::vector<std::string> command;
  bool batch = false;
};

ExitCode check_policy(const std::string& name, const Policy& policy) {
  print_out(name + ": valid, " + policy.digest + "\n");
  for (const auto& warning : policy_warnings(policy))
    print_error(warning_text(policy, warning) + "\n");
  return ExitCode::success;
}

/// One word with blanks in it is most likely a whole line that was quoted.
bool looks_like_a_line(const std::vector<std::string>& argv) {
  return argv.size() == 1 && argv[0].find_first_of(" \t\n|;&<>") != std::string::npos;
}

/// 0 allow, 3 deny or forbid.
ExitCode check_one(const Policy& policy, const std::vector<std::string>& argv) {
  const CommandCheck check(policy, policy.approval, std::filesystem::current_path());
  const Decision decision = check.decide(argv);
  const bool allowed = decision.effect == Effect::allow;
  std::string text = decision_text(decision);
  if (!allowed && looks_like_a_line(argv))
    text += "  hint: this is a command of one word; for a shell line: -- bash -c '…'\n";
  print_out(text);
  return allowed ? ExitCode::success : ExitCode::denied;
}

ExitCode run_check(const CheckOptions& options) {
  const Policy policy = load_policy(options.policy);
  if (options.batch && !options.command.empty())
    throw InputError("--batch reads its commands from stdin; leave out the one after --");
  if (options.batch) return check_batch(policy);
  if (!options.command.empty()) return check_one(policy, options.command);
  return check_policy(options.policy, policy);
}

/// The examples of every rule, a line each: 0, or 2 where one does not hold, as the policy is
/// invalid then.
ExitCode run_test(const std::string& name) {
  const Policy policy = load_policy(name, Examples::kept);
  std::string text;
  std::size_t failed = 0;
  const auto results = check_examples(policy);
  for (const auto& result : results) {
    if (!result.problem.empty()) ++failed;
    text += result_text(result) + "\n";
  }
  text +=
      std::to_string(results.size() - failed) + " passed, " + std::to_string(failed) + " failed\n";
  print_out(text);
  return failed == 0 ? ExitCode::success : ExitCode::usage;
}

}  // namespace

void add_policy(CommandTable& table) {
  CLI::App* policy =
      table.root.add_subcommand("policy", "Check, test and learn policies, and decide commands.");
  policy->footer("Example:\n  sortie policy check strict -- git status");
  policy->require_subcommand(1);
  auto options = std::make_shared<CheckOptions>();
  CLI::App& check = add_command(
      table, *policy, "check",
      "Validate a policy; with a command: decide it and say by which rule.",
      "sortie policy check strict -- git status", [options] { return run_check(*options); });
  check.add_option("POLICY", options->policy, "policy file or preset")->required();
  add_words(check, "COMMAND", options->command, "after --: the command to decide");
  check.add_flag("--batch", options->batch, "decide one JSON argv a line of stdin");
  check.positionals_at_end(false);
  add_policy_learn(table, *policy);
  add_policy_backtest(table, *policy);

  auto name = std::make_shared<std::string>();
  CLI::App& test =
      add_command(table, *policy, "test", "Run the examples of every rule, extended ones too.",
                  "sortie policy test policy.yaml", [name] { return run_test(*name); });
  test.add_option("POLICY", *name, "policy file or preset")->required();
}

}  // namespace sortie
