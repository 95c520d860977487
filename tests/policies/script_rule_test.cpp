#include "policies/script_rule.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "policies/engine.h"
#include "tests/policies/policies.h"

using namespace sortie;

namespace {

Policy script_policy(const std::string& glob) {
  CommandRule rule = tests::command_rule(Effect::allow, {});
  rule.script = glob;
  return tests::strict_policy({rule});
}

Decision decide(const Policy& policy, const std::vector<std::string>& argv,
                const std::string& workdir = "/w", ScriptFiles files = {}) {
  Engine engine(policy, policy.approval, "/w", {}, {"/usr/bin"});
  engine.judge_scripts_by(std::move(files));
  return engine.decide(RunCommand{.argv = argv, .workdir = workdir});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(script_rule)

BOOST_AUTO_TEST_CASE(a_script_is_called_by_its_path_in_the_workspace) {
  const Policy policy = script_policy("./scripts/*.sh");
  const struct {
    std::vector<std::string> argv;
    const char* workdir;
    bool allowed;
  } rows[] = {
      {{"./scripts/a.sh"}, "/w", true},
      {{"scripts/a.sh", "--any", "../argument"}, "/w", true},
      {{"/w/scripts/a.sh"}, "/w", true},
      {{"./a.sh"}, "/w/scripts", true},
      {{"../scripts/a.sh"}, "/w/src", true},
      {{"./x/../scripts/a.sh"}, "/w", true},
      {{"a.sh"}, "/w/scripts", false},  // a bare name is looked up on PATH
      {{"scripts"}, "/w", false},
      {{"./scripts/"}, "/w", false},
      {{"./scripts/a.sh/"}, "/w", false},
      {{"./scripts/a.py"}, "/w", false},
      {{"./scripts/deep/a.sh"}, "/w", false},
      {{"./other/a.sh"}, "/w", false},
      {{"./scripts/a.sh"}, "/w/src", false},
      {{"/scripts/a.sh"}, "/w", false},
      {{"/tmp/scripts/a.sh"}, "/w", false},
      {{"/wx/scripts/a.sh"}, "/w", false},
      {{"../scripts/a.sh"}, "/w", false},
      {{"./scripts/../../scripts/a.sh"}, "/w", false},
      {{"/w/../w2/scripts/a.sh"}, "/w", false},
      {{"bash", "./scripts/a.sh"}, "/w", false},
      {{"env", "./scripts/a.sh"}, "/w", false},
      {{"./scripts/a.sh"}, "/tmp", false},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.argv[0] << " in " << row.workdir) {
      BOOST_TEST((decide(policy, row.argv, row.workdir).effect == Effect::allow) == row.allowed);
    }
}

BOOST_AUTO_TEST_CASE(a_script_that_was_changed_is_denied_with_that_reason) {
  const Policy policy = script_policy("./scripts/*.sh");
  std::filesystem::path asked;
  const auto changed = [&](const std::filesystem::path& path) {
    asked = path;
    return ScriptFile{.path = "scripts/a.sh", .problem = "scripts/a.sh was changed in this run"};
  };

  const Decision decision = decide(policy, {"./x/../scripts/a.sh"}, "/w", changed);

  BOOST_TEST((decision.effect == Effect::deny));
  BOOST_TEST(decision.reason == "scripts/a.sh was changed in this run");
  BOOST_TEST(decision.part == "./x/../scripts/a.sh");
  BOOST_TEST(decision.rule.line == 7);
  BOOST_TEST(!decision.unmatched);
  BOOST_TEST(asked == "/w/./x/../scripts/a.sh");  // as the kernel is to resolve it
}

BOOST_AUTO_TEST_CASE(a_link_may_not_lead_to_what_no_rule_matches) {
  const Policy policy = script_policy("./scripts/*.sh");
  const auto leads_to = [](const char* path) {
    return [path](const std::filesystem::path&) { return ScriptFile{.path = path, .problem = ""}; };
  };

  const Decision other = decide(policy, {"./scripts/a.sh"}, "/w", leads_to("tools/b"));
  BOOST_TEST((other.effect == Effect::deny));
  BOOST_TEST(other.reason == "a link leads to tools/b, which the rule does not match");
  const Decision same = decide(policy, {"./scripts/a.sh"}, "/w", leads_to("scripts/b.sh"));
  BOOST_TEST((same.effect == Effect::allow));
}

BOOST_AUTO_TEST_CASE(denied_words_and_other_rules_hold_for_scripts_too) {
  Policy policy = script_policy("scripts/**");
  policy.commands.back().but_not_args = {"--force", ""};
  policy.commands.push_back(tests::command_rule(Effect::deny, {{"deploy.sh"}}));

  BOOST_TEST((decide(policy, {"./scripts/a/b"}).effect == Effect::allow));
  BOOST_TEST((decide(policy, {"./scripts/a", "--force"}).effect == Effect::deny));
  BOOST_TEST((decide(policy, {"./scripts/a", ""}).effect == Effect::deny));
  BOOST_TEST((decide(policy, {"./scripts/deploy.sh"}).effect == Effect::deny));
  const Decision outside = decide(policy, {"./other"});
  BOOST_TEST(outside.reason == "./other is a path that no script rule matches");
}

BOOST_AUTO_TEST_SUITE_END()
