#include "policies/rules/deny_search.h"

#include <algorithm>
#include <vector>

#include "core/files/path_below.h"
#include "core/text/text.h"
#include "policies/rules/open_words.h"
#include "policies/rules/read_only_commands.h"
#include "policies/shell/conservative_words.h"
#include "policies/shell/lookup.h"
#include "policies/shell/script_folders.h"
#include "policies/shell/wrappers.h"

namespace sortie {
namespace {

using Words = std::span<const std::string>;

/// Wrappers nested deeper are read loosely.
constexpr int kMaxDepth = 16;
/// More options before a subcommand count as a match.
constexpr std::size_t kMaxSkipped = 64;

bool is_unknown(std::string_view word) {
  return word.find(kLooseAnything) != std::string_view::npos;
}

std::string printable(std::string text) {
  std::replace(text.begin(), text.end(), kLooseAnything, '*');
  return text;
}

/// The words of a command, each glob's expansion as kLooseAnything.
std::vector<std::string> loose_argv(const SimpleCommand& command) {
  std::vector<std::string> argv;
  for (const ScriptWord& word : command.words) {
    argv.push_back(word.glob ? loose_glob(word.text) : word.text);
    std::replace(argv.back().begin(), argv.back().end(), kNumberMark, kLooseAnything);
  }
  return argv;
}

/// The words of a wrapped command: `{}` is a placeholder for input, and more words may follow.
std::vector<std::string> wrapped_argv(const Wrapped& wrapped) {
  std::vector<std::string> argv = wrapped.argv;
  if (!wrapped.open) return argv;
  for (std::string& word : argv) {
    for (auto at = word.find("{}"); at != std::string::npos; at = word.find("{}", at)) {
      word.replace(at, 2, 1, kLooseAnything);
    }
  }
  argv.emplace_back(1, kLooseAnything);
  return argv;
}

bool could_be_any(std::string_view word, const std::vector<std::string>& expected) {
  return std::any_of(expected.begin(), expected.end(),
                     [&](const std::string& each) { return could_be(word, each); });
}

bool could_name(std::string_view word, const std::vector<std::string>& expected) {
  if (word.size() > 1 && word.front() == '=') word.remove_prefix(1);  // zsh: the path of a program
  std::string_view name = base_name(word);
  // An expansion in a path may contain slashes: only the text after it belongs to the name.
  if (name.size() < word.size())
    name.remove_prefix(std::min(name.find(kLooseAnything), name.size()));
  if (name.empty()) name = base_name(word);
  return std::any_of(expected.begin(), expected.end(),
                     [&](const std::string& each) { return could_be(name, base_name(each)); });
}

/// A word after a command's name, in an argv or a script.
struct ArgumentWord {
  std::string_view text;
  bool continues = false;    ///< see LooseWord
  bool substitutes = false;  ///< see LooseWord
  bool redirects = false;    ///< see LooseWord
};

/// `git -c alias.p=push p` gives a subcommand another name.
bool renames_subcommand(const CommandRule& rule, std::string_view word) {
  return word.find("alias.") != std::string_view::npos && could_be_any("git", rule.prefix[0]);
}

/// Matches the rest of a deny rule's prefix after the command's name. Options before a subcommand
/// are skipped with their possible values (`git -C . push`, `cargo +nightly publish`).
/// @param word_at  (i) → the i-th word after the name; nothing after the last
template <typename WordAt>
bool rest_matches(const CommandRule& rule, WordAt word_at) {
  std::size_t at = 0;
  std::size_t skipped = 0;
  bool unknown_end = false;  // `git -C x$(…) push`, `git p*`: the following words are unknown
  for (std::size_t place = 1; place < rule.prefix.size(); ++place) {
    bool may_be_value = false;
    for (;; ++at) {
      const std::optional<ArgumentWord> word = word_at(at);
      if (!word) return unknown_end;
      unknown_end = unknown_end || word->substitutes;
      if (could_be_any(word->text, rule.prefix[place])) break;
      if (renames_subcommand(rule, word->text)) return true;
      if (word->redirects && ++skipped <= kMaxSkipped) continue;
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

/// Whether the rule names the program, whatever words follow.
bool names_any(const CommandRule& rule, std::string_view word) {
  return !rule.prefix.empty() && could_name(word.substr(word.find('=') + 1), rule.prefix[0]);
}

bool has_exception(const std::vector<Pattern>& but_not, Words argv) {
  return std::any_of(argv.begin() + 1, argv.end(), [&](const std::string& word) {
    return !is_unknown(word) && any_matches(but_not, word);
  });
}

/// Whether a shell reads its commands from a pipe or a file.
/// @param grouped  the pipe may lead into a group around the command
bool is_fed(const SimpleCommand& command, Words argv, bool grouped) {
  if (!is_shell(argv[0])) return false;
  const ShellCall call = read_shell_call(argv);
  const bool fed = grouped || command.link == ScriptLink::pipe || !command.redirections.empty();
  return fed && !call.script && call.file.empty();
}

/// Whether a part of a pipeline is more than one command.
bool has_group_in_pipe(const ScriptNode& node) {
  return std::any_of(node.parts.begin(), node.parts.end(), [&](const ScriptNode& part) {
    const bool here =
        node.kind == ScriptNode::Kind::pipeline && part.kind != ScriptNode::Kind::command;
    return here || has_group_in_pipe(part);
  });
}

/// Looks for the strongest rule among all that a command could run.
class DenySearch {
 public:
  DenySearch(std::span<const CompiledRule> rules, const CommandPlace& place)
      : rules_(rules), place_(place) {}

  RuleMatch run(Words argv) {
    search(argv, 0);
    return best_;
  }

 private:
  /// Whether only known words may match a rule's, or unknown ones too.
  enum class Reading { sure, possible };

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
    if (depth > kMaxDepth) return search_loosely(joined(argv, " "), true);
    for (const CompiledRule& compiled : rules_) {
      if (compiled.rule->effect == Effect::allow) continue;
      if (!matches(compiled, argv, Reading::possible)) continue;
      const bool sure = matches(compiled, argv, Reading::sure);
      consider({.rule = compiled.rule, .part = printable(joined(argv, " ")), .loose = !sure});
    }
    for (const Wrapped& wrapped : unwrap(argv)) {
      if (!wrapped.argv.empty()) {
        search(wrapped_argv(wrapped), depth + 1);
      } else if (wrapped.loose || base_name(argv[0]) == "fish") {
        search_loosely(wrapped.script, wrapped.loose);
      } else {
        search_script(wrapped.script, depth);
      }
    }
  }

  bool matches(const CompiledRule& compiled, Words argv, Reading reading) const {
    const CommandRule& rule = *compiled.rule;
    if (has_exception(compiled.but_not, argv)) return false;
    if (compiled.script) return compiled.script->match(argv, place_).has_value();
    if (rule.prefix.empty()) return matches_class(rule, argv, place_);
    const auto counts = [&](const std::string& word) {
      return reading == Reading::possible || !is_unknown(word);
    };
    if (!counts(argv[0]) || !could_name(argv[0], rule.prefix[0])) return false;
    return rest_matches(rule, [&](std::size_t i) -> std::optional<ArgumentWord> {
      if (i + 1 >= argv.size() || !counts(argv[i + 1])) return std::nullopt;
      return ArgumentWord{.text = argv[i + 1], .substitutes = is_unknown(argv[i + 1])};
    });
  }

  void search_script(const std::string& script, int depth) {
    const ScriptReading reading = read_script(script);
    if (reading.refused) return search_loosely(script, false);
    const bool grouped = has_group_in_pipe(reading.root);
    for (const SimpleCommand& command : reading.commands) {
      const std::vector<std::string> argv = loose_argv(command);
      search(argv, depth + 1);
      if (is_fed(command, argv, grouped)) consider_all(argv[0]);
      // Whatever reads the text may run it.
      for (const ScriptRedirection& redirection : command.redirections)
        if (redirection.kind == ScriptRedirection::Kind::text)
          search_loosely(redirection.file, true);
      if (renames_commands(argv[0])) consider_named(argv);
      if (!why_changes_shell(command.words).empty()) search_loosely(joined(argv, " "), true);
    }
  }

  /// Any command may run.
  void consider_all(const std::string& part) {
    for (const CompiledRule& compiled : rules_) {
      if (compiled.rule->effect == Effect::allow) continue;
      consider({.rule = compiled.rule, .part = part, .loose = true});
    }
  }

  /// A program that a rule names may run under another name.
  void consider_named(Words argv) {
    for (const CompiledRule& compiled : rules_) {
      if (compiled.rule->effect == Effect::allow) continue;
      const bool named = std::any_of(argv.begin() + 1, argv.end(), [&](const std::string& word) {
        return names_any(*compiled.rule, word.substr(0, word.find_first_of(" \t\n")));
      });
      if (named)
        consider({.rule = compiled.rule, .part = printable(joined(argv, " ")), .loose = true});
    }
  }

  void search_loosely(const std::string& script, bool loose) {
    const std::vector<LooseWord> words = loose_words(script);
    const std::vector<std::size_t> ends = ends_of_commands(words);
    bool name_open = false;  // after a wrapper: the name of the wrapped command may still follow
    for (std::size_t i = 0; i < words.size(); ++i) {
      const LooseWord& word = words[i];
      const bool names_command = word.starts_command || name_open;
      const bool sure = word.starts_command && !word.quoted && !loose && !is_unknown(word.text) &&
                        !is_fed_shell(words, i) && !runs_computed(words, i, ends[i]);
      for (const CompiledRule& compiled : rules_) {
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

  /// For each word, the index of the last word of its simple command.
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
    if (!rule.command_class.empty()) return names_command;  // can't be checked word by word
    const bool computed = is_unknown(word.text);
    if (rule.prefix.empty() || (computed && !names_command)) return false;
    if (is_fed_shell(words, at) || runs_computed(words, at, last)) return true;
    // Up to the first unknown part; the end of a substitution is unknown too.
    std::string_view known = word.text;
    if (word.substitutes) known = known.substr(0, known.find(kLooseAnything) + 1);
    if (!could_name(known, rule.prefix[0])) return false;
    // An unquoted `$command` may contain the name and all that follows.
    if (word.substitutes || (word.text.size() == 1 && computed && !word.quoted)) return true;
    return rest_matches(rule, [&](std::size_t i) -> std::optional<ArgumentWord> {
      if (at + 1 + i > last) return std::nullopt;
      const LooseWord& next = words[at + 1 + i];
      return ArgumentWord{next.text, next.continues, next.substitutes, next.redirects};
    });
  }

  /// `… | sh`: a shell that reads its commands from a pipe.
  static bool is_fed_shell(const std::vector<LooseWord>& words, std::size_t at) {
    if (at == 0 || !words[at].starts_command || !is_shell(words[at].text)) return false;
    for (std::size_t i = at; i < words.size() && !words[i].ends_command; ++i) {
      if (i + 1 < words.size() && words[i + 1].text.substr(0, 1) != "-") return false;
    }
    return true;
  }

  /// `bash -c "$script"`
  static bool runs_computed(const std::vector<LooseWord>& words, std::size_t at, std::size_t last) {
    if (!is_shell(words[at].text)) return false;
    for (std::size_t i = at + 2; i <= last; ++i) {
      const std::string& option = words[i - 1].text;
      const bool is_script = option.size() > 1 && option[0] == '-' && option.back() == 'c';
      if (is_script && words[i].text.substr(0, 1)[0] == kLooseAnything) return true;
    }
    return false;
  }

  std::span<const CompiledRule> rules_;
  const CommandPlace& place_;
  RuleMatch best_;
};

std::optional<ScriptRefusal> find_unreadable_at(Words argv, int depth) {
  if (depth > kMaxDepth) {
    return ScriptRefusal{.part = argv[0], .reason = "too many nested wrappers to check"};
  }
  for (const Wrapped& wrapped : unwrap(argv)) {
    if (!wrapped.argv.empty()) {
      if (auto found = find_unreadable_at(wrapped.argv, depth + 1)) return found;
      continue;
    }
    if (wrapped.loose) continue;
    const ScriptReading reading = read_script(wrapped.script);
    if (reading.refused) return reading.refusal;
    for (const SimpleCommand& command : reading.commands) {
      if (auto found = find_unreadable_at(loose_argv(command), depth + 1)) return found;
    }
  }
  return std::nullopt;
}

}  // namespace

bool matches_class(const CommandRule& rule, std::span<const std::string> argv,
                   const CommandPlace& place) {
  if (rule.command_class != "read-only") return false;
  const std::string_view name = command_name(argv[0], place.folders);
  if (name.empty()) return false;
  std::vector<std::string> named = with_globs_for_marks(argv);
  named[0] = name;
  return !why_not_read_only(named, place.workspace, place.workdir);
}

RuleMatch search_deny(std::span<const CompiledRule> rules, Words argv, const CommandPlace& place) {
  return DenySearch(rules, place).run(argv);
}

std::optional<ScriptRefusal> find_unreadable(Words argv) { return find_unreadable_at(argv, 0); }

namespace fs = std::filesystem;

std::optional<ScriptRule::Match> ScriptRule::match(std::span<const std::string> argv,
                                                   const CommandPlace& place) const {
  if (argv.empty() || argv[0].find('/') == std::string::npos || argv[0].back() == '/') return {};
  const fs::path named = place.workdir / argv[0];
  const auto relative = path_below(named.lexically_normal(), place.workspace);
  if (!relative || *relative == "." || !glob_.matches(relative->string())) return {};
  if (place.scripts == nullptr || !*place.scripts) return Match{};
  ScriptFile file = (*place.scripts)(named);
  // The path matches as text; a link on the way may lead to a script that no rule names.
  if (file.problem.empty() && !glob_.matches(file.path.string()))
    file.problem = "a link leads to " + file.path.string() + ", which the rule does not match";
  return Match{std::move(file.problem)};
}

}  // namespace sortie
