#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/base/error.h"
#include "policies/engine/engine.h"
#include "policies/file/policy_loader.h"
#include "policies/file/policy_warnings.h"
#include "policies/file/rule_examples.h"
#include "policies/rules/policy.h"

using namespace sortie;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const Policy policy = parse_policy(text, "p.yaml", "/nonexistent");
    for (const auto& rule : policy.commands) {
      // A rule without words, class and script would match every command.
      const int says = !rule.prefix.empty() + !rule.command_class.empty() + !rule.script.empty();
      if (says != 1) std::abort();
      if (rule.effect != Effect::allow && (rule.escalate || rule.prefix.empty())) std::abort();
      for (const auto& example : rule.examples)
        if (!check_example(rule, example).problem.empty()) std::abort();
      for (const auto& words : rule.prefix)
        if (words.empty()) std::abort();
    }
    for (const auto& rule : policy.tools)
      if (rule.names.empty()) std::abort();
    policy_warnings(policy);
    // The effective policy says the same when it is read back.
    if (policy_digest(parse_policy(write_json(policy_json(policy)), "p.yaml", "/")) !=
        policy_digest(policy))
      std::abort();
  } catch (const InputError& error) {
    if (std::string(error.what()).empty()) std::abort();
  }
  return 0;
}
