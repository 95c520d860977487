#include "policies/bounds/trust.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "core/base/error.h"
#include "policies/file/policy_loader.h"

using namespace sortie;

namespace {

Policy parse(const std::string& text) {
  return parse_policy("version: 1\n" + text, "policy.yaml", ".");
}

TrustFactors factors_of(const Policy& policy, const Environment& own) {
  TrustFactors factors = trust_factors(policy);
  factors.secrets = secrets_reason(policy, own);
  return factors;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(trust)

BOOST_AUTO_TEST_CASE(a_run_has_two_of_the_three_and_never_all) {
  const Environment own = {
      {"MY_TOKEN", "v"}, {"EMPTY_KEY", ""}, {"PLAIN", "p"}, {"GIT_CONFIG_KEY_0", "x"}};
  const struct {
    const char* policy;
    bool input, secrets, network;
  } rows[] = {
      {"", true, false, false},
      {"trust: {input: trusted}", false, false, false},
      {"environment: {include: [MY_TOKEN]}", true, true, false},
      {"environment: {include: [MY_TOKEN]}\nnetwork: {mode: full}", true, true, true},
      {"environment: {include: [MY_TOKEN]}\nnetwork: {mode: full}\ntrust: {input: trusted}", false,
       true, true},
      {"network: {mode: full}", true, false, true},
      // Not passed on: a glob lifts no exclusion, `all` neither, and an empty one is no secret.
      {"environment: {include: ['*TOKEN']}\nnetwork: {mode: full}", true, false, true},
      {"environment: {inherit: all}\nnetwork: {mode: full}", true, false, true},
      {"environment: {include: [EMPTY_KEY, PLAIN]}\nnetwork: {mode: full}", true, false, true},
      {"environment: {include: [NOT_SET_TOKEN]}\nnetwork: {mode: full}", true, false, true},
      {"environment: {set: {A_TOKEN: x}}\nnetwork: {mode: full}", true, true, true},
      {"environment: {set: {A_TOKEN: ''}}\nnetwork: {mode: full}", true, false, true},
      {"environment: {set: {A_B: x}}\nnetwork: {mode: full}", true, false, true},
      {"environment: {include: [PLAIN], exclude: [PLAIN]}\nnetwork: {mode: full}", true, true,
       true},
      {"environment: {include: [PLAIN]}\nbounds: {credentials: {PLAIN: [a.b]}}\nnetwork: {mode: "
       "full}",
       true, true, true},
      {"network: {mode: allow-list, allow: [a.b, '*.example.org:443']}", true, false, false},
      {"network: {mode: allow-list, allow: [a.b, '*']}", true, false, true},
      {"network: {mode: allow-list, allow: ['*.com']}", true, false, true},
      {"network: {mode: allow-list, allow: ['*:8080']}", true, false, true},
      {"network: {mode: none, allow: ['*']}", true, false, false},
      // Without a sandbox no mode of the network is held by anything.
      {"sandbox: {mode: none, guarantee: []}", true, false, true},
      {"sandbox: {mode: none, guarantee: []}\nenvironment: {include: [MY_TOKEN]}", true, true,
       true},
      {"escalation: rules\ncommands: [{allow: [x], escalate: true, sandbox: {network: full}}]",
       true, false, true},
      {"escalation: deny\ncommands: [{allow: [x], escalate: true, sandbox: {network: full}}]", true,
       false, false},
      {"escalation: rules\ncommands: [{allow: [x], escalate: true, sandbox: {mode: "
       "workspace-write}}]",
       true, false, false},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.policy) {
      const TrustFactors factors = factors_of(parse(row.policy), own);
      BOOST_TEST(factors.input.empty() != row.input);
      BOOST_TEST(factors.secrets.empty() != row.secrets, factors.secrets);
      BOOST_TEST(factors.network.empty() != row.network, factors.network);
      const bool all = row.input && row.secrets && row.network;
      BOOST_TEST(factors.all_three() == all);
      BOOST_TEST(trust_problem(factors).empty() != all);
    }
}

BOOST_AUTO_TEST_CASE(a_search_of_the_web_brings_in_text_and_is_a_way_out) {
  const Environment own = {{"MY_TOKEN", "v3ry"}};
  const struct {
    const char* policy;
    bool all_three;
  } rows[] = {
      {"trust: {input: trusted}", false},
      {"environment: {include: [MY_TOKEN]}\ntrust: {input: trusted}", true},
      {"environment: {include: [MY_TOKEN]}", true},
      {"network: {mode: full}\ntrust: {input: trusted}", false},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.policy) {
      TrustFactors factors = factors_of(parse(row.policy), own);
      const std::string network = factors.network;
      count_web_search(factors);
      BOOST_TEST(!factors.input.empty());
      BOOST_TEST(factors.all_three() == row.all_three);
      if (!network.empty()) BOOST_TEST(factors.network == network);
      BOOST_TEST((trust_problem(factors).find("web_search") != std::string::npos) == row.all_three);
    }
}

BOOST_AUTO_TEST_CASE(the_problem_names_the_three_reasons_and_the_ways_out) {
  const std::string problem = trust_problem(factors_of(
      parse("environment: {include: [MY_TOKEN], set: {OTHER_KEY: x}}\nnetwork: {mode: full}"),
      {{"MY_TOKEN", "v3ry"}}));

  for (const char* part :
       {"trust.input is untrusted", "OTHER_KEY (environment.set), MY_TOKEN (environment.include)",
        "network.mode is full", "trust.input: trusted", "trust.allow_all_three: true"})
    BOOST_TEST(problem.find(part) != std::string::npos, problem);
  BOOST_TEST(problem.find("v3ry") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
