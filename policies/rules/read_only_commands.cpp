#include "policies/rules/read_only_commands.h"

#include <algorithm>
#include <vector>

#include "core/text/text.h"
#include "policies/rules/read_only_checks.h"
#include "policies/shell/read_only_table.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;
using Words = CheckedWords;

/// find's tests and actions that take the next word.
constexpr std::string_view kFindValues[] = {
    "-amin",      "-anewer",      "-atime", "-cmin",       "-cnewer", "-context",  "-ctime",
    "-fstype",    "-files0-from", "-gid",   "-group",      "-ilname", "-iname",    "-inum",
    "-ipath",     "-iregex",      "-links", "-iwholename", "-lname",  "-maxdepth", "-mindepth",
    "-mmin",      "-mtime",       "-name",  "-path",       "-perm",   "-printf",   "-regex",
    "-regextype", "-samefile",    "-size",  "-type",       "-uid",    "-used",     "-user",
    "-wholename", "-xtype"};

/// find's words that take none.
// clang-format off
constexpr std::string_view kFindFlags[] = {
    "-H", "-L", "-P", "-a", "-and", "-o", "-or", "-not", "-d", "-depth", "-daystart", "-follow",
    "-mount", "-xdev", "-noleaf", "-warn", "-nowarn", "-empty", "-false", "-true", "-nouser",
    "-nogroup", "-print", "-print0", "-prune", "-quit", "-ls", "-executable", "-readable",
    "-writable", "--", "-ignore_readdir_race", "-noignore_readdir_race", "-O0", "-O1", "-O2",
    "-O3", "-help", "--help", "-version", "--version"};
// clang-format on

constexpr std::string_view kFileTests[] = {"-e", "-f", "-d", "-s", "-r", "-w", "-x", "-L", "-h"};
constexpr std::string_view kTextTests[] = {"-z", "-n"};
constexpr std::string_view kTextComparisons[] = {"=", "==", "!="};
constexpr std::string_view kNumberComparisons[] = {"-eq", "-ne", "-lt", "-le", "-gt", "-ge"};

// ---- commands ------------------------------------------------------------------------------

std::optional<NotReadOnly> check_find(Words words, std::span<const RefusedOption> refused) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    for (const RefusedOption& row : refused)
      if (row.option == words[i]) return refuse_word(words[i], describe("find", row));
    if (is_one_of(words[i], kFindValues) || words[i].starts_with("-newer")) {
      ++i;
    } else if (words[i].size() > 1 && words[i][0] == '-' && !is_one_of(words[i], kFindFlags)) {
      // If it took a value, all following words would be read wrongly.
      return refuse_word(words[i], "unknown find test or action");
    }
  }
  return std::nullopt;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

/// Whether bash's test reads it as a plain text wherever it stands.
bool is_plain(std::string_view text) {
  return text.empty() || std::string_view("-(!)").find(text.front()) == std::string_view::npos;
}

std::optional<NotReadOnly> check_test(std::string_view name, Words words) {
  if (name == "[") {
    if (words.empty() || words.back() != "]") return refuse_word("[", "`[` without its `]`");
    words = words.first(words.size() - 1);
  }
  if (words.size() > 2 && words[0] == "!") words = words.subspan(1);
  if (words.size() == 2 && is_one_of(words[0], kFileTests)) return std::nullopt;
  if (words.size() == 2 && is_one_of(words[0], kTextTests)) return std::nullopt;
  if (words.size() == 3 && is_plain(words[0]) && is_plain(words[2])) {
    if (is_one_of(words[1], kTextComparisons)) return std::nullopt;
    const bool numbers = is_number(words[0]) && is_number(words[2]);
    if (numbers && is_one_of(words[1], kNumberComparisons)) return std::nullopt;
  }
  return refuse_word(name,
                     "one test of a file (-e -f -d …), a text (-z -n = !=) or two numbers "
                     "(-eq -lt …) is read-only: join several with &&");
}

