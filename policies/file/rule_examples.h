#pragma once

#include <string>
#include <vector>

#include "core/config/fields.h"
#include "policies/rules/policy.h"

namespace sortie {

/// Whether a rule whose example does not hold is a finding.
enum class Examples { checked, kept };

/// `examples` of a rule: {match: […], not_match: […]}, each a command line or an argv.
FieldValue examples_value(std::vector<RuleExample>& target);

/// What came of an example.
struct ExampleResult {
  RuleExample example;
  RulePlace rule;
  std::string problem;  ///< why it does not hold; "" where it does
};

/// Holds an example against its rule. Of an allow rule: whether this very rule matches the argv,
/// by its words alone. Of a deny or forbid rule: whether it denies it, seen through wrappers.
ExampleResult check_example(const CommandRule& rule, const RuleExample& example);

/// The examples of all rules, also of those that were extended, in the rules' order.
std::vector<ExampleResult> check_examples(const Policy& policy);

/// "policy.yaml:14:20: ok: 'cargo test -q' matches allow: [cargo, test]"
std::string result_text(const ExampleResult& result);

}  // namespace sortie
