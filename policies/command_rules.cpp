#include "policies/command_rules.h"

#include <algorithm>
#include <optional>

#include "policies/read_only_commands.h"
#include "policies/shell/lookup.h"
#include "policies/shell/loose_script.h"
#include "policies/shell/wrappers.h"

namespace sortie {
namespace {

using Words = std::span<const std::string>;

/// Wrappers in wrappers beyond it are read loosely.
constexpr int kMaxDepth = 16;
/// Options before a subcommand beyond it count as a match.
constexpr std::size_t kMaxSkipped = 64;

std::string joined(Words words) {
  std::string text;
  for (const std::string& word : words) (text += text.empty() ? "" : " ") += word;
  return text;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool is_read_only(std::string_view name, Words argv, const CommandPlace& place) {
  std::vector<std::string> named(argv.begin(), argv.end());
  named[0] = name;
  return !why_not_read_only(named, place.workspace, place.workdir);
}

bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto normal = path.lexically_normal();
  return std::mismatch(folder.begin(), folder.end(), normal.begin(), normal.end()).first ==
         folder.end();
}

/// Whether a rule's word names the program that argv[0] stands for. A rule may name a program
/// outside the lookup folders by its absolute path, but none of the workspace.
bool names_program(const std::string& rule_word, const std::string& word,
                   const CommandPlace& place) {
  const std::string_view name = command_name(word, place.folders);
  if (!name.empty()) return command_name(rule_word, place.folders) == name;
  return rule_word == word && word.front() == '/' && word.find("/..") == std::string::npos &&
         !is_below(word, place.workspace);
}

/// Whole words against whole words, the wrapper itself and not what it wraps: for allow rules.
bool allows_prefix(const CommandRule& rule, Words argv, const CommandPlace& place) {
  if (argv.empty() || argv[0].empty()) return false;
  if (!rule.command_class.empty()) {
    const std::string_view name = command_name(argv[0], place.folders);
    return rule.command_class == "read-only" && !name.empty() && is_read_only(name, argv, place);
  }
  if (rule.prefix.empty() || argv.size() < rule.prefix.size()) return false;
  const bool named =
      std::any_of(rule.prefix[0].begin(), rule.prefix[0].end(),
                  [&](const std::string& word) { return names_program(word, argv[0], place); });
  if (!named) return false;
  for (std::size_t i = 1; i < rule.prefix.size(); ++i) {
    if (!contains(rule.prefix[i], argv[i])) return false;
  }
  return true;
}

const std::string* excepted_word(const std::vector<Pattern>& but_not, Words argv) {
  if (but_not.empty() || argv.empty()) return nullptr;
  for (const std::string& word : argv.subspan(1)) {
    if (any_matches(but_not, word)) return &word;
  }
  return nullptr;
}

bool could_be_any(std::string_view word, const std::vector<std::string>& expected) {
  return std::any_of(expected.begin(), expected.end(),
                     [&](const std::string& each) { return could_be(word, each); });
}

bool could_name(std::string_view word, const std::vector<std::string>& expected) {
  std::string_view name = base_name(word);
  // In a path an expansion may hold slashes, so that the name is only what follows it.
  if (name.size() < word.size())
    name.remove_prefix(std::min(name.find(kLooseAnything), name.size()));
  if (name.empty()) name = base_name(word);
  return std::any_of(expected.begin(), expected.end(),
                     [&](const std::string& each) { return could_be(name, base_name(each)); });
}

/// A word behind a command's name, of an argv or of a script.
struct ArgumentWord {
  std::string_view text;
  bool continues = false;    ///< as LooseWord
  bool substitutes = false;  ///< as LooseWord
};

/// The rest of a deny rule's prefix behind the command's name. Options before a subcommand are
/// passed over with what may be their value (`git -C . push`, `cargo +nightly publish`).
/// @param word_at  (i) → the i-th word behind the name; nothing behind the last
template <typename WordAt>
bool rest_matches(const CommandRule& rule, WordAt word_at) {
  std::size_t at = 0;
  std::size_t skipped = 0;
  for (std::size_t place = 1; place < rule.prefix.size(); ++place) {
    bool may_be_value = false;
    bool unknown_end = false;  // `git -C x$(…) push`: the words behind are not seen
    for (;; ++at) {
      const std::optional<ArgumentWord> word = word_at(at);
      if (!word) return unknown_end;
      if (could_be_any(word->text, rule.prefix[place])) break;
      unknown_end = word->substitutes;
      const bool option = !word->text.empty() && (word->text[0] == '-' || word->text[0] == '+');
      const bool rest_of_skipped = word->continues && skipped > 0;
      if (!option && !may_be_value && !rest_of_skipped) return false;
      if (++skipped > kMaxSkipped) return true;
      may_be_value = option && word->text.find('=') == std::string_view::npos;
    }
    ++at;
  }
  return true;
}

}  // namespace

/// Looks for the strongest rule among all that a command could run.
class CommandRules::DenySearch {
 public:
  DenySearch(const CommandRules& rules, const CommandPlace& place) : rules_(rules), place_(place) {}

