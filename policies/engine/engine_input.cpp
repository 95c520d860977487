// How the engine decides the input of a running command, as typed into a session.
//
// The decision on the command covered its words. Its input is not checked, as a file that it reads
// is not, unless the program runs it as commands: then no rule would have decided these.
#include <algorithm>

#include "core/text/text.h"
#include "policies/engine/engine.h"
#include "policies/engine/typed_input.h"
#include "policies/rules/deny_search.h"
#include "policies/shell/lookup.h"
#include "policies/shell/wrappers.h"

namespace sortie {
namespace {

constexpr int kDeepest = 8;

/// Besides the shells of wrappers.h: programs that run commands, or pass words to one, from their
/// input.
constexpr std::string_view kTakesCommands[] = {
    "fish", "csh",    "tcsh",   "mksh",    "rbash",   "busybox", "pwsh",  "nu",
    "su",   "sudo",   "doas",   "ssh",     "at",      "batch",   "xargs", "parallel",
    "tmux", "screen", "script", "nsenter", "unshare", "chroot"};

bool takes_commands(std::span<const std::string> argv, int depth = 0) {
  if (depth > kDeepest || argv.empty()) return true;
  const auto in_script = [depth](const std::string& script) {
    const ScriptReading reading = read_script(script);
    if (reading.refused) return true;
    return std::any_of(reading.commands.begin(), reading.commands.end(), [&](const auto& command) {
      std::vector<std::string> words;
      for (const ScriptWord& word : command.words) words.push_back(word.text);
      return takes_commands(words, depth + 1);
    });
  };
  if (const auto script = read_shell_call(argv).script) return in_script(*script);
  const std::string_view name = base_name(argv[0]);
  if (is_shell(name) || is_one_of(name, kTakesCommands)) return true;
  const auto wrapped = unwrap(argv);
  return std::any_of(wrapped.begin(), wrapped.end(), [&](const Wrapped& one) {
    return one.argv.empty() ? in_script(one.script) : takes_commands(one.argv, depth + 1);
  });
}

/// Control-C, control-D and control-\ by themselves are no text.
bool only_ends(std::string_view text) {
  return text.find_first_not_of("\x03\x04\x1c") == std::string_view::npos;
}

bool has_deny_rule(const Policy& policy) {
  return std::any_of(policy.commands.begin(), policy.commands.end(),
                     [](const CommandRule& rule) { return rule.effect != Effect::allow; });
}

}  // namespace

/// @return nothing if it is allowed
std::optional<Decision> Engine::refused_input(const RunCommand& command) const {
  const std::string& typed = *command.input;
  if (only_ends(typed)) return std::nullopt;
  const CommandPlace place{.workspace = workspace_,
                           .workdir = command.workdir.empty() ? workspace_ : command.workdir,
                           .folders = folders_,
                           .scripts = &scripts_};
  const TypedReadings readings = read_typed(typed);
  for (const std::string& text : readings.possible) {
    const std::vector<std::string> script = {"sh", "-c", text};
    const RuleMatch match = commands_.find_deny(script, place);
    if (match.rule == nullptr) continue;
    const std::string why = match.rule->why.empty() ? "a rule denies it" : match.rule->why;
    return Decision{
        .effect = match.loose ? Effect::deny : match.rule->effect,
        .rule = match.rule->place,
        .part = one_line(match.part, kLongestPart),
        .reason = match.loose ? "a word of the input may match a deny rule (" + why + ')' : why};
  }
  if (!takes_commands(command.argv)) return std::nullopt;
  const bool readable_only = approval_ == Approval::full_auto && !policy_.unreadable_allow;
  if (!readings.problem.empty() && (readable_only || has_deny_rule(policy_)))
    return Decision{.effect = Effect::deny,
                    .part = one_line(typed, kLongestPart),
                    .reason = readings.problem,
                    .instead = "send plain, complete lines, or each command as a call of its own"};
  if (approval_ == Approval::full_auto) {
    if (!readable_only) return std::nullopt;
    for (const std::string& text : readings.likely)
      if (const auto refusal = find_unreadable(std::vector<std::string>{"sh", "-c", text}))
        return unreadable(*refusal);
    return std::nullopt;
  }
  return Decision{.effect = Effect::deny,
                  .part = one_line(typed, kLongestPart),
                  .reason = "input to a program that runs commands can't be checked",
                  .instead = "send each command as a call of its own",
                  .unmatched = true};
}

}  // namespace sortie
