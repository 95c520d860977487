#include "policies/file/rule_examples.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "core/base/error.h"
#include "policies/file/policy_loader.h"
#include "policies/rules/policy.h"

using namespace sortie;

namespace {

std::string findings_of(const std::string& rule) {
  try {
    parse_policy("version: 1\ncommands:\n  - " + rule + "\n", "p.yaml", ".");
    return "";
  } catch (const InputError& error) {
    const std::string text = error.what();
    return text.substr(0, text.find('\n'));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rule_examples)

BOOST_AUTO_TEST_CASE(an_example_is_held_against_its_own_rule) {
  const struct {
    const char* rule;
    const char* finding;
  } rows[] = {
      {"{allow: [cargo, [build, test]], examples: {match: [[cargo, test, -q]]}}", ""},
      {"{allow: [cargo, test], examples: {not_match: [[cargo, install, x]]}}", ""},
      {"{allow: [cargo, test], examples: {match: ['cargo test -q'], not_match: [cargo run]}}", ""},
      {"{allow: [cargo, test], examples: {match: [cargo run]}}",
       "p.yaml:3:47: error: the example 'cargo run' should match, but the rule does not match it: "
       "word 2 is 'run', not 'test'"},
      {"{allow: [echo], examples: {match: ['echo a && echo b']}}",
       "p.yaml:3:40: error: the example must be one simple command, not 2"},
      {"{allow: [cargo], but_not: {args: ['-*']}, examples: {match: [cargo \"a b\"]}}", ""},
      {"{deny: [git, push], examples: {match: [timeout 5 git push, 'git \"push\"']}}", ""},
      {"{allow: [cargo, test], examples: {match: [[cargo, install, x]]}}",
       "p.yaml:3:47: error: the example '[cargo, install, x]' should match, but the rule does not "
       "match it: word 2 is 'install', not 'test'"},
      {"{allow: [cargo, [build, test, doc]], examples: {match: [[cargo, run]]}}",
       "p.yaml:3:61: error: the example '[cargo, run]' should match, but the rule does not match "
       "it: word 2 is 'run', not 'build', 'test' or 'doc'"},
      {"{allow: [cargo, test], examples: {match: [[cargo]]}}",
       "p.yaml:3:47: error: the example '[cargo]' should match, but the rule does not match it: it "
       "has 1 words, the rule 2"},
      {"{allow: [cargo], but_not: {args: ['--config*']}, examples: {match: [[cargo, --config=x]]}}",
       "p.yaml:3:73: error: the example '[cargo, --config=x]' should match, but the rule does not "
       "match it: but_not excepts '--config=x'"},
      {"{allow: [cargo], examples: {not_match: [[cargo, build]]}}",
       "p.yaml:3:45: error: the example '[cargo, build]' should not match, but the rule matches "
       "it"},
      {"{allow: [cargo], examples: {match: [[env, cargo]]}}",
       "p.yaml:3:41: error: the example '[env, cargo]' should match, but the rule does not match "
       "it: word 1 is 'env', not 'cargo'"},
      {"{allow: [cargo], examples: {match: [[/usr/bin/cargo]], not_match: [[./cargo]]}}", ""},
      {"{allow: {class: read-only}, examples: {match: [[ls, -l]], not_match: [[rm, x]]}}", ""},
      {"{allow: {script: ./s/*.sh}, examples: {match: [[./s/a.sh], [s/a.sh, x]], not_match: "
       "[[a.sh], [./s/b/a.sh], [./s/../../a.sh], [../workspace/s/a.py]]}}",
       ""},
      {"{allow: {script: ./s/*.sh}, examples: {match: [[s.sh]]}}",
       "p.yaml:3:52: error: the example '[s.sh]' should match, but the rule does not match it: no "
       "script of the workspace that ./s/*.sh matches"},
      // Of a deny rule: what it would deny, seen through wrappers too.
      {"{deny: [git, push], examples: {match: [[git, push], [git, -C, ., push], [env, git, push], "
       "[bash, -c, 'ls; git push']], not_match: [[git, pull]]}}",
       ""},
      {"{forbid: [sudo], examples: {match: [[su]]}}",
       "p.yaml:3:41: error: the example '[su]' should match, but the rule does not deny it"},
      {"{deny: [git, push], examples: {not_match: [[timeout, '5', git, push]]}}",
       "p.yaml:3:48: error: the example '[timeout, \"5\", git, push]' should not match, but the "
       "rule denies it"},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.rule) {
      BOOST_TEST(findings_of(row.rule) == row.finding);
    }
}

BOOST_AUTO_TEST_CASE(an_example_that_can_not_be_read_is_a_finding) {
  for (const char* line : {"'a $b'", "'a > b'", "'a &'", "'a ;;'", "'!'"}) {
    const std::string finding =
        findings_of(std::string("{allow: [a], examples: {match: [") + line + "]}}");
    BOOST_TEST(finding.starts_with("p.yaml:3:37: error: the example can't be read: "), finding);
  }
}

BOOST_AUTO_TEST_CASE(all_wrong_examples_are_shown_at_once) {
  try {
    parse_policy(
        "version: 1\ncommands:\n"
        "  - allow: [a]\n    examples:\n      match:\n        - [b]\n        - [c]\n"
        "  - deny: [d]\n    examples: {not_match: [[d]]}\n",
        "p.yaml", ".");
    BOOST_ERROR("it was loaded");
  } catch (const InputError& error) {
    const std::string text = error.what();
    for (const char* place : {"p.yaml:6:11: ", "p.yaml:7:11: ", "p.yaml:9:28: "})
      BOOST_TEST(text.find(place) != std::string::npos, text);
  }
}

BOOST_AUTO_TEST_CASE(examples_do_not_change_a_policys_digest) {
  const Policy with =
      parse_policy("version: 1\ncommands: [{allow: [a], examples: {match: [[a]]}}]", "p.yaml", ".");
  const Policy without = parse_policy("version: 1\ncommands: [{allow: [a]}]", "p.yaml", ".");

  BOOST_TEST(policy_digest(with) == policy_digest(without));
}

BOOST_AUTO_TEST_SUITE_END()
