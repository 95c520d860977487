#pragma once

#include <string>
#include <vector>

#include "core/config/fields.h"
#include "policies/rules/policy.h"

namespace sortie {

/// Whether a failing example of a rule is an error.
enum class Examples { checked, kept };

/// `examples` of a rule: {match: […], not_match: […]}, each a command line or an argv.
FieldValue examples_value(std::vector<RuleExample>& target);

/// The result of an example.
struct ExampleResult {
  RuleExample example;
  RulePlace rule;
  std::string problem;  ///< why it fails; "" if it passes
};

/// Checks an example against its rule. For an allow rule: whether this rule matches the argv, by its
/// words alone. For a deny or forbid rule: whether it denies the argv, also through wrappers.
ExampleResult check_example(const CommandRule& rule, const RuleExample& example);

/// Checks the examples of all rules, including those of extended policies, in the rules' order.
std::vector<ExampleResult> check_examples(const Policy& policy);

/// "policy.yaml:14:20: ok: 'cargo test -q' matches allow: [cargo, test]"
std::string result_text(const ExampleResult& result);

}  // namespace sortie