/// Whether it is one word, which asks for the version.
bool asks_version(const ReadOnlyCommand& row, Words words) {
  return words.size() == 1 && words[0].find(' ') == std::string::npos &&
         row.forms.flag_names.find(' ' + words[0] + ' ') != std::string_view::npos;
}

/// For programs that are in the class with a single form: another call is one that no rule allows.
NotReadOnly not_of_class(const ReadOnlyCommand& row, std::string_view form) {
  const std::string name(row.name);
  return {.part = name,
          .reason = "of " + name + " only `" + name + std::string(form) + "` is read-only"};
}

std::optional<NotReadOnly> check_version(const ReadOnlyCommand& row, Words words) {
  if (asks_version(row, words)) return std::nullopt;
  return not_of_class(row, " --version");
}

/// A shell's `-n FILE`, which reads a script without running it, or its version.
std::optional<NotReadOnly> check_syntax(const ReadOnlyCommand& row, Words words) {
  if (asks_version(row, words)) return std::nullopt;
  const auto is_file = [](const std::string& word) {
    return !word.empty() && word[0] != '-' && word[0] != '+';
  };
  if (words.size() > 1 && words[0] == "-n" && std::all_of(words.begin() + 1, words.end(), is_file))
    return std::nullopt;
  return not_of_class(row, " -n FILE");
}

std::optional<NotReadOnly> check_options(const ReadOnlyCommand& row, Words words,
                                         const std::string& folder) {
  OptionReader reader(row.name, row.refused, row.forms);
  if (const auto refusal = reader.read(words)) return refuse_word(refusal->word, refusal->reason);
  if (row.how == ReadOnlyCommand::How::listed) {
    if (auto refused = check_listed(row, words, reader)) return refused;
  }
  if (row.name == "uniq" && (reader.operands() > 1 || reader.has_glob_operand(words)))
    return refuse_word(words.back(), "uniq writes to its second operand");
  return check_paths(words, folder, &reader);
}

/// `command -v NAME`
std::optional<NotReadOnly> check_command(Words words) {
  if (words.size() == 2 && words[0] == "-v" && !words[1].empty() && words[1][0] != '-')
    return std::nullopt;
  return refuse_word("command", "only `command -v NAME` is read-only");
}

std::optional<NotReadOnly> check(const ReadOnlyCommand& row, Words words,
                                 const std::string& folder) {
  using How = ReadOnlyCommand::How;
  std::optional<NotReadOnly> refused;
  switch (row.how) {
    case How::any:
      break;
    case How::options:
    case How::listed:
      return check_options(row, words, folder);
    case How::git:
      return check_git(row, words, folder);
    case How::find:
      refused = check_find(words, row.refused);
      break;
    case How::sed:
      return check_sed(row, words, folder);
    case How::awk:
      return check_awk(words, folder);
    case How::jq:
      return check_jq(words, folder);
    case How::version:
      refused = check_version(row, words);
      break;
    case How::syntax:
      refused = check_syntax(row, words);
      break;
    case How::test:
      refused = check_test(row.name, words);
      break;
    case How::command:
      refused = check_command(words);
      break;
  }
  return refused ? refused : check_paths(words, folder, nullptr);
}

}  // namespace

std::optional<NotReadOnly> why_not_read_only(Words argv, const fs::path& workspace,
                                             const fs::path& workdir) {
  if (argv.empty()) return NotReadOnly{.part = "", .reason = "no command"};
  const std::string& name = argv[0];
  const ReadOnlyCommand* const row = find_read_only(name);
  if (row == nullptr || name.find(' ') != std::string::npos) {
    return NotReadOnly{.part = name, .reason = name + " is not one of the read-only commands"};
  }
  const std::string folder = workdir.empty() ? workspace.string() : workdir.string();
  if (is_in_kernel_folder(folder)) {
    return refuse_word(folder, "the working folder is in /proc, /sys or /dev");
  }
  return check(*row, argv.subspan(1), folder);
}

std::vector<std::string> read_only_command_names() {
  std::vector<std::string> names;
  for (const ReadOnlyCommand& row : read_only_commands())
    if (row.name.find(' ') == std::string_view::npos) names.emplace_back(row.name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace sortie
