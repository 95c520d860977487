#include "policies/engine/explain.h"

#include <boost/test/unit_test.hpp>

#include "policies/engine/engine.h"
#include "tests/policies/policies.h"

using namespace sortie;
using tests::command_rule;

namespace {

/// By words alone, as if in the folder given.
Decision decide(const Policy& policy, Approval approval, const std::vector<std::string>& argv,
                const std::filesystem::path& workdir) {
  const Engine engine(policy, approval, workdir, {},
                      {"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin"});
  return engine.decide(RunCommand{.argv = argv, .workdir = workdir});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(explain)

BOOST_AUTO_TEST_CASE(the_summary_is_short_and_names_what_is_allowed) {
  Policy policy = tests::strict_policy({command_rule(Effect::allow, {{"cargo"}, {"build", "test"}}),
                                        command_rule(Effect::deny, {{"git"}, {"push"}})});
  policy.tools = {
      {.effect = Effect::allow, .names = {"shell", "read_file"}, .why = {}, .place = {}}};
  for (int i = 0; i < 200; ++i) {
    policy.commands.push_back(command_rule(Effect::allow, {{"tool" + std::to_string(i)}}));
  }

  const std::string summary = policy_summary(policy, Approval::deny_by_default);
  const std::string instead = allowed_instead(policy);

  for (const char* part : {"direct argv", "grep", "cargo build|test", "more", "Never: git push",
                           "Tools: shell, read_file"}) {
    BOOST_TEST(summary.find(part) != std::string::npos, part << " in: " << summary);
  }
  BOOST_TEST(summary.size() <= 1024u);
  BOOST_TEST(instead.size() <= 300u);
  BOOST_TEST(instead.find("more") != std::string::npos);
  const std::string open = policy_summary(policy, Approval::full_auto);
  BOOST_TEST(open.find('\n') == std::string::npos);
}

BOOST_AUTO_TEST_CASE(policy_check_explains_with_file_and_line) {
  const Policy policy = tests::strict_policy({command_rule(Effect::deny, {{"git"}, {"push"}})});

  const Decision allowed = decide(policy, policy.approval, {"/bin/ls"}, "/w");
  const Decision denied = decide(policy, policy.approval, {"git", "push"}, "/w");
  const Decision unknown = decide(policy, policy.approval, {"notinstalled"}, "/w");

  BOOST_TEST(
      decision_text(allowed) ==
      "allow: /bin/ls\n  rule: strict:3: allow: {class: read-only}\n  why: a rule allows it\n");
  BOOST_TEST(decision_text(denied) ==
             "deny: git push\n  rule: policy.yaml:7: the rule\n  why: a rule denies it\n");
  BOOST_TEST((unknown.effect == Effect::deny));
  BOOST_TEST(decision_text(unknown).find("none matched") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
