#include "policies/bounds/trust.h"

#include <algorithm>
#include <vector>

#include "core/host/host.h"
#include "core/text/pattern.h"
#include "core/text/text.h"

namespace sortie {
namespace {

bool is_secret_name(const Policy& policy, const std::string& name) {
  if (policy.credentials.count(name) != 0) return true;
  return std::any_of(policy.environment_exclude.begin(), policy.environment_exclude.end(),
                     [&](const std::string& glob) {
                       return Pattern::word_glob(glob, LetterCase::ignored).matches(name);
                     });
}

std::string network_reason(const Policy& policy) {
  if (policy.sandbox == SandboxMode::none)
    return "sandbox.mode is none: nothing keeps commands off the network";
  if (policy.network == NetworkMode::full) return "network.mode is full";
  if (policy.network == NetworkMode::allow_list) {
    for (const auto& entry : policy.network_allow) {
      std::string problem;
      const auto host = parse_host_pattern(entry, problem);
      if (!host || host->is_broad()) return "network.allow has " + entry;
    }
  }
  if (!policy.escalation) return "";
  for (const auto& rule : policy.commands)
    if (rule.escalate && rule.sandbox.network == NetworkMode::full)
      return rule.place.file + ":" + std::to_string(rule.place.line) +
             " lets a command have the network (escalate)";
  return "";
}

}  // namespace

/// Only variables that commands would really get, with a value.
std::string secrets_reason(const Policy& policy, const Environment& own) {
  const Environment given = command_environment(policy, own, {});
  const auto reaches = [&](const std::string& name, const std::string& value) {
    const auto found = given.find(name);
    return found != given.end() && !value.empty() && found->second == value &&
           is_secret_name(policy, name);
  };
  std::vector<std::string> names;
  for (const auto& [name, value] : policy.environment_set)
    if (reaches(name, value)) names.push_back(name + " (environment.set)");
  for (const auto& [name, value] : own)
    if (policy.environment_set.count(name) == 0 && reaches(name, value))
      names.push_back(name + " (environment.include)");
  if (names.empty()) return "";
  // Not "secret: NAME", which is the shape of a password to be kept off stderr.
  return "commands get " + joined(names, ", ");
}

TrustFactors trust_factors(const Policy& policy) {
  TrustFactors factors;
  if (policy.input_untrusted)
    factors.input =
        "trust.input is untrusted: the prompt and the workspace may come from strangers";
  factors.network = network_reason(policy);
  return factors;
}

void count_web_search(TrustFactors& factors) {
  if (factors.input.empty())
    factors.input = "web_search brings in text that anyone may have written";
  if (factors.network.empty())
    factors.network = "web_search sends its queries past the network's rules";
}

std::string trust_problem(const TrustFactors& factors) {
  if (!factors.all_three()) return "";
  return "a run may have two of untrusted input, secrets and open network, not all three:\n"
         "  input: " +
         factors.input + "\n  secrets: " + factors.secrets + "\n  network: " + factors.network +
         "\nDo one of these: set trust.input: trusted if nobody unknown writes the task or the "
         "workspace; take the variables out of environment.include and environment.set; use "
         "network.mode none, or allow-list with the hosts that are needed; leave web_search out of "
         "tools.enable; or take the risk with "
         "trust.allow_all_three: true";
}

}  // namespace sortie
