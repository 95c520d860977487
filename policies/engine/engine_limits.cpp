// Limits on a command besides the rules: concurrent commands, granted escalations, the stage, and
// which git commands may not run programs that a repository's configuration names.
//
// A script rule is valid for a program as it was at the start of the run. Between checking its file
// and running it, and while it is read, a concurrent command that can write could change it; so the
// two never run at the same time.
#include <algorithm>

#include "core/text/text.h"
#include "policies/engine/engine.h"
#include "policies/shell/conservative_words.h"
#include "policies/shell/lookup.h"
#include "policies/shell/plain_wrappers.h"
#include "policies/shell/wrappers.h"

namespace sortie {
namespace {

/// Whether it is git by any path, or a program that runs others and some word could be git.
bool may_call_git(const std::vector<std::string>& argv) {
  const auto could_be_git = [](const std::string& word) {
    return could_be(base_name(word), "git");
  };
  const std::string_view name = base_name(argv[0]);
  if (could_be_git(argv[0])) return true;
  const bool runs_others = is_wrapper(name) || name == "find" || name == "xargs";
  return runs_others && std::any_of(argv.begin(), argv.end(), could_be_git);
}

/// The rule that allows a command, or what `timeout 60` and the like run.
RuleMatch find_inner_allow(const CommandRules& rules, std::span<const std::string> argv,
                           const CommandPlace& place, std::vector<std::size_t> globs = {}) {
  for (;;) {
    RuleMatch match = rules.find_allow(argv, place, globs);
    const std::size_t fixed = globs.empty() ? argv.size() : globs.front();
    const auto length = match.rule != nullptr ? std::nullopt : plain_wrapper(argv, fixed);
    if (!length) return match;
    argv = argv.subspan(*length);
    for (std::size_t& glob : globs) glob -= *length;
  }
}

/// A list without tools has an entry that is no tool's name (core/task/tool_names.h).
bool is_tool_name(const std::string& name) { return name != "[]"; }

}  // namespace

// ---- concurrent commands ---------------------------------------------------------------------

bool Engine::runs_script(const RunCommand& command) const {
  const CommandPlace by_words{.workspace = workspace_,
                              .workdir = command.workdir.empty() ? workspace_ : command.workdir,
                              .folders = folders_};
  const auto is_script = [&](std::span<const std::string> argv) {
    const RuleMatch match = find_inner_allow(commands_, argv, by_words);
    return match.rule != nullptr && !match.rule->script.empty();
  };
  const auto reading = read(command);
  if (!reading) return !command.argv.empty() && is_script(command.argv);
  return std::any_of(reading->commands.begin(), reading->commands.end(), [&](const auto& simple) {
    std::vector<std::string> words;
    for (const ScriptWord& word : simple.words) words.push_back(word.text);
    return is_script(words);
  });
}

/// @param rule  the one that allows the command
/// @return      nothing if it may run with all concurrent commands
std::optional<Decision> Engine::refused_beside(const Simple& simple,
                                               const CommandRule& rule) const {
  if (simple.place.beside == nullptr) return std::nullopt;
  const ConcurrentCommands& beside = *simple.place.beside;
  Decision decision{.effect = Effect::deny};
  if (!rule.script.empty()) {
    const std::string writer = beside.writer();
    if (writer.empty()) return std::nullopt;
    decision.reason = "a program of the workspace must run alone, but " + writer +
                      " is running and may write to the workspace";
    if (writer.starts_with("session"))
      decision.instead = "wait until it has ended, then send the same command";
    return decision;
  }
  if (rule.command_class == "read-only") return std::nullopt;
  for (const ConcurrentCommands::Session& session : beside.sessions) {
    if (!runs_script(session.command)) continue;
    decision.reason = session.name +
                      " runs a program of the workspace, which must run alone: no other command "
                      "may write to the workspace meanwhile";
    decision.instead = "wait until it has ended, then send the same command";
    return decision;
  }
  return std::nullopt;
}

std::optional<Decision> Engine::refused_beside(const CallTool& tool) const {
  if (!tool.escalated) return std::nullopt;
  const ConcurrentCommands beside = concurrent_commands();
  if (!beside.unguarded) return std::nullopt;
  for (const ConcurrentCommands::Session& session : beside.sessions) {
    if (!session.may_write) continue;
    return Decision{.effect = Effect::deny,
                    .part = one_line(tool.name),
                    .reason = session.name +
                              " is running and may write to the workspace: without namespaces it "
                              "could change files that control this tool's server (.git/config)",
                    .instead = "wait until it has ended, then repeat the call"};
  }
  return std::nullopt;
}

// ---- escalated permissions -------------------------------------------------------------------

std::optional<Escalation> Engine::find_escalation(const RunCommand& command) const {
  auto granted = escalation_by_rules(command);
  if (granted && limits_.read_only) {
    granted->writes = false;
    granted->read_only = true;
  }
  return granted;
}

std::optional<Escalation> Engine::escalation_by_rules(const RunCommand& command) const {
  if (!policy_.escalation || command.argv.empty()) return std::nullopt;
  const CommandPlace place{.workspace = workspace_,
                           .workdir = command.workdir.empty() ? workspace_ : command.workdir,
                           .folders = folders_,
                           .scripts = &scripts_};
  // A concurrent command could change a program of the workspace.
  const ConcurrentCommands beside = concurrent_commands();
  const bool may_be_changed = !beside.writer().empty();
  if (may_be_changed && beside.unguarded) return std::nullopt;
  if (commands_.find_deny(command.argv, place).rule != nullptr) return std::nullopt;
  const auto reading = read(command);
  if (!reading) {
    // A shell string that can't be read is never escalated, whatever rule names the shell.
    if (is_shell(command.argv[0]) && read_shell_call(command.argv).script) return std::nullopt;
    const RuleMatch match = commands_.find_escalating(command.argv, place);
    if (match.rule == nullptr) return std::nullopt;
    if (!match.rule->script.empty() && may_be_changed) return std::nullopt;
    return escalation_by({match.rule});
  }
  std::vector<const CommandRule*> rules;
  for (const SimpleCommand& simple : reading->commands) {
    if (!simple.assignments.empty()) return std::nullopt;
    std::vector<std::string> argv;
    for (const ScriptWord& word : simple.words) {
      if (word.glob) return std::nullopt;  // its expansion is unknown
      argv.push_back(word.text);
    }
    const RuleMatch match = commands_.find_escalating(argv, place);
    if (match.rule == nullptr) return std::nullopt;
    if (!match.rule->script.empty() && (may_be_changed || reading->commands.size() > 1))
      return std::nullopt;
    rules.push_back(match.rule);
  }
  if (rules.empty()) return std::nullopt;
  return escalation_by(rules);
}

// ---- the stage -------------------------------------------------------------------------------

/// A command's words don't show what it writes: the sandbox enforces the stage's limits on it.
std::optional<Decision> Engine::refused_by_stage(const Action& action) const {
  if (const auto* call = std::get_if<CallTool>(&action)) {
    if (call->may_write && limits_.read_only)
      return Decision{.effect = Effect::deny,
                      .part = one_line(call->name),
                      .reason = "the stage '" + limits_.stage +
                                "' is read-only, and this tool's server can write at any time",
                      .instead = "describe the change in your message"};
    const auto& tools = limits_.tools;
    if (tools.empty() || std::find(tools.begin(), tools.end(), call->name) != tools.end())
      return std::nullopt;
    std::string names;
    for (auto name = tools.begin(); name != tools.end(); ++name)
      if (std::find(tools.begin(), name, *name) == name && is_tool_name(*name))
        names += (names.empty() ? "" : ", ") + *name;
    return Decision{.effect = Effect::deny,
                    .part = one_line(call->name),
                    .reason = "the stage '" + limits_.stage + "' does not have this tool",
                    .instead = names.empty() ? "answer without tools: this stage has none"
                                             : "use the tools of this stage: " + names};
  }
  const auto* write = std::get_if<WritePath>(&action);
  if (write == nullptr || !limits_.read_only) return std::nullopt;
  return Decision{
      .effect = Effect::deny,
      .part = write->path.string(),
      .reason = "the stage '" + limits_.stage + "' is read-only: nothing may be written",
      .instead = "describe the change in your message"};
}

// ---- git -------------------------------------------------------------------------------------

bool Engine::holds_git(const RunCommand& command) const {
  if (approval_ == Approval::full_auto || command.argv.empty()) return false;
  const CommandPlace place{.workspace = workspace_,
                           .workdir = command.workdir.empty() ? workspace_ : command.workdir,
                           .folders = folders_,
                           .scripts = &scripts_};
  const auto by_no_rule_of_its_own = [&](const std::vector<std::string>& argv,
                                         const std::vector<std::size_t>& globs) {
    if (!may_call_git(argv)) return false;
    const RuleMatch match = find_inner_allow(commands_, argv, place, globs);
    return match.rule == nullptr || !match.rule->command_class.empty();
  };
  const auto reading = read(command);
  if (!reading) {
    // Other argvs of a shell are matched by their words.
    return by_no_rule_of_its_own(command.argv, {}) ||
           (is_shell(command.argv[0]) && may_run_git(command.argv));
  }
  if (reading->refused) return may_run_git(command.argv);
  return std::any_of(reading->commands.begin(), reading->commands.end(), [&](const auto& simple) {
    std::vector<std::string> argv;
    std::vector<std::size_t> globs;
    for (const ScriptWord& word : simple.words) {
      if (word.glob) globs.push_back(argv.size());
      argv.push_back(word.text);
    }
    return by_no_rule_of_its_own(argv, globs);
  });
}

}  // namespace sortie