  RuleMatch run(Words argv) {
    search(argv, 0);
    return best_;
  }

 private:
  static int rank(const RuleMatch& match) {
    if (match.rule == nullptr) return 0;
    if (match.loose) return 1;
    return match.rule->effect == Effect::forbid ? 3 : 2;
  }
  void consider(RuleMatch match) {
    if (rank(match) > rank(best_)) best_ = std::move(match);
  }

  void search(Words argv, int depth) {
    if (argv.empty()) return;
    if (depth > kMaxDepth) return search_script(joined(argv), true);
    for (const Compiled& compiled : rules_.rules_) {
      if (compiled.rule->effect != Effect::allow && matches(compiled, argv)) {
        consider({.rule = compiled.rule, .part = joined(argv)});
      }
    }
    for (const Wrapped& wrapped : unwrap(argv)) {
      if (wrapped.argv.empty()) {
        search_script(wrapped.script, wrapped.loose);
      } else {
        search(wrapped.argv, depth + 1);
      }
    }
  }

  bool matches(const Compiled& compiled, Words argv) const {
    const CommandRule& rule = *compiled.rule;
    if (excepted_word(compiled.but_not, argv) != nullptr) return false;
    if (!rule.command_class.empty()) return allows_prefix(rule, argv, place_);
    if (rule.prefix.empty() || !could_name(argv[0], rule.prefix[0])) return false;
    return rest_matches(rule, [&](std::size_t i) -> std::optional<ArgumentWord> {
      if (i + 1 >= argv.size()) return std::nullopt;
      return ArgumentWord{.text = argv[i + 1]};
    });
  }

  void search_script(const std::string& script, bool loose) {
    const std::vector<LooseWord> words = loose_words(script);
    const std::vector<std::size_t> ends = ends_of_commands(words);
    bool name_open = false;  // behind a wrapper, the name of what it runs may still come
    for (std::size_t i = 0; i < words.size(); ++i) {
      const LooseWord& word = words[i];
      const bool names_command = word.starts_command || name_open;
      const bool sure = word.starts_command && !word.quoted && !loose && !is_computed(word) &&
                        !is_fed_shell(words, i);
      for (const Compiled& compiled : rules_.rules_) {
        if (compiled.rule->effect == Effect::allow) continue;
        const RuleMatch match{.rule = compiled.rule, .loose = !sure};
        if (rank(match) <= rank(best_)) continue;
        if (!script_matches(*compiled.rule, words, i, ends[i], names_command)) continue;
        consider({.rule = compiled.rule, .part = printable(word.text), .loose = !sure});
      }
      if (word.starts_command) {
        name_open = is_wrapper(base_name(word.text));
      } else if (name_open) {
        name_open = is_wrapper(base_name(word.text)) || is_passed_over(word.text);
      }
      if (word.ends_command) name_open = false;
    }
  }

  /// Options, numbers, assignments and computed words between a wrapper and its command.
  static bool is_passed_over(const std::string& word) {
    return word.empty() || word.front() == '-' || (word.front() >= '0' && word.front() <= '9') ||
           word.find('=') != std::string::npos || word.find(kLooseAnything) != std::string::npos;
  }

  static bool is_computed(const LooseWord& word) {
    return word.text.find(kLooseAnything) != std::string::npos;
  }

  static std::string printable(std::string text) {
    std::replace(text.begin(), text.end(), kLooseAnything, '*');
    return text;
  }

