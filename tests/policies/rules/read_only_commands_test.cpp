#include "policies/rules/read_only_commands.h"

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "core/files/files.h"
#include "core/json/json.h"
#include "policies/engine/engine.h"
#include "policies/shell/read_only_table.h"
#include "tests/policies/policies.h"

using namespace sortie;

namespace {

const std::filesystem::path kWorkspace = "/home/user/project";

bool is_read_only(std::vector<std::string> argv, const std::filesystem::path& workdir) {
  return !why_not_read_only(argv, kWorkspace, workdir);
}

std::vector<std::string> argv_of(const std::string& json) {
  std::vector<std::string> argv;
  const Json words = parse_json(json);
  for (const Json& word : words.items()) argv.push_back(word.text());
  return argv;
}

/// The refused options of the class, each with its command.
std::vector<std::pair<std::string, RefusedOption>> all_refused() {
  std::vector<std::pair<std::string, RefusedOption>> all;
  for (const ReadOnlyCommand& command : read_only_commands())
    for (const RefusedOption& row : command.refused) all.emplace_back(command.name, row);
  return all;
}

/// The words with which a refused option's row is called.
std::vector<std::string> call_with(const std::string& command, const std::string& option) {
  if (command == "git") return {"git", "log", option, "x"};
  if (command == "find") return {"find", ".", option, "x"};
  return {command, option, "x"};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(read_only_commands)

BOOST_AUTO_TEST_CASE(the_class_holds_what_the_table_says) {
  const Policy policy = tests::strict_policy();
  const Engine engine(policy, policy.approval, kWorkspace, {}, {"/usr/bin", "/bin"});
  std::ifstream file(SORTIE_SOURCE_DIR "/tests/data/policy/read_only.txt");
  BOOST_REQUIRE(file);
  int allowed = 0;
  int denied = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto blank = line.find(' ');
    const bool expected = line.substr(0, blank) == "allow";
    const Decision decision =
        engine.decide(RunCommand{argv_of(line.substr(blank + 1)), kWorkspace});
    BOOST_TEST((decision.effect == Effect::allow) == expected, line << ": " << decision.reason);
    BOOST_TEST(!decision.reason.empty(), line);
    ++(expected ? allowed : denied);
  }
  BOOST_TEST(allowed >= 100);
  BOOST_TEST(denied >= 150);
}

BOOST_AUTO_TEST_CASE(each_refused_option_is_refused_in_every_spelling) {
  for (const auto& [command, row] : all_refused()) {
    BOOST_TEST_CONTEXT(command << ' ' << row.option) {
      const std::string option(row.option);
      std::vector<std::string> spellings = {option};
      if (option.substr(0, 2) == "--") {
        spellings.push_back(option + "=x");
        spellings.push_back(option.substr(0, option.size() - 1));
      } else if (option.size() == 2) {
        spellings.push_back("-s" + option.substr(1));
        spellings.push_back(option + "x");
      }
      for (const std::string& spelling : spellings) {
        const std::vector<std::string> argv = call_with(command, spelling);
        const auto refused = why_not_read_only(argv, kWorkspace, kWorkspace);
        BOOST_REQUIRE(refused.has_value());
        BOOST_TEST(refused->part == spelling);
        BOOST_TEST(refused->known);
        BOOST_TEST(!refused->reason.empty());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_documentation_says_what_the_table_says) {
  const std::string text = read_file(SORTIE_SOURCE_DIR "/docs/read-only-class.md");
  for (const std::string& name : read_only_command_names())
    BOOST_TEST(text.find('`' + name + '`') != std::string::npos, name);
  std::string table;
  for (const auto& [command, row] : all_refused())
    table +=
        "| `" + command + ' ' + std::string(row.option) + "` | " + std::string(row.why) + " |\n";
  // Exactly these rows, in this order, and none behind them.
  BOOST_TEST(text.find("| option | why |\n|---|---|\n" + table + '\n') != std::string::npos, table);
}

BOOST_AUTO_TEST_CASE(the_documentation_lists_the_options_that_are_listed) {
  const std::string text = read_file(SORTIE_SOURCE_DIR "/docs/read-only-class.md");
  std::string table = "| command | options |\n|---|---|\n";
  for (const ReadOnlyCommand& row : sortie::read_only_commands()) {
    if (row.how != ReadOnlyCommand::How::listed) continue;
    table += "| `" + std::string(row.name) + "` |";
    const bool as_log = row.forms.flag_names == find_read_only("git log")->forms.flag_names;
    if (as_log) table += " those of `git log` that sortie knows";
    for (const std::string& option : listed_options(row))
      if (!as_log) table += " `" + option + '`';
    table += " |\n";
  }
  BOOST_TEST(text.find(table + '\n') != std::string::npos, table);
}

BOOST_AUTO_TEST_CASE(only_listed_options_are_allowed_and_in_full) {
  for (const ReadOnlyCommand& row : sortie::read_only_commands()) {
    if (row.how != ReadOnlyCommand::How::listed) continue;
    BOOST_TEST_CONTEXT(row.name) {
      const std::string name(row.name);
      std::vector<std::string> argv = {name};
      if (name.starts_with("git ")) argv = {"git", name.substr(4)};
      for (const char* word : {"--unknown", "--unknown=x", "-~", "-a~", "--outpu", "--exec=x"}) {
        auto words = argv;
        words.emplace_back(word);
        const auto refused = why_not_read_only(words, kWorkspace, kWorkspace);
        BOOST_REQUIRE(refused.has_value());
        BOOST_TEST(refused->known);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(paths_are_read_in_the_working_folder) {
  BOOST_TEST(is_read_only({"cat", "proc/x"}, kWorkspace));
  BOOST_TEST(!is_read_only({"cat", "proc/x"}, "/"));
  BOOST_TEST(!is_read_only({"grep", "-fproc/x", "y"}, "/"));
  BOOST_TEST(!is_read_only({"ls"}, "/proc"));
  BOOST_TEST(!is_read_only({"cat", "environ"}, "/proc/self"));
  BOOST_TEST(!is_read_only({"cat", "x"}, kWorkspace / "../../../sys"));
}

BOOST_AUTO_TEST_CASE(a_command_outside_the_class_is_said_to_be_so) {
  const std::vector<std::string> argv = {"rm", "x"};
  const auto refused = why_not_read_only(argv, kWorkspace, kWorkspace);
  BOOST_REQUIRE(refused.has_value());
  BOOST_TEST(!refused->known);
  BOOST_TEST(refused->reason == "rm is not one of the read-only commands");
}

BOOST_AUTO_TEST_SUITE_END()
