// git's part of the class read-only.
#include <algorithm>
#include <cstddef>

#include "core/text/text.h"
#include "policies/rules/read_only_checks.h"

namespace sortie {
namespace {

using Words = CheckedWords;

/// `%G?`, `%+GS` … in a format require a signature check, which runs a program.
bool asks_for_signature(std::string_view word) {
  for (auto at = word.find('%'); at != std::string_view::npos; at = word.find('%', at + 1)) {
    std::string_view rest = word.substr(at + 1);
    if (!rest.empty() && std::string_view("+- ").find(rest[0]) != std::string_view::npos) {
      rest.remove_prefix(1);
    }
    if (rest.starts_with("G")) return true;
  }
  return false;
}

/// `--pretty=NAME` with a name that `pretty.*` of the repository's configuration may define, as a format
/// with "%G…". Nobody can define one of git's own, but what is short for one may be short for another.
/// Source: get_commit_format() in git's pretty.c.
bool names_own_format(std::string_view word) {
  constexpr std::string_view kNames[] = {"raw",  "medium",  "short",  "email",    "mboxrd",
                                         "full", "oneline", "fuller", "reference"};
  const auto equals = std::min(word.find('='), word.size());
  const std::string_view option = word.substr(0, equals);
  const bool is_format = option.size() > 2 && (std::string_view("--pretty").starts_with(option) ||
                                               std::string_view("--format").starts_with(option));
  if (!is_format || equals == word.size()) return false;
  const std::string_view value = word.substr(equals + 1);
  return !value.empty() && value.find('%') == value.npos && !value.starts_with("format:") &&
         !value.starts_with("tformat:") && !is_one_of(value, kNames);
}

/// Where there are paths alone: behind a "--" that can't be the value of an option before it.
std::size_t begin_of_paths(std::span<const std::string> words) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (words[i] == "--" && (i == 0 || !words[i - 1].starts_with('-'))) return i;
  return words.size();
}

/// `--ignore-submodules` alone means "all"; other values run git in a submodule, with the
/// submodule's own configuration.
bool looks_into_submodules(std::string_view word) {
  const auto equals = word.find('=');
  if (!word.starts_with("--i") || equals == std::string_view::npos) return false;
  const std::string_view value = word.substr(equals + 1);
  return std::string_view("--ignore-submodules").starts_with(word.substr(0, equals)) &&
         value != "all" && value != "dirty";
}

/// `--diff-merges=remerge`, `--diff-merges=r`: the same as `--remerge-diff`.
bool merges_again(std::span<const std::string> words, std::size_t at) {
  constexpr std::string_view kName = "--diff-merges";
  const std::string_view word = words[at];
  const auto equals = std::min(word.find('='), word.size());
  if (equals < 4 || !kName.starts_with(word.substr(0, equals))) return false;
  const std::string_view next = at + 1 < words.size() ? words[at + 1] : std::string_view();
  return (equals < word.size() ? word.substr(equals + 1) : next).starts_with('r');
}

/// These list references: `%(signature)` in a format or a sort key runs the signature program.
constexpr std::string_view kReferenceListers[] = {"branch", "tag", "for-each-ref"};

bool verifies_reference(std::string_view command, std::string_view word) {
  return is_one_of(command, kReferenceListers) && word.find("signature") != std::string_view::npos;
}

/// The commands whose patterns may well contain "%G", since they have no commit formats.
constexpr std::string_view kWithoutFormats[] = {"status", "ls-files", "rev-parse", "blame", "grep"};

std::optional<NotReadOnly> check_words(const std::string& command, Words words) {
  const bool has_formats = !is_one_of(command, kWithoutFormats);
  const std::size_t options_end = begin_of_paths(words);
  const bool has_names = has_formats && !is_one_of(command, kReferenceListers);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    if (has_formats && asks_for_signature(word))
      return refuse_word(word, "%G in a format runs the signature program");
    if (has_names && i < options_end && names_own_format(word))
      return refuse_word(word,
                         "a format's name may be the repository's own, which may run the signature "
                         "program: write format:… or one of git's names in full");
    if (verifies_reference(command, word))
      return refuse_word(word, "a signature runs the signature program");
    if (merges_again(words, i))
      return refuse_word(word, "git --diff-merges=remerge runs the repository's merge programs");
    if (looks_into_submodules(word))
      return refuse_word(word, "git --ignore-submodules with this value runs git in submodules");
  }
  return std::nullopt;
}

}  // namespace

std::optional<NotReadOnly> check_git(const ReadOnlyCommand& git, Words words,
                                     const std::string& folder) {
  if (words.size() == 1 && words[0] == "--version") return std::nullopt;
  if (!words.empty() && (words[0] == "--no-pager" || words[0] == "-P")) words = words.subspan(1);
  if (words.empty()) return refuse_word("git", "git without a command");
  const std::string& command = words[0];
  if (command.starts_with("-"))
    return refuse_word(command, "--no-pager is the only global git option allowed");
  const ReadOnlyCommand* const row = find_read_only("git " + command);
  if (row == nullptr) return refuse_word(command, "git " + command + " is not a read-only command");
  words = words.subspan(1);
  if (auto refused = check_words(command, words)) return refused;
  // `git stash list`: what follows is read as the rest of the words.
  const bool has_subcommand = !row->subcommands.empty() && !words.empty() &&
                              words[0].find(' ') == std::string::npos &&
                              row->subcommands.find(' ' + words[0] + ' ') != std::string_view::npos;
  const Words rest = has_subcommand ? words.subspan(1) : words;
  OptionReader reader("git", git.refused, row->forms);
  if (const auto refusal = reader.read(rest)) return refuse_word(refusal->word, refusal->reason);
  if (row->how == ReadOnlyCommand::How::listed) {
    if (auto refused = check_listed(*row, rest, reader)) return refused;
    const bool needs_subcommand = !row->subcommands.empty() && !has_subcommand;
    if (needs_subcommand && (!row->bare || reader.operands() > 0))
      return refuse_word(
          words.empty() ? command : words[0],
          "this form of git " + command + " may write: " + std::string(row->instead));
  }
  return check_paths(rest, folder, &reader);
}

}  // namespace sortie
