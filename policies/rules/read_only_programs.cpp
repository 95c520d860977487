// The part of the class read-only that reads the programs of sed, awk and jq, and listed options.
#include <algorithm>

#include "core/text/text.h"
#include "policies/rules/read_only_checks.h"
#include "policies/shell/awk_program.h"
#include "policies/shell/jq_filter.h"
#include "policies/shell/sed_script.h"

namespace sortie {
namespace {

using Words = CheckedWords;
using Letters = ReadOnlyCommand::Letters;

/// What is wrong with an option of the row's program.
std::string only_listed(const ReadOnlyCommand& row) {
  std::string text = "not among the options of " + std::string(row.name) + " that only read";
  if (!row.instead.empty()) text += ": " + std::string(row.instead);
  return text;
}

/// Why the word's letters are not written as the row's program reads them.
bool is_clustered_otherwise(const ReadOnlyCommand& row, const std::string& word) {
  if (row.letters == Letters::clustered || word.size() < 3 || word[0] != '-' || word[1] == '-')
    return false;
  const auto takes_value = [&](char c) { return row.forms.next.find(c) != std::string_view::npos; };
  if (row.letters == Letters::values_apart) {
    // Its value is another word, and each of the letters behind it an option.
    return std::any_of(word.begin() + 1, word.end() - 1, takes_value) ||
           std::any_of(word.begin() + 1, word.end(), [](char c) { return c >= '0' && c <= '9'; });
  }
  return !takes_value(word[1]) ||
         word.find_first_not_of("0123456789abcdefABCDEFx+", 2) != std::string::npos;
}

std::optional<NotReadOnly> check_operands(const ReadOnlyCommand& row, Words words,
                                          const OptionReader& reader) {
  const std::string instead(row.instead.empty() ? "it takes no more operands" : row.instead);
  const auto operands = reader.operand_words();
  if (operands.size() > row.most_operands)
    return refuse_word(words[operands[row.most_operands]], instead);
  for (const std::size_t at : operands) {
    const std::string& word = words[at];
    const bool begins = !word.empty() && row.operands_begin.find(word[0]) != std::string_view::npos;
    if (!row.operands_begin.empty() && !begins) return refuse_word(word, instead);
    // In such a program, an option behind an operand is an operand.
    if (row.options_first && at + 1 < words.size() && words[at + 1].starts_with('-'))
      return refuse_word(words[at + 1], instead);
  }
  if (row.operands_with.empty() || operands.empty()) return std::nullopt;
  for (std::string_view names = row.operands_with; !names.empty();) {
    names.remove_prefix(1);
    const auto blank = std::min(names.find(' '), names.size());
    if (blank > 0 && reader.has(names.substr(0, blank))) return std::nullopt;
    names.remove_prefix(blank);
  }
  return refuse_word(words[operands[0]], instead);
}

bool is_assignment(std::string_view word) {
  const auto equals = word.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  if (word[0] >= '0' && word[0] <= '9') return false;
  return std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

constexpr std::string_view kJqFlags = "crjaSsneRMChV";
constexpr std::string_view kJqNames[] = {"--compact-output",
                                         "--raw-output",
                                         "--raw-output0",
                                         "--join-output",
                                         "--ascii-output",
                                         "--sort-keys",
                                         "--slurp",
                                         "--null-input",
                                         "--exit-status",
                                         "--raw-input",
                                         "--color-output",
                                         "--monochrome-output",
                                         "--tab",
                                         "--unbuffered",
                                         "--stream",
                                         "--seq",
                                         "--args",
                                         "--jsonargs",
                                         "--help",
                                         "--version"};
constexpr std::string_view kJqTexts[] = {"--arg", "--argjson"};
constexpr std::string_view kJqFiles[] = {"--slurpfile", "--rawfile"};

bool is_jq_flag(const std::string& word) {
  if (word.starts_with("--")) return is_one_of(word, kJqNames);
  return word.find_first_not_of(kJqFlags, 1) == std::string::npos;
}

std::optional<NotReadOnly> check_path(const std::string& word, const std::string& folder) {
  return check_paths(Words(&word, 1), folder, nullptr);
}

}  // namespace

std::optional<NotReadOnly> check_listed(const ReadOnlyCommand& row, Words words,
                                        const OptionReader& reader) {
  if (!reader.certain()) return refuse_word(reader.uncertain_word(), only_listed(row));
  for (const std::string& word : words) {
    const bool refused =
        !word.empty() && row.no_word_begins.find(word[0]) != std::string_view::npos;
    if (refused || is_clustered_otherwise(row, word)) return refuse_word(word, only_listed(row));
  }
  // Where the program took another word for the value, this would be an option.
  for (const auto& value : reader.values())
    if (value.apart && value.text.starts_with('-') && value.option != "sort")
      return refuse_word(value.text, "write the value behind = or its letter");
  const auto end = std::find(words.begin(), words.end(), "--");
  for (auto word = end; word != words.end(); ++word)
    if (word->size() > 1 && *word != "--" && word->starts_with('-'))
      return refuse_word(*word, "write ./ before a name that begins with -");
  return check_operands(row, words, reader);
}

std::optional<NotReadOnly> check_sed(const ReadOnlyCommand& row, Words words,
                                     const std::string& folder) {
  OptionReader reader(row.name, {}, row.forms);
  reader.read(words);
  if (!reader.certain())
    return refuse_word(
        reader.uncertain_word(),
        "sed only prints here, with -n -E -s -u -z -e: change files with apply_patch");
  std::string script;
  for (const auto& value : reader.values()) (script += value.text) += '\n';
  if (reader.values().empty()) {
    if (reader.operands() == 0) return refuse_word("sed", "sed without a script");
    script = words[reader.operand_words()[0]];
  }
  if (std::string why = why_sed_has_effects(script); !why.empty()) return refuse_word(script, why);
  return check_paths(words, folder, &reader);
}

std::optional<NotReadOnly> check_awk(Words words, const std::string& folder) {
  if (words.size() == 1 && words[0] == "--version") return std::nullopt;
  std::size_t at = 0;
  for (; at < words.size() && words[at].starts_with('-'); ++at) {
    const std::string& word = words[at];
    if (word == "--") {
      ++at;
      break;
    }
    if (word == "-F" || word == "-v") {
      ++at;
    } else if (!word.starts_with("-F") && !word.starts_with("-v")) {
      return refuse_word(word, "-F and -v are the only awk options that certainly only read");
    }
  }
  if (at >= words.size()) return refuse_word("awk", "awk without a program");
  if (std::string why = why_awk_has_effects(words[at]); !why.empty())
    return refuse_word(words[at], why);
  for (const std::string& word : words.subspan(at + 1)) {
    if (is_assignment(word)) continue;
    if (word.starts_with("/inet")) return refuse_word(word, "gawk opens a connection for /inet");
    if (auto refused = check_path(word, folder)) return refused;
  }
  return std::nullopt;
}

std::optional<NotReadOnly> check_jq(Words words, const std::string& folder) {
  bool has_filter = false;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const std::string& word = words[at];
    if (word.size() < 2 || word[0] != '-') {
      if (std::string why = has_filter ? "" : why_jq_reads_more(word); !why.empty())
        return refuse_word(word, why);
      if (auto refused = has_filter ? check_path(word, folder) : std::nullopt) return refused;
      has_filter = true;
    } else if (is_one_of(word, kJqTexts)) {
      at += 2;
    } else if (is_one_of(word, kJqFiles)) {
      at += 2;
      if (at >= words.size()) return refuse_word(word, "jq " + word + " without its file");
      if (auto refused = check_path(words[at], folder)) return refused;
    } else if (word == "--indent") {
      ++at;
    } else if (!is_jq_flag(word)) {
      return refuse_word(word,
                         "not among the options of jq that only read: write the filter itself");
    }
  }
  return std::nullopt;
}

}  // namespace sortie
