// How the engine decides commands that run others: what they run has to be allowed by itself.
#include <algorithm>

#include "core/text/text.h"
#include "policies/engine/engine.h"
#include "policies/rules/open_words.h"
#include "policies/shell/lookup.h"
#include "policies/shell/plain_wrappers.h"

namespace sortie {

/// @return nothing if it runs no other command, as far as is known
std::optional<Decision> Engine::decide_runner(const Simple& simple) const {
  const std::string_view name = command_name(simple.argv[0], folders_);
  if (name == "xargs")
    return decide_passed(simple, passed_by_xargs(simple.argv, simple.globs, simple.upstream));
  if (name == "find") {
    const auto passed = passed_by_find(simple.argv, simple.globs, simple.place);
    return passed ? std::optional(decide_passed(simple, *passed)) : std::nullopt;
  }
  return decide_wrapper(simple);
}

std::optional<Decision> Engine::decide_wrapper(const Simple& simple) const {
  std::vector<std::string> argv(simple.argv.begin(), simple.argv.end());
  argv[0] = command_name(argv[0], folders_);
  const std::size_t fixed = simple.globs.empty() ? argv.size() : simple.globs.front();
  const auto length = plain_wrapper(argv, fixed);
  if (!length) return std::nullopt;
  Simple inner = simple;
  inner.argv = simple.argv.subspan(*length);
  std::vector<std::size_t> globs;
  for (const std::size_t glob : simple.globs) globs.push_back(glob - *length);
  inner.globs = globs;
  if (command_name(inner.argv[0], folders_) == "cd") return std::nullopt;
  return decide_simple(inner);
}

Decision Engine::decide_passed(const Simple& simple, const PassedWords& passed) const {
  const std::string name(command_name(simple.argv[0], folders_));
  Decision denied{.effect = Effect::deny,
                  .part = name,
                  .reason = name + " runs another command: " + passed.problem,
                  .instead = "send that command itself, with the names",
                  .command = shown_words(simple.argv)};
  if (!passed.problem.empty()) return denied;
  Decision decision;
  if (!passed.without.empty()) {
    Simple without = simple;
    without.argv = passed.without;
    decision = decide_simple(without);
    if (decision.effect != Effect::allow) return decision;
  }
  for (const PassedCommand& command : passed.runs) {
    Simple inner = simple;
    inner.argv = command.argv;
    inner.globs = command.globs;
    inner.upstream = {};
    inner.passed = true;
    if (command_name(command.argv[0], folders_) == "cd") return denied;
    decision = decide_simple(inner);
    if (decision.effect == Effect::allow) continue;
    decision.reason =
        name + " runs " + one_line(decision.part, kLongestPart) + ": " + decision.reason;
    decision.part = name;
    decision.command = denied.command;
    return decision;
  }
  return decision;
}

}  // namespace sortie
