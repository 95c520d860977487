#include "policies/rules/command_rules.h"

#include <boost/test/unit_test.hpp>

#include "tests/policies/policies.h"

using namespace sortie;
using tests::command_rule;

BOOST_AUTO_TEST_SUITE(command_rules)

BOOST_AUTO_TEST_CASE(a_rule_matches_whole_words_of_a_direct_argv) {
  const std::vector<std::filesystem::path> folders = {"/usr/bin"};
  const CommandPlace place{.workspace = "/w", .workdir = "/w", .folders = folders};
  const auto matches = [&place](const CommandRule& rule, const std::vector<std::string>& argv) {
    return CommandRules({rule}).find_allow(argv, place).rule != nullptr;
  };
  const CommandRule cargo =
      command_rule(Effect::allow, {{"cargo"}, {"build", "test"}}, {"--config*", "--target-dir=/*"});
  const struct {
    std::vector<std::string> argv;
    bool matches;
  } rows[] = {
      {{"cargo", "test"}, true},
      {{"cargo", "build", "-q"}, true},
      {{"/usr/bin/cargo", "test"}, true},
      {{"cargo", "tests"}, false},
      {{"cargo", "-q", "test"}, false},
      {{"cargo"}, false},
      {{"Cargo", "test"}, false},
      {{"/opt/cargo", "test"}, false},
      {{"env", "cargo", "test"}, false},
      {{"cargo", "test", "--config", "a=b"}, false},
      {{"cargo", "test", "--target-dir=/x"}, false},
      {{"cargo", "test", "--target-dir=x"}, true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.argv.front() << " with " << row.argv.size() << " words") {
      BOOST_TEST(matches(cargo, row.argv) == row.matches);
    }
  }
  BOOST_TEST(matches(tests::read_only_rule(), {"ls"}));
  BOOST_TEST(!matches(tests::read_only_rule(), {"rm"}));
  BOOST_TEST(!matches(command_rule(Effect::allow, {{"/w/x"}}), {"/w/x"}));
  BOOST_TEST(!matches(command_rule(Effect::allow, {{"./x"}}), {"./x"}));
}

BOOST_AUTO_TEST_SUITE_END()