  /// For each word the last one of its simple command.
  static std::vector<std::size_t> ends_of_commands(const std::vector<LooseWord>& words) {
    std::vector<std::size_t> ends(words.size());
    for (std::size_t i = words.size(); i-- > 0;) {
      const bool last = words[i].ends_command || i + 1 == words.size();
      ends[i] = last ? i : ends[i + 1];
    }
    return ends;
  }

  static bool script_matches(const CommandRule& rule, const std::vector<LooseWord>& words,
                             std::size_t at, std::size_t last, bool names_command) {
    const LooseWord& word = words[at];
    if (!rule.command_class.empty()) return names_command;  // can't be judged word by word
    const bool computed = is_computed(word);
    if (rule.prefix.empty() || (computed && !names_command)) return false;
    if (is_fed_shell(words, at)) return true;
    // Up to the first part that is not known; what a substitution ends in is not known either.
    std::string_view known = word.text;
    if (word.substitutes) known = known.substr(0, known.find(kLooseAnything) + 1);
    if (!could_name(known, rule.prefix[0])) return false;
    // `$command` unquoted can hold the name and all that follows.
    if (word.substitutes || (word.text.size() == 1 && computed && !word.quoted)) return true;
    return rest_matches(rule, [&](std::size_t i) -> std::optional<ArgumentWord> {
      if (at + 1 + i > last) return std::nullopt;
      const LooseWord& next = words[at + 1 + i];
      return ArgumentWord{next.text, next.continues, next.substitutes};
    });
  }

  /// `… | sh`: a shell behind a pipe, with nothing to read but what comes through it.
  static bool is_fed_shell(const std::vector<LooseWord>& words, std::size_t at) {
    if (at == 0 || !words[at].starts_command || !is_shell(words[at].text)) return false;
    for (std::size_t i = at; i < words.size() && !words[i].ends_command; ++i) {
      if (i + 1 < words.size() && words[i + 1].text.substr(0, 1) != "-") return false;
    }
    return true;
  }

  const CommandRules& rules_;
  const CommandPlace& place_;
  RuleMatch best_;
};

CommandRules::CommandRules(const std::vector<CommandRule>& rules) {
  for (const CommandRule& rule : rules) {
    Compiled compiled{.rule = &rule, .but_not = {}, .script = {}};
    for (const std::string& glob : rule.but_not_args) {
      compiled.but_not.push_back(Pattern::word_glob(glob));
    }
    if (!rule.script.empty()) compiled.script.emplace(rule.script);
    rules_.push_back(std::move(compiled));
  }
}

template <typename Wanted>
RuleMatch CommandRules::find_first(Words argv, const CommandPlace& place, Wanted wanted) const {
  RuleMatch nearly;
  for (const Compiled& compiled : rules_) {
    if (compiled.rule->effect != Effect::allow || !wanted(*compiled.rule)) continue;
    std::string problem;
    if (compiled.script) {
      auto match = compiled.script->match(argv, place);
      if (!match) continue;
      problem = std::move(match->problem);
    } else if (!allows_prefix(*compiled.rule, argv, place)) {
      continue;
    }
    const std::string* exception =
        problem.empty() ? excepted_word(compiled.but_not, argv) : &argv[0];
    if (exception == nullptr) return {.rule = compiled.rule, .part = joined(argv)};
    if (nearly.excepted == nullptr)
      nearly = {.excepted = compiled.rule, .part = *exception, .problem = std::move(problem)};
  }
  return nearly;
}

RuleMatch CommandRules::find_allow(Words argv, const CommandPlace& place) const {
  return find_first(argv, place, [](const CommandRule&) { return true; });
}

RuleMatch CommandRules::find_escalating(Words argv, const CommandPlace& place) const {
  return find_first(argv, place, [](const CommandRule& rule) { return rule.escalate; });
}

RuleMatch CommandRules::find_deny(Words argv, const CommandPlace& place) const {
  return DenySearch(*this, place).run(argv);
}

bool rule_matches(const CommandRule& rule, const std::vector<std::string>& argv,
                  const CommandPlace& place) {
  std::vector<CommandRule> rules{rule};
  rules[0].effect = Effect::allow;
  return CommandRules(rules).find_allow(argv, place).rule != nullptr;
}

}  // namespace sortie
