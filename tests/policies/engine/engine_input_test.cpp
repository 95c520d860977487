#include <boost/test/unit_test.hpp>

#include "policies/engine/engine.h"
#include "tests/policies/policies.h"

namespace sortie {
namespace {

using tests::command_rule;
using Argv = std::vector<std::string>;

Decision decide(const Policy& policy, Argv argv, const std::string& typed) {
  const Engine engine(policy, policy.approval, "/work", "/out", {"/usr/bin", "/bin"});
  return engine.decide(RunCommand{.argv = std::move(argv), .workdir = "/work", .input = typed});
}

const Argv kPython = {"bash", "-c", "python3 -i"};
const Argv kBash = {"bash", "-c", "bash"};

BOOST_AUTO_TEST_SUITE(engine_input)

BOOST_AUTO_TEST_CASE(deny_by_default_lets_type_into_what_takes_no_commands) {
  const Policy policy = tests::strict_policy(
      {command_rule(Effect::allow, {{"python3"}}), command_rule(Effect::allow, {{"bash"}}),
       command_rule(Effect::allow, {{"xargs"}}), command_rule(Effect::allow, {{"env"}}),
       command_rule(Effect::allow, {{"timeout"}}), command_rule(Effect::allow, {{"ssh"}})});
  const struct {
    const char* name;
    Argv argv;
    const char* typed;
    bool allowed;
  } rows[] = {
      {"an interpreter by its rule", kPython, "print(1)\n", true},
      {"the class read-only", {"bash", "-c", "cat"}, "some text\n", true},
      {"a direct argv", {"python3"}, "import os\n", true},
      {"a shell", kBash, "ls\n", false},
      {"a shell among others", {"sh", "-c", "cat; bash"}, "ls\n", false},
      {"a shell behind wrappers", {"env", "timeout", "9", "sh"}, "ls\n", false},
      {"a shell's script", {"bash", "x.sh"}, "yes\n", false},
      {"what makes arguments of it", {"bash", "-c", "xargs echo"}, "x\n", false},
      {"another machine's shell", {"ssh", "host"}, "ls\n", false},
      {"control-C into a shell", kBash, "\x03", true},
      {"control-D into a shell", kBash, "\x04", true},
      {"a line and control-D into a shell", kBash, "ls\n\x04", false},
      {"a command that is not allowed", {"make"}, "\x03", false},
  };
  for (const auto& row : rows)
    BOOST_TEST((decide(policy, row.argv, row.typed).effect == Effect::allow) == row.allowed,
               row.name);
}

BOOST_AUTO_TEST_CASE(an_approver_may_be_asked_about_a_shells_input) {
  const Policy policy = tests::strict_policy({command_rule(Effect::allow, {{"bash"}})});

  const Decision decision = decide(policy, kBash, "make\n");

  BOOST_TEST(decision.unmatched);
  BOOST_TEST(decision.part == "make ");
  BOOST_TEST(decision.reason == "input to a program that runs commands can't be checked");
}

BOOST_AUTO_TEST_CASE(deny_rules_hold_for_what_is_typed_in_every_mode) {
  const std::vector<CommandRule> rules = {command_rule(Effect::allow, {{"python3"}}),
                                          command_rule(Effect::deny, {{"git"}, {"push"}}),
                                          command_rule(Effect::forbid, {{"sudo"}})};
  const struct {
    const char* name;
    Argv argv;
    const char* typed;
    Effect effect;
  } rows[] = {
      {"as a command", kBash, "git push\n", Effect::deny},
      {"forbidden", kBash, "sudo ls\n", Effect::forbid},
      {"in a program's text", kPython, "os.system('git push')\n", Effect::deny},
      {"erased and typed anew", kBash, "git pusx\bh\n", Effect::deny},
      {"a line killed", kBash, "git \x15git push\n", Effect::deny},
      {"with other controls between", kBash, "git pu\x0csh\n", Effect::deny},
      {"entered by a carriage return", kBash, "ls\rgit push\r", Effect::deny},
      {"something else", kPython, "print('git status')\n", Effect::allow},
  };
  for (const Policy& policy : {tests::auto_policy(rules), tests::strict_policy(rules)})
    for (const auto& row : rows) {
      const bool shell = row.argv == kBash;
      if (shell && policy.approval != Approval::full_auto) continue;  // not even started
      BOOST_TEST_CONTEXT(row.name)
      BOOST_TEST((decide(policy, row.argv, row.typed).effect == row.effect));
    }
}

BOOST_AUTO_TEST_CASE(full_auto_denies_a_shell_what_can_not_be_read_only_where_the_policy_says_so) {
  Policy policy = tests::auto_policy();
  BOOST_TEST((decide(policy, kBash, "x=$(ls)\n").effect == Effect::allow));

  policy.unreadable_allow = false;
  BOOST_TEST((decide(policy, kBash, "x=$(ls)\n").effect == Effect::deny));
  BOOST_TEST((decide(policy, kBash, "ls -l\n").effect == Effect::allow));
  BOOST_TEST((decide(policy, kPython, "print(1)\n").effect == Effect::allow));
}

BOOST_AUTO_TEST_CASE(what_can_not_be_followed_is_denied_where_a_rule_could_concern_it) {
  Policy readable = tests::auto_policy();
  readable.unreadable_allow = false;
  const Policy ruled = tests::auto_policy({command_rule(Effect::deny, {{"git"}, {"push"}})});
  const struct {
    const char* name;
    std::string typed;
  } rows[] = {
      {"a key of readline's", "ush\x01git p\n"},
      {"what was killed comes back", "echo $(ls)\x15\x19\n"},
      {"a character taken literally", "git pu\x16\b\b\bsh\n"},
      {"an erased word", "git push;x\x17\n"},
      {"a handed over half, then erased", "git pu\x04\b\bsh\n"},
      {"a line without end", "git " + std::string(66'000, ' ')},
      {"another key that erases", "stty erase x\n"},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.name) {
      for (const Policy* policy : std::vector<const Policy*>{&readable, &ruled})
        BOOST_TEST((decide(*policy, kBash, row.typed).effect == Effect::deny));
      BOOST_TEST((decide(tests::auto_policy(), kBash, row.typed).effect == Effect::allow));
      BOOST_TEST((decide(readable, kPython, row.typed).effect == Effect::allow));
    }
}

BOOST_AUTO_TEST_CASE(a_rule_holds_for_a_line_that_comes_in_parts) {
  const Policy policy = tests::auto_policy({command_rule(Effect::deny, {{"git"}, {"push"}})});
  for (const char* typed : {"git \\\npush\n", "git pu\x04sh\n", "x\x04\x04git push\n",
                            "x\x03git push\n", "git pu\x03sh\n", "git pu\\\nsh\n"})
    BOOST_TEST((decide(policy, kBash, typed).effect == Effect::deny), typed);
  for (const char* typed : {"git \\\nstatus\n", "git pu\x03ls\n", "cat x\x04"})
    BOOST_TEST((decide(policy, kBash, typed).effect == Effect::allow), typed);
}

BOOST_AUTO_TEST_CASE(only_what_can_be_read_in_every_likely_way_is_typed_into_a_shell) {
  Policy policy = tests::auto_policy();
  policy.unreadable_allow = false;
  for (const char* typed : {"echo $\x03(ls)\n", "echo 'a\x04", "echo $(\x04ls)\n"})
    BOOST_TEST((decide(policy, kBash, typed).effect == Effect::deny), typed);
  for (const char* typed : {"x=$(\x15ls\n", "echo $\bx\n", "\x03ls -l\n"})
    BOOST_TEST((decide(policy, kBash, typed).effect == Effect::allow), typed);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie
