#include "policies/engine/name_lists.h"

#include <algorithm>
#include <string_view>

#include "core/text/text.h"

namespace sortie {
namespace {

using Words = std::span<const std::string>;

bool is_option(std::string_view word) { return word.size() > 1 && word.front() == '-'; }

/// Programs that list names if one of some options is given.
struct Lister {
  std::string_view name;        ///< "git ls-files": with its subcommand
  std::string_view flags;       ///< letters of options that change nothing about that
  std::string_view values;      ///< letters of options with a value, likewise
  std::string_view lists;       ///< letters of options that make it list names
  std::string_view long_lists;  ///< long ones, between blanks; "*": it always does
  std::string_view long_flags;  ///< long ones that change nothing about that
};

constexpr Lister kListers[] = {
    {"ls", "1aAdRtSrFhLp", "", "", "*", " all almost-all directory recursive reverse "},
    {"rg", "inwFSsuUvHL.", "tgeT", "l", " files files-with-matches files-without-match ",
     " hidden no-ignore ignore-case smart-case fixed-strings word-regexp "},
    {"grep", "rRinwEFPvsIHax", "e", "lL", " files-with-matches files-without-match ",
     " recursive ignore-case word-regexp extended-regexp fixed-strings "},
    {"git ls-files", "comd", "", "", "*",
     " cached others modified deleted exclude-standard full-name "},
    {"git grep", "inwEFPvI", "e", "lL", " files-with-matches name-only ", " cached untracked "},
    {"git diff", "", "", "", " name-only ", " cached staged no-color no-renames relative "},
};

bool has_name(std::string_view names, std::string_view name) {
  return names.find(' ' + std::string(name) + ' ') != std::string_view::npos;
}

/// Whether it prints names with these words: every option has to be known.
bool lists_with(const Lister& lister, Words words) {
  bool lists = lister.long_lists == "*";
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (!is_option(word)) continue;
    if (word == "--") break;
    if (word.starts_with("--")) {
      const std::string_view name = word.substr(2, word.find('=') - 2);
      const bool has_value = word.find('=') != std::string_view::npos;
      const bool harmless_value = has_value && is_one_of(name, {"include", "exclude", "exclude-dir",
                                                                "glob", "type", "diff-filter"});
      if (!has_value && has_name(lister.long_lists, name))
        lists = true;
      else if (!harmless_value && (has_value || !has_name(lister.long_flags, name)))
        return false;
      continue;
    }
    if (lister.values.find(word[1]) != std::string_view::npos) {
      // The value is the rest of the word, or the next one.
      if (word.size() == 2 && (++i == words.size() || is_option(words[i]))) return false;
      continue;
    }
    for (const char letter : word.substr(1)) {
      const bool is_list = lister.lists.find(letter) != std::string_view::npos;
      lists = lists || is_list;
      if (!is_list && lister.flags.find(letter) == std::string_view::npos) return false;
    }
  }
  return lists;
}

bool leads_up(std::string_view word) {
  return word == ".." || word.starts_with("../") || word.ends_with("/..") ||
         word.find("/../") != std::string_view::npos;
}

/// The words of a command that could name a folder above or beside the kernel's.
bool may_list_all(Words words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    const bool is_root = word.starts_with('/') && word.find_first_not_of("/.") == std::string::npos;
    return is_root || leads_up(word);
  });
}

bool lists_names(Words words) {
  const std::string& name = words[0];
  const Words rest = words.subspan(1);
  if (may_list_all(rest)) return false;
  if (name == "find")
    return std::none_of(rest.begin(), rest.end(), [](const std::string& word) {
      return word.starts_with("-printf") || word.starts_with("-files0") ||
             word.starts_with("-exec");
    });
  Words operands = rest;
  std::string program = name;
  if (name == "git") {
    if (!operands.empty() && operands[0] == "--no-pager") operands = operands.subspan(1);
    if (operands.empty()) return false;
    program += ' ' + operands[0];
    operands = operands.subspan(1);
  }
  return std::any_of(std::begin(kListers), std::end(kListers), [&](const Lister& lister) {
    return lister.name == program && lists_with(lister, operands);
  });
}

/// Whether the command passes some of its input's lines on, as they are.
bool passes_lines(Words words) {
  const std::string& name = words[0];
  std::size_t operands = 0;
  for (const std::string& word : words.subspan(1)) {
    if (!is_option(word)) {
      ++operands;
      continue;
    }
    const std::string_view letters = std::string_view(word).substr(1);
    const std::string_view allowed = name == "grep"   ? "vEFiwxP"
                                     : name == "sort" ? "urnfbVd"
                                                      : "0123456789n";
    if (letters.find_first_not_of(allowed) != std::string_view::npos) return false;
  }
  const auto is_count = [&](const std::string& word) {
    return word.find_first_not_of("0123456789") == std::string::npos;
  };
  if (name == "grep") return operands == 1;
  if (name == "sort") return operands == 0;
  if (name == "uniq") return words.size() == 1;
  if (name != "head" && name != "tail") return false;
  return operands == 0 ||
         (operands == 1 && words.size() == 3 && words[1] == "-n" && is_count(words[2]));
}

std::vector<std::string> texts_of(const SimpleCommand& command) {
  std::vector<std::string> texts;
  for (const ScriptWord& word : command.words) texts.push_back(word.text);
  return texts;
}

}  // namespace

std::vector<std::string> starts_of_find(Words argv) {
  std::vector<std::string> starts;
  bool begun = false;
  for (const std::string& word : argv.subspan(1)) {
    if (word.starts_with("-files0-from")) return {};
    const bool global = is_one_of(word, {"-H", "-L", "-P"}) && starts.empty() && !begun;
    begun = begun || (!global && (is_option(word) || is_one_of(word, {"(", ")", "!", ","})));
    if (!begun && !global) starts.push_back(word);
  }
  if (starts.empty()) starts.emplace_back(".");
  return starts;
}

bool are_plain_starts(Words starts) {
  return !may_list_all(starts) &&
         std::none_of(starts.begin(), starts.end(), [](const std::string& start) {
           return start.empty() || start.front() == '-' ||
                  start.find_first_of("*?[\x02") != std::string::npos;
         });
}

NameList names_listed_by(std::span<const SimpleCommand> commands) {
  if (commands.empty()) return {};
  for (const SimpleCommand& command : commands) {
    const std::vector<std::string> words = texts_of(command);
    const bool is_first = &command == &commands.front();
    if (is_first ? !lists_names(words) : !passes_lines(words)) return {};
    // Errors among the names, or an input of its own in place of the pipe's.
    for (const ScriptRedirection& redirection : command.redirections)
      if (redirection.kind != ScriptRedirection::Kind::output_to_null) return {};
  }
  NameList names{.known = true};
  const std::vector<std::string> first = texts_of(commands.front());
  names.ends_with_nul = std::find(first.begin(), first.end(), "-print0") != first.end();
  if (!names.ends_with_nul) return names;
  if (first[0] != "find" || commands.size() > 1 ||
      std::find(first.begin(), first.end(), "-print") != first.end() ||
      std::find(first.begin(), first.end(), "-ls") != first.end())
    return {};
  names.starts = starts_of_find(first);
  if (names.starts.empty() || names.starts.size() > 8 || !are_plain_starts(names.starts)) return {};
  return names;
}

}  // namespace sortie
