// How the engine decides a command while others run that it did not wait for: sessions, servers.
//
// A script rule holds for a program as it was at the start of the run. Between looking at its file
// and running it, and as long as it is read, anything beside it that may write could change it; so
// the two do not run at the same time.
#include <algorithm>

#include "core/text/text.h"
#include "policies/engine/engine.h"

namespace sortie {

std::string RunningBeside::writer() const {
  for (const Session& session : sessions)
    if (session.may_write) return session.name;
  return writers.empty() ? "" : writers.front();
}

bool Engine::runs_script(const RunCommand& command) const {
  const CommandPlace by_words{.workspace = workspace_,
                              .workdir = command.workdir.empty() ? workspace_ : command.workdir,
                              .folders = folders_};
  const auto is_script = [&](std::span<const std::string> argv) {
    const RuleMatch match = commands_.find_allow(argv, by_words);
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
/// @return      nothing where it may run beside all that runs
std::optional<Decision> Engine::refused_beside(const Simple& simple,
                                               const CommandRule& rule) const {
  if (simple.place.beside == nullptr) return std::nullopt;
  const RunningBeside& beside = *simple.place.beside;
  Decision decision{.effect = Effect::deny};
  if (!rule.script.empty()) {
    const std::string writer = beside.writer();
    if (writer.empty()) return std::nullopt;
    decision.reason = "a program of the workspace runs alone, and " + writer +
                      " is running, which may write to the workspace and so change it";
    if (writer.starts_with("session")) decision.instead = "the same command once it has ended";
    return decision;
  }
  if (rule.command_class == "read-only") return std::nullopt;
  for (const RunningBeside::Session& session : beside.sessions) {
    if (!runs_script(session.command)) continue;
    decision.reason = "a program of the workspace runs alone, and " + session.name +
                      " runs one: what may write to the workspace could change it";
    decision.instead = "the same command once it has ended";
    return decision;
  }
  return std::nullopt;
}

std::optional<Decision> Engine::refused_beside(const CallTool& tool) const {
  if (!tool.escalated) return std::nullopt;
  const RunningBeside beside = running_beside();
  if (!beside.unguarded) return std::nullopt;
  for (const RunningBeside::Session& session : beside.sessions) {
    if (!session.may_write) continue;
    return Decision{.effect = Effect::deny,
                    .part = one_line(tool.name),
                    .reason = session.name +
                              " is running, which may write to the workspace: without namespaces "
                              "it could change what this tool's server obeys (.git/config)",
                    .instead = "the same call once it has ended"};
  }
  return std::nullopt;
}

}  // namespace sortie
