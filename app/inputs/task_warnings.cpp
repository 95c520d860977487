#include "app/inputs/task_warnings.h"

#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "app/inputs/tool_choice.h"
#include "core/agent/budget.h"
#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/task/tool_names.h"
#include "core/text/text.h"
#include "policies/engine/engine.h"
#include "policies/environment/command_path.h"
#include "policies/file/policy_warnings.h"

namespace sortie {
namespace {

/// Tokens of the system prompt and the tools in a first request, at least.
constexpr std::int64_t kSmallestHead = 2500;
constexpr std::int64_t kBytesOfToken = 4;

namespace fs = std::filesystem;

using Lines = std::vector<std::string>;

void warn_of_policy(const RunInputs& inputs, Lines& lines) {
  const Environment own = own_environment();
  PolicySurroundings surroundings{.functions = Lines(), .home = own_variable("HOME")};
  for (const TaskFunction& function : inputs.task.functions)
    surroundings.functions->push_back(function.name);
  surroundings.path = [&] {
    CommandPathPlaces places{.workspace = inputs.workspace, .home = own_variable("HOME")};
    if (inputs.approval == Approval::full_auto) places.workspace_folders = WorkspaceFolders::kept;
    return find_command_path(own, places).folders;
  };
  for (const PolicyWarning& warning : policy_warnings(inputs.policy, surroundings)) {
    if (warning.of_risk) continue;
    std::string line = warning_text(inputs.policy, warning);
    const std::string word = ": warning: ";
    line.replace(line.find(word), word.size(), ": ");
    lines.push_back(std::move(line));
  }
}

/// Whether a rule allows some tool of the server, or all tools are allowed without one.
bool allows_any_of(const Policy& policy, Approval approval, const std::string& server) {
  if (approval != Approval::deny_by_default) return true;
  return std::any_of(policy.tools.begin(), policy.tools.end(), [&](const ToolRule& rule) {
    return rule.effect == Effect::allow &&
           std::any_of(rule.names.begin(), rule.names.end(), [&](const std::string& name) {
             return name.starts_with("mcp:" + server + "/") || name.starts_with("mcp:*") ||
                    may_mean_tool_of(name, server);
           });
  });
}

/// A function whose call would be denied, or could not start: the model would only see it fail.
void warn_of_function_program(const RunInputs& inputs, const TaskFunction& function, Lines& lines) {
  const std::string program = one_line(function.run.front(), 80);
  std::vector<std::string> argv = function.run;
  // What a placeholder becomes is not known yet.
  for (std::string& word : argv)
    for (std::size_t at = word.find("{{"); at != std::string::npos; at = word.find("{{"))
      word.replace(at,
                   word.find("}}", at) == std::string::npos ? std::string::npos
                                                            : word.find("}}", at) + 2 - at,
                   "x");
  const CommandCheck check(inputs.policy, inputs.approval, inputs.workspace);
  const bool of_workspace = program.find('/') != std::string::npos && !program.starts_with('/');
  if (check.decide(argv).effect != Effect::allow)
    lines.push_back(function.place + ": no rule allows '" + program +
                    "', the program of the function '" + function.name +
                    "', so each call is denied; add to the policy's commands: {allow: " +
                    (of_workspace ? "{script: '" + program + "'}}" : "['" + program + "']}"));
  std::error_code error;
  const auto file = inputs.workspace / function.run.front();
  if (of_workspace && std::filesystem::is_regular_file(file, error) &&
      ::access(file.c_str(), X_OK) != 0)
    lines.push_back(function.place + ": '" + program + "', the program of the function '" +
                    function.name + "', is not executable: chmod +x " + program);
}

/// Is made when a tool is asked for by its name: most tasks name none.
class LazyEngine {
 public:
  explicit LazyEngine(const RunInputs& inputs) : inputs_(inputs) {}
  const Engine& get() const {
    if (!engine_)
      engine_.emplace(inputs_.policy, inputs_.approval, inputs_.workspace, fs::path(),
                      std::vector<fs::path>());
    return *engine_;
  }

