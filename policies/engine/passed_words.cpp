#include "policies/engine/passed_words.h"

#include <algorithm>
#include <string_view>

#include "core/text/text.h"
#include "policies/engine/name_lists.h"
#include "policies/rules/open_words.h"
#include "policies/rules/read_only_commands.h"

namespace sortie {
namespace {

using Words = std::span<const std::string>;
using Globs = std::span<const std::size_t>;

constexpr std::size_t kMaxStarts = 8;

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
  return text;
}

/// The command with `value` in place of each `marker`.
PassedCommand filled(Words command, std::string_view marker, std::string_view value) {
  PassedCommand filled{.argv = {}, .globs = {}};
  for (const std::string& word : command) {
    if (word.find(marker) != std::string::npos) filled.globs.push_back(filled.argv.size());
    filled.argv.push_back(replaced(word, marker, value));
  }
  return filled;
}

/// What a path that find prints looks like: the starting point itself, or something below it.
std::vector<std::string> paths_below(Words starts) {
  std::vector<std::string> paths;
  for (const std::string& start : starts) {
    paths.push_back(start);
    paths.push_back(start + (start.ends_with('/') ? "" : "/") + kPathMark);
  }
  return paths;
}

PassedWords refused(std::string problem) {
  return {.without = {}, .runs = {}, .problem = std::move(problem)};
}

/// Options of xargs that only say how its words are split and how many it passes.
struct XargsOptions {
  std::size_t length = 1;  ///< words before the command
  bool nul = false;
  std::string marker{};
  bool known = true;
};

XargsOptions read_xargs_options(Words argv) {
  XargsOptions options;
  std::size_t& at = options.length;
  for (; at < argv.size() && argv[at].starts_with('-') && argv[at] != "-"; ++at) {
    const std::string& word = argv[at];
    const bool more = at + 1 < argv.size();
    const std::string_view rest =
        std::string_view(word).substr(std::min<std::size_t>(2, word.size()));
    const auto is_number = [](std::string_view text) {
      return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    if (word == "--null" || word == "--no-run-if-empty" || word == "--verbose") {
      options.nul = options.nul || word == "--null";
    } else if (word.find_first_not_of("0rtx", 1) == std::string::npos && word.size() > 1) {
      options.nul = options.nul || word.find('0') != std::string::npos;
    } else if (word == "-I" && more && !argv[at + 1].empty()) {
      options.marker = argv[++at];
    } else if (word.starts_with("-I") && !rest.empty()) {
      options.marker = rest;
    } else if (word == "-d" && more && (argv[at + 1] == "\\n" || argv[at + 1] == "\n")) {
      ++at;
    } else if (is_one_of(word, {"-n", "-L", "-P"}) && more && is_number(argv[at + 1])) {
      ++at;
    } else if (is_one_of(word.substr(0, 2), {"-n", "-L", "-P"}) && is_number(rest)) {
      continue;
    } else {
      options.known = false;
    }
  }
  return options;
}

}  // namespace

std::optional<PassedWords> passed_by_find(Words argv, Globs globs, const CommandPlace& place) {
  PassedWords passed{.without = {argv[0]}, .runs = {}, .problem = {}};
  std::vector<std::vector<std::string>> commands;
  for (std::size_t at = 1; at < argv.size(); ++at) {
    passed.without.push_back(argv[at]);
    if (argv[at] != "-exec") continue;
    // As the value of another test it would be refused nowhere.
    const auto why = why_not_read_only(passed.without, place.workspace, place.workdir);
    if (!why || why->part != "-exec") return refused("it is not certain what find runs");
    std::size_t end = at + 1;
    while (end < argv.size() && argv[end] != ";" && !(argv[end] == "+" && argv[end - 1] == "{}"))
      ++end;
    if (end >= argv.size() || end == at + 1)
      return refused("-exec needs `{} +` or `\\;` at its end");
    if (!globs.empty() && globs.back() > at) return refused("a glob behind -exec: put it in '…'");
    commands.emplace_back(argv.begin() + static_cast<std::ptrdiff_t>(at + 1),
                          argv.begin() + static_cast<std::ptrdiff_t>(end));
    passed.without.back() = "-print";
    at = end;
  }
  if (commands.empty()) return std::nullopt;
  const std::vector<std::string> starts = starts_of_find(passed.without);
  if (starts.empty() || starts.size() > kMaxStarts || !are_plain_starts(starts))
    return refused("-exec needs plain folders of the workspace to begin with");
  for (const auto& command : commands) {
    if (command[0].find("{}") != std::string::npos) return refused("-exec runs what it finds");
    for (const std::string& path : paths_below(starts))
      passed.runs.push_back(filled(command, "{}", path));
  }
  return passed;
}

PassedWords passed_by_xargs(Words argv, Globs globs, std::span<const SimpleCommand> upstream) {
  const XargsOptions options = read_xargs_options(argv);
  if (!options.known) return refused("an option of xargs that is not known here");
  if (!globs.empty()) return refused("a glob in a command of xargs: put it in '…'");
  const Words command = argv.subspan(std::min(options.length, argv.size()));
  if (command.empty()) return refused("xargs without a command");
  const NameList names = names_listed_by(upstream);
  if (!names.known)
    return refused(
        "what xargs gets is not known to be file names: it may follow find, "
        "git ls-files, rg -l, grep -l, ls, and head, sort or grep behind these");
  PassedWords passed;
  const bool exact = options.nul && names.ends_with_nul;
  if (options.nul != names.ends_with_nul)
    return refused("xargs -0 and find -print0 belong together");
  const std::vector<std::string> values =
      exact ? paths_below(names.starts) : std::vector<std::string>{std::string(1, kAnyMark)};
  for (const std::string& value : values) {
    if (!options.marker.empty()) {
      if (command[0].find(options.marker) != std::string::npos)
        return refused("xargs runs what it gets");
      passed.runs.push_back(filled(command, options.marker, value));
    } else {
      PassedCommand run{.argv = {command.begin(), command.end()}, .globs = {command.size()}};
      run.argv.push_back(value);
      passed.runs.push_back(std::move(run));
    }
  }
  // Without input it runs the command as it is written.
  if (options.marker.empty())
    passed.runs.push_back({.argv = {command.begin(), command.end()}, .globs = {}});
  return passed;
}

}  // namespace sortie
