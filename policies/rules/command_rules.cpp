#include "policies/rules/command_rules.h"

#include <algorithm>

#include "core/files/path_below.h"
#include "policies/rules/deny_search.h"
#include "policies/rules/open_words.h"
#include "policies/rules/read_only_commands.h"
#include "policies/shell/lookup.h"
#include "policies/shell/read_only_table.h"

namespace sortie {
namespace {

using Words = std::span<const std::string>;
using Globs = std::span<const std::size_t>;

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Whether a rule's word names the program of argv[0]. A rule may name a program outside the lookup
/// folders by its absolute path, but no program of the workspace.
bool names_program(const std::string& rule_word, const std::string& word,
                   const CommandPlace& place) {
  const std::string_view name = command_name(word, place.folders);
  if (!name.empty()) return command_name(rule_word, place.folders) == name;
  return rule_word == word && word.front() == '/' && word.find("/..") == std::string::npos &&
         !is_below(std::filesystem::path(word).lexically_normal(), place.workspace);
}

/// Compares whole words; a wrapper matches by itself, not by the command that it wraps. A word that
/// the shell may expand matches no word of a prefix.
bool matches_prefix(const CommandRule& rule, Words argv, const CommandPlace& place, Globs globs) {
  if (rule.prefix.empty() || argv.size() < rule.prefix.size()) return false;
  if (!globs.empty() && globs.front() < rule.prefix.size()) return false;
  const bool named =
      std::any_of(rule.prefix[0].begin(), rule.prefix[0].end(),
                  [&](const std::string& word) { return names_program(word, argv[0], place); });
  if (!named) return false;
  for (std::size_t i = 1; i < rule.prefix.size(); ++i) {
    if (!contains(rule.prefix[i], argv[i])) return false;
  }
  return true;
}

/// Why a glob may expand to a word that the rule excepts, or that its class refuses; or "".
std::string why_no_globs(const CommandRule& rule, Words argv, const CommandPlace& place,
                         Globs globs) {
  const std::string_view name = command_name(argv[0], place.folders);
  for (const std::size_t at : globs) {
    if (!rule.command_class.empty()) {
      const std::vector<std::string> words = with_globs_for_marks(argv);
      if (words[at].find_first_of("*?[") == std::string::npos) continue;
      if (std::string reason = why_no_glob_at(name, Words(words).subspan(1), at - 1);
          !reason.empty())
        return reason;
    }
    for (const std::string& excepted : rule.but_not_args) {
      if (may_become(argv[at], excepted))
        return "this word may become one that but_not excepts: " + excepted +
               (begins_literally(argv[at]) ? "" : "; write ./ before it");
    }
  }
  return "";
}

const std::string* excepted_word(const std::vector<Pattern>& but_not, Words argv) {
  if (but_not.empty() || argv.empty()) return nullptr;
  for (const std::string& word : argv.subspan(1)) {
    if (any_matches(but_not, word)) return &word;
  }
  return nullptr;
}

bool names_it(const ToolRule& rule, const std::string& tool) {
  return std::find(rule.names.begin(), rule.names.end(), tool) != rule.names.end();
}

}  // namespace

CommandRules::CommandRules(const std::vector<CommandRule>& rules) {
  for (const CommandRule& rule : rules) {
    CompiledRule compiled{.rule = &rule, .but_not = {}, .script = {}};
    for (const std::string& glob : rule.but_not_args) {
      compiled.but_not.push_back(Pattern::word_glob(glob));
    }
    if (!rule.script.empty()) compiled.script.emplace(rule.script);
    rules_.push_back(std::move(compiled));
  }
}

template <typename Wanted>
RuleMatch CommandRules::find_first(Words argv, const CommandPlace& place, Globs globs,
                                   Wanted wanted) const {
  RuleMatch nearly;
  if (argv.empty() || argv[0].empty()) return nearly;
  for (const CompiledRule& compiled : rules_) {
    const CommandRule& rule = *compiled.rule;
    if (rule.effect != Effect::allow || !wanted(rule)) continue;
    RuleMatch excepted{.excepted = &rule, .part = argv[0]};
    if (compiled.script) {
      auto match = compiled.script->match(argv, place);
      if (!match) continue;
      excepted.problem = std::move(match->problem);
    } else if (!matches_class(rule, argv, place) && !matches_prefix(rule, argv, place, globs)) {
      continue;
    }
    const std::string* word = excepted_word(compiled.but_not, argv);
    if (excepted.problem.empty() && word != nullptr) {
      excepted.part = *word;
    } else if (excepted.problem.empty()) {
      excepted.problem = why_no_globs(rule, argv, place, globs);
      if (excepted.problem.empty()) return {.rule = &rule, .part = {}};
      excepted.part = argv[globs.front()];
    }
    if (nearly.excepted == nullptr) nearly = std::move(excepted);
  }
  return nearly;
}

RuleMatch CommandRules::find_allow(Words argv, const CommandPlace& place, Globs globs) const {
  return find_first(argv, place, globs, [](const CommandRule&) { return true; });
}

RuleMatch CommandRules::find_escalating(Words argv, const CommandPlace& place) const {
  return find_first(argv, place, {}, [](const CommandRule& rule) { return rule.escalate; });
}

RuleMatch CommandRules::find_deny(Words argv, const CommandPlace& place) const {
  return search_deny(rules_, argv, place);
}

ToolRules::ToolRules(const std::vector<ToolRule>& rules) {
  for (const ToolRule& rule : rules) {
    Compiled compiled{.rule = &rule, .names = {}};
    for (const std::string& glob : rule.names) {
      compiled.names.push_back(Pattern::word_glob(glob));
    }
    rules_.push_back(std::move(compiled));
  }
}

const ToolRule* ToolRules::find(const CallTool& call, Effect effect) const {
  std::vector<std::string> names = call.other_names;
  names.push_back(call.name);
  // Some models know the shell tool as `local_shell`: rules on `shell` apply to it too.
  if (call.name == "local_shell") names.emplace_back("shell");
  for (const Compiled& compiled : rules_) {
    if (compiled.rule->effect != effect) continue;
    // Globs don't apply to the task's own verification: a rule has to name it.
    if (call.name == "run_tests" && !names_it(*compiled.rule, call.name)) continue;
    for (const std::string& name : names)
      if (any_matches(compiled.names, name)) return compiled.rule;
  }
  return nullptr;
}

Decision ToolRules::decide(const CallTool& call, Approval approval) const {
  const std::string& name = call.name;
  for (const Effect effect : {Effect::forbid, Effect::deny, Effect::allow}) {
    const ToolRule* rule = find(call, effect);
    if (rule == nullptr) continue;
    const std::string verb = effect == Effect::allow ? "allows" : "refuses";
    return {.effect = effect,
            .rule = rule->place,
            .part = name,
            .reason = rule->why.empty() ? "a rule " + verb + " the tool " + name : rule->why};
  }
  if (name == "run_tests") {
    return {.effect = Effect::allow, .part = name, .reason = "verification is always allowed"};
  }
  if (approval == Approval::full_auto) {
    return {.effect = Effect::allow, .part = name, .reason = "full-auto: no rule denies it"};
  }
  return {.effect = Effect::deny,
          .part = name,
          .reason = "no rule allows the tool " + name,
          .unmatched = true};
}

}  // namespace sortie
