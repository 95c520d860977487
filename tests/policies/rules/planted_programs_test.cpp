#include "policies/rules/planted_programs.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "policies/engine/engine.h"
#include "policies/file/policy_loader.h"
#include "policies/file/policy_warnings.h"

using namespace sortie;

namespace {

Policy policy_of(const std::string& text) {
  return parse_policy("version: 1\nextends: strict\n" + text, "policy.yaml", ".");
}

bool allows(const Policy& policy, const std::string& program) {
  const Engine engine(policy, Approval::deny_by_default, "/home/ci/work", {},
                      {"/usr/bin", "/home/ci/.cargo/bin"}, {}, "/home/ci");
  return engine.decide(RunCommand{.argv = {program, "x"}, .workdir = "/home/ci/work"}).effect ==
         Effect::allow;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(planted_programs)

BOOST_AUTO_TEST_CASE(no_allow_rule_is_about_a_place_of_the_runs_own) {
  const struct {
    const char* program;
    const char* paths;
    bool allowed;
  } rows[] = {
      {"/opt/tools/check", "", true},
      {"/usr/bin/make", "", true},
      {"/tmp/check", "", false},
      {"/var/tmp/check", "", false},
      {"/dev/shm/check", "", false},
      {"/home/ci/bin/check", "", false},
      {"/home/ci/.cargo/bin/cargo", "", true},  // of PATH, where nothing can be written
      {"/home/ci/bin/check", "paths: {read: ['~/bin']}\n", true},
      {"/home/ci/bin/check", "paths: {read: [/home/ci/bin]}\n", true},
      {"/tmp/tools/check", "paths: {read: [/tmp/tools]}\n", true},
      {"/tmp/tools/check", "paths: {read: [/tmp/tools], write: [/tmp/tools]}\n", false},
      {"/data/check", "paths: {write: [/data]}\n", false},
      {"/data/check", "", true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.program << " " << row.paths) {
      const Policy policy =
          policy_of(std::string(row.paths) + "commands: [{allow: [" + row.program + "]}]\n");
      BOOST_TEST(allows(policy, row.program) == row.allowed);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_other_words_of_such_a_rule_and_denials_stay) {
  const Policy policy = policy_of(
      "commands: [{allow: [[/tmp/check, /opt/check]]}, {deny: [/tmp/other]}, {forbid: "
      "[/tmp/worse]}]\n");

  BOOST_TEST(allows(policy, "/opt/check"));
  BOOST_TEST(!allows(policy, "/tmp/check"));
  const auto rules = rules_without_planted(policy, "/work", "/home/ci", {});
  BOOST_TEST(rules.size() == policy.commands.size());
}

BOOST_AUTO_TEST_CASE(the_author_of_such_a_rule_is_warned) {
  const auto warnings = policy_warnings(policy_of("commands:\n  - allow: [/tmp/check]\n"));

  BOOST_REQUIRE(warnings.size() == 1u);
  BOOST_TEST(warnings[0].place.line == 4);
  BOOST_TEST(
      warnings[0].text.starts_with("no command is allowed by '/tmp/check': /tmp is private"));
}

BOOST_AUTO_TEST_CASE(variables_by_which_programs_run_other_code_are_warned_about) {
  const auto warnings = policy_warnings(
      policy_of("environment: {set: {OPENSSL_CONF: x, CI: 'true', PYTHONDONTWRITEBYTECODE: '1'}}\n"
                "bounds: {mcp_env: [LANGUAGE, NODE_OPTIONS]}\n"));

  BOOST_REQUIRE(warnings.size() == 2u);
  BOOST_TEST(warnings[0].text.starts_with("'OPENSSL_CONF' makes programs"));
  BOOST_TEST(warnings[1].text.starts_with("'NODE_OPTIONS' has no effect"));
}

BOOST_AUTO_TEST_SUITE_END()
