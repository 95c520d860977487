// docs/migration.md: what it says of other runners' flags is what the program says.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <set>
#include <string>

#include "core/files/files.h"
#include "core/text/text.h"
#include "tests/end_to_end/command_run.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// The flags in a text: what begins with a dash after a backtick or a blank.
std::set<std::string> flags_in(const std::string& text) {
  std::set<std::string> flags;
  for (std::size_t at = text.find('-'); at != std::string::npos; at = text.find('-', at)) {
    const std::size_t end = std::min(text.find_first_of(" `=,|.;", at), text.size());
    const bool begins = at > 0 && (text[at - 1] == '`' || text[at - 1] == ' ');
    if (begins && end - at > 1) flags.insert(text.substr(at, end - at));
    at = end;
  }
  return flags;
}

/// Where the table for `sortie exec` begins.
constexpr const char* kOfExec = "## `claude -p` with `sortie exec`";

/// What stands in the first column of a row.
std::string first_cell(const std::string& row) { return row.substr(0, row.find(" | ")); }

/// What stands in its second column, as the program prints it: without links behind the words
/// " ([x](y))", with the words alone of others, and without any quotes.
std::string second_cell(const std::string& row) {
  std::string cell = row.substr(row.find(" | ") + 3);
  cell.erase(cell.rfind(" |"));
  for (std::size_t at = cell.find("]("); at != std::string::npos; at = cell.find("](")) {
    const std::size_t begin = cell.rfind('[', at);
    const std::size_t end = cell.find(')', at) + 1;
    const bool apart = begin >= 2 && cell[begin - 1] == '(';
    const std::string words = apart ? "" : cell.substr(begin + 1, at - begin - 1);
    const std::size_t from = apart ? begin - 2 : begin;
    cell.replace(from, (apart ? cell.find(')', end) + 1 : end) - from, words);
  }
  std::erase(cell, '`');
  return cell;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(migration)

BOOST_AUTO_TEST_CASE(every_flag_of_the_tables_is_known_or_answered) {
  const RunFolder folder;
  std::string page = read_file(std::filesystem::path(SORTIE_SOURCE_DIR) / "docs/migration.md");
  page.erase(page.find(kOfExec));
  const std::string help = run_command_in(folder, {"run", "--help"}).output;
  int answered = 0;
  std::set<std::string> differ;
  for (const auto line : split_lines(page)) {
    if (!line.starts_with("| `") || line.starts_with("| `c") || line.starts_with("| `~")) continue;
    const std::string row(line);
    const std::string theirs = first_cell(row);
    for (const std::string& flag : flags_in(theirs)) {
      if (holds(help, flag + ",") || holds(help, flag + " ")) continue;
      const ProgramEnd end = run_command_in(folder, {"run", flag});
      BOOST_TEST(end.status == 2, flag);
      BOOST_TEST(holds(end.errors, "write instead: "), flag << ": " << end.errors);
      std::string answer = end.errors;
      std::erase(answer, '\'');
      if (!holds(answer, second_cell(row))) differ.insert(flag + ": " + second_cell(row));
      ++answered;
    }
    for (const std::string& flag : flags_in(row.substr(theirs.size())))
      BOOST_TEST((holds(help, flag + ",") || holds(help, flag + " ")), flag << " in " << row);
  }
  BOOST_TEST(answered > 30);
  // The page and the program say the same, row by row.
  for (const std::string& one : differ) BOOST_TEST(false, one);
}

BOOST_AUTO_TEST_CASE(exec_takes_the_flags_of_codex) {
  const RunFolder folder;
  std::string page = read_file(std::filesystem::path(SORTIE_SOURCE_DIR) / "docs/migration.md");
  page.erase(page.find(kOfExec));
  page.erase(0, page.find("## From `codex exec`"));
  int taken = 0;
  for (const auto line : split_lines(page)) {
    if (!line.starts_with("| `-")) continue;
    const std::string theirs = first_cell(std::string(line));
    for (const std::string& flag : flags_in(theirs)) {
      const ProgramEnd end = run_command_in(folder, {"exec", flag, "--help"});
      BOOST_TEST(!holds(end.errors, "unknown flag"), flag << ": " << end.errors);
      // Before `exec`, too, as codex has it.
      if (flag == "-a" || flag == "--ask-for-approval")
        BOOST_TEST(run_command_in(folder, {flag, "never", "exec", "--help"}).status == 0);
      ++taken;
    }
  }
  BOOST_TEST(taken > 20);
}

BOOST_AUTO_TEST_CASE(exec_answers_flags_of_claude_with_its_own) {
  const RunFolder folder;
  std::string page = read_file(std::filesystem::path(SORTIE_SOURCE_DIR) / "docs/migration.md");
  page.erase(0, page.find(kOfExec));
  int answered = 0;
  for (const auto line : split_lines(page)) {
    if (!line.starts_with("| `-")) continue;
    const std::string row(line);
    for (const std::string& flag : flags_in(first_cell(row))) {
      const ProgramEnd end = run_command_in(folder, {"exec", flag});
      std::string answer = end.errors;
      std::erase(answer, '\'');
      BOOST_TEST(end.status == 2, flag);
      BOOST_TEST(holds(answer, "write instead: " + second_cell(row)), flag << ": " << answer);
      ++answered;
    }
  }
  BOOST_TEST(answered > 15);
}

BOOST_AUTO_TEST_CASE(a_prompt_behind_p_of_exec_is_told_from_a_profile) {
  const RunFolder folder;
  const ProgramEnd end = run_command_in(folder, {"exec", "-p", "make the test pass"});
  BOOST_TEST(end.status == 1);
  BOOST_TEST(holds(end.errors, "-p is a profile here"), end.errors);
  BOOST_TEST(holds(end.errors, "'sortie exec PROMPT'"), end.errors);
}

BOOST_AUTO_TEST_SUITE_END()