 private:
  const RunInputs& inputs_;
  mutable std::optional<Engine> engine_{};
};

/// Of sortie's own tools, those that the task asks for by their names.
void warn_of_named_tools(const RunInputs& inputs, const LazyEngine& engine, Lines& lines) {
  const auto place = inputs.task.places.find("tools.enable");
  const std::string begin =
      place == inputs.task.places.end() ? "tools.enable: " : place->second + ": ";
  for (const std::string& name : inputs.task.tools) {
    if (!find_built_in_tool(name) || engine.get().shows_tool(name)) continue;
    if (name == "web_search" && !searches_web(inputs.task)) continue;  // said at its start
    lines.push_back(begin + "the policy does not allow the tool '" + name +
                    "', so the model is not shown it; add to the policy's tools: {allow: [" + name +
                    "]}");
  }
}

void warn_of_hidden_tools(const RunInputs& inputs, Lines& lines) {
  const LazyEngine engine(inputs);
  for (const TaskFunction& function : inputs.task.functions) {
    if (!enables_tool(inputs.task.tools, function.name)) continue;
    if (!engine.get().shows_tool(function.name))
      lines.push_back(function.place + ": the policy does not allow the function '" +
                      function.name +
                      "', so the model is not shown it; add to the policy's tools: " + "{allow: [" +
                      function.name + "]}");
    warn_of_function_program(inputs, function, lines);
  }
  warn_of_named_tools(inputs, engine, lines);
  for (const TaskMcpServer& server : inputs.task.mcp)
    if (!allows_any_of(inputs.policy, inputs.approval, server.name))
      lines.push_back(server.place + ": the policy allows no tool of the MCP server '" +
                      server.name + "', so the model is shown none; add to the policy's tools: " +
                      "{allow: ['mcp__" + server.name + "__*']}");
}

void warn_of_verification(const RunInputs& inputs, Lines& lines) {
  const TaskVerify& verify = inputs.task.verify;
  const bool has_more = !verify.setup.empty() || !verify.keep.empty() || !verify.restore.empty();
  if (verify.commands.empty() && has_more)
    lines.push_back("verify has no commands, so its setup, keep and restore mean nothing");
  if (verify.in == VerifyIn::run && !verify.keep.empty())
    lines.push_back("verify.keep means nothing with in: run, which has all that the run left");
}

void warn_of_budget(const RunInputs& inputs, Lines& lines) {
  if (replays(inputs) || inputs.terms.empty()) return;
  const SystemClock clock;
  const Budget budget(inputs.task.budget, clock, inputs.terms);
  std::string prompt = inputs.prompts.prompt;
  if (!inputs.prompts.stages.empty()) prompt = inputs.prompts.stages.front();
  const std::int64_t input =
      kSmallestHead + static_cast<std::int64_t>(prompt.size()) / kBytesOfToken;
  const auto out = budget.before_request(input, inputs.terms.front().max_output_tokens, 0,
                                         budget.paid_output(input));
  if (out)
    lines.push_back("budget: it pays for no request, so the run would end at once: " + out->text +
                    "; give " + out->next);
}

void warn_of_attempts(const RunInputs& inputs, Lines& lines) {
  const TaskBestOf& best_of = inputs.task.best_of;
  if (best_of.count > 1 && inputs.task.verify.commands.empty())
    lines.push_back(best_of.pick == Pick::first_passing
                        ? "best_of: without verify, the first attempt whose agent says that it is "
                          "done is picked; give commands that tell good work from bad"
                        : "best_of: without verify, the smallest diff is picked, good or bad; give "
                          "commands that tell good work from bad");
  if (best_of.parallel > best_of.count)
    lines.push_back("best_of.parallel: " + std::to_string(best_of.parallel) + " is more than the " +
                    std::to_string(best_of.count) +
                    (best_of.count == 1 ? " attempt" : " attempts") + " of best_of.count");
  if (best_of.count > 1 && replays(inputs))
    lines.push_back("best_of: every attempt replays the same recording");
}

}  // namespace

std::vector<std::string> task_warnings(const RunInputs& inputs) {
  Lines lines;
  if (inputs.variables.string_at("{{stdin}}") == sha256_hex(""))
    lines.push_back("{{stdin}} is empty: nothing came on stdin");
  warn_of_policy(inputs, lines);
  warn_of_hidden_tools(inputs, lines);
  warn_of_verification(inputs, lines);
  warn_of_budget(inputs, lines);
  warn_of_attempts(inputs, lines);
  return lines;
}

}  // namespace sortie
