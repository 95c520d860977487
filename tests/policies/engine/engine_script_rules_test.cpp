#include <boost/test/unit_test.hpp>

#include "policies/engine/engine.h"
#include "tests/policies/engine/scripts.h"
#include "tests/policies/policies.h"

using namespace sortie;
using namespace sortie::engine_scripts;
using tests::command_rule;

BOOST_AUTO_TEST_SUITE(engine_script_rules)

BOOST_AUTO_TEST_CASE(a_script_lacks_a_rule_only_where_nothing_else_denies_it) {
  const Policy policy = tests::strict_policy({command_rule(Effect::deny, {{"make"}, {"publish"}})});
  const struct {
    const char* script;
    bool unmatched;
    std::vector<std::string> command;
  } rows[] = {
      {"ls && cargo test -q", true, {"cargo", "test", "-q"}},
      {"ls; rm x; cargo test", true, {"rm", "x"}},
      {"cargo test; find . -delete", true, {"cargo", "test"}},
      {"find . -delete; cargo test", true, {"find", ".", "-delete"}},
      {"git add .", true, {"git", "add", "."}},
      {"git commit -m x", true, {"git", "commit", "-m", "x"}},
      {"sed -i s/a/b/ x", true, {"sed", "-i", "s/a/b/", "x"}},
      {"sort -o x y", true, {"sort", "-o", "x", "y"}},
      {"cargo test; export A", false, {"export", "A"}},
      {"cargo test; cat <.env", false, {"cat"}},
      {"cargo test; make publish", false, {}},
      {"cargo $x", false, {}},
  };
  for (const auto& row : rows) {
    const RunCommand action{{"bash", "-lc", row.script}, kWorkspace};
    const Decision decision = decide(policy, action.argv);
    BOOST_TEST_CONTEXT(row.script << ": " << decision.reason) {
      BOOST_TEST((decision.effect == Effect::deny));
      BOOST_TEST(decision.unmatched == row.unmatched);
      BOOST_TEST((decision.command == row.command));
    }
  }
}

BOOST_AUTO_TEST_CASE(deny_rules_match_readable_scripts_exactly_in_full_auto) {
  const Policy policy = tests::auto_policy(
      {command_rule(Effect::deny, {{"git"}, {"push"}}), command_rule(Effect::forbid, {{"sudo"}})});
  const Row rows[] = {
      {"echo git push", Effect::allow, ""},
      {"grep -rn 'git push' . | head", Effect::allow, ""},
      {"echo 'sudo ls'; ls sudo", Effect::allow, ""},
      {"git commit -m 'git push'", Effect::allow, ""},
      {"git push", Effect::deny, "git push"},
      {"ls && git -C x push origin", Effect::deny, "git -C x push origin"},
      {"env A=1 timeout 5 git push", Effect::deny, "git push"},
      {"bash -c 'bash -c \"git push\"'", Effect::deny, "git push"},
      {"eval 'git push'", Effect::deny, "git push"},
      {"echo push | xargs git", Effect::deny, "may match a deny rule"},
      {"echo push | xargs -I% git %", Effect::deny, "may match a deny rule"},
      {"echo git push | xargs env", Effect::deny, "may match a deny rule"},
      {"find . -name push -exec git {} +", Effect::deny, "may match a deny rule"},
      {"ls | xargs git log", Effect::allow, ""},
      {"ls | xargs grep foo", Effect::allow, ""},
      {"echo git push | sh", Effect::deny, "may match a deny rule"},
      {"bash <x.sh", Effect::deny, "may match a deny rule"},
      {"bash x.sh", Effect::allow, ""},
      {"hash -p /usr/bin/git foo; foo push", Effect::deny, "may match a deny rule"},
      {"alias foo=sudo; foo ls", Effect::deny, "may match a deny rule"},
      {"trap 'git push' EXIT", Effect::deny, "may match a deny rule"},
      {"set -e; git status", Effect::allow, ""},
      {"git pu*", Effect::deny, "may match a deny rule"},
      {"sudo *.c", Effect::forbid, "sudo"},
      {"echo git push > x", Effect::deny, "may match a deny rule"},
  };
  check(policy, rows);
}

BOOST_AUTO_TEST_CASE(unreadable_deny_refuses_scripts_that_are_not_read_in_full_auto) {
  Policy policy = tests::auto_policy();
  policy.unreadable_allow = false;
  const struct {
    std::vector<std::string> argv;
    Effect effect;
  } rows[] = {
      {{"bash", "-c", "make && rm -rf x"}, Effect::allow},
      {{"bash", "-lc", "cd .. && git status"}, Effect::allow},
      {{"bash", "-c", "make > log"}, Effect::deny},
      {{"bash", "-c", "echo $x"}, Effect::deny},
      {{"sh", "-c", "for f in *; do rm $f; done"}, Effect::deny},
      {{"env", "bash", "-c", "echo $x"}, Effect::deny},
      {{"bash", "-c", "bash -c 'echo $x'"}, Effect::deny},
      {{"bash", "-ec", "echo $x"}, Effect::deny},
      {{"bash", "-ec", "make"}, Effect::allow},
      {{"./build.sh", "$x"}, Effect::allow},
  };
  for (const auto& row : rows) {
    const Decision decision = decide(policy, row.argv);
    BOOST_TEST((decision.effect == row.effect), row.argv.back() << ": " << decision.reason);
  }
  const Decision denied = script(policy, "make > log");
  BOOST_TEST(denied.part == ">");
  BOOST_TEST(denied.reason.find("column 6") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_program_of_the_workspace_does_not_run_beside_other_commands) {
  CommandRule rule = command_rule(Effect::allow, {});
  rule.script = "scripts/*.sh";
  const Policy policy = tests::strict_policy({rule});
  BOOST_TEST((decide(policy, {"./scripts/a.sh"}).effect == Effect::allow));
  BOOST_TEST((script(policy, "/home/user/project/scripts/a.sh x").effect == Effect::allow));
  const Policy with_make = tests::strict_policy({rule, command_rule(Effect::allow, {{"make"}})});
  const Row rows[] = {
      {"./scripts/a.sh", Effect::allow, ""},
      {"scripts/a.sh x", Effect::allow, ""},
      {"ls; /home/user/project/scripts/a.sh", Effect::allow, ""},
      {"./scripts/a.sh 2>&1 | tail -n 20", Effect::allow, ""},
      {"cd scripts && ./a.sh", Effect::allow, ""},
      {"cd src && ../scripts/a.sh", Effect::allow, ""},
      {"./scripts/a.sh && make", Effect::allow, ""},
      {"timeout 60 ./scripts/a.sh | grep FAIL; echo $?", Effect::allow, ""},
      {"set -e; CI=1 ./scripts/a.sh", Effect::allow, ""},
      {"make && ./scripts/a.sh", Effect::deny, "must run alone"},
      {"make | ./scripts/a.sh", Effect::deny, "must run alone"},
      {"./scripts/a.sh | make", Effect::deny, "must run alone"},
      {"./scripts/a.sh && ./scripts/b.sh", Effect::deny, "must run alone"},
      {"{ ./scripts/a.sh && make; }", Effect::deny, "must run alone"},
      {"for i in 1 2; do ./scripts/a.sh; done", Effect::deny, "must run alone"},
      {"for i in *; do ./scripts/a.sh; done", Effect::deny, "must run alone"},
      {"for i in 1; do ./scripts/a.sh; done", Effect::allow, ""},
      {"if make; then ./scripts/a.sh; fi", Effect::deny, "must run alone"},
      {"find . -name x -exec ./scripts/a.sh {} +", Effect::deny, "may run only once"},
      {"ls | xargs ./scripts/a.sh", Effect::deny, "may run only once"},
      {"./other/a.sh", Effect::deny, "a path that no script rule matches"},
      {"cd scripts; ./a.sh", Effect::deny, "a path that no script rule matches"},
      {"cd src && ./a.sh", Effect::deny, "a path that no script rule matches"},
      {"./scripts/../other/a.sh", Effect::deny, "a path that no script rule matches"},
      {"../project/scripts/a.sh", Effect::allow, ""},
      {"../a.sh", Effect::deny, "a path that no script rule matches"},
  };
  check(with_make, rows);
}

BOOST_AUTO_TEST_SUITE_END()
