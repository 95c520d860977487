#include "app/inputs/asked_of_bounds.h"

#include "core/agent/model_limits.h"
#include "core/provider/sign_in/credentials.h"

namespace sortie {
namespace {

/// The flags that override values of the task.
std::map<std::string, std::string> flags_given(const RunOptions& options) {
  std::map<std::string, std::string> flags;
  if (!options.provider.empty()) flags["model.name"] = "--provider " + options.provider;
  if (!options.model.empty()) flags["model.name"] = "--model " + options.model;
  if (!options.isolation.empty()) flags["workspace.isolation"] = "--isolation " + options.isolation;
  if (!options.timeout.empty()) flags["budget.time"] = "--timeout " + options.timeout;
  if (options.max_cost) flags["budget.cost"] = "--max-cost";
  if (options.max_tokens) flags["budget.tokens"] = "--max-tokens";
  return flags;
}

}  // namespace

bool has_key(const RunInputs& inputs, const RunOptions& options, const ModelChoice& choice) {
  const bool first = choice.model == &inputs.task.model;
  return (first && (inputs.auth_file || options.api_key_fd || !options.api_key_file.empty())) ||
         !own_variable(choice.key_variable).empty();
}

BoundsRequest asked_of_bounds(const RunInputs& inputs, const RunOptions& options,
                              const std::map<std::string, std::string>& variables,
                              const GatePlaces& places) {
  BoundsRequest request{.task = inputs.task, .flags = flags_given(options)};
  for (const auto& [name, value] : variables) request.given_variables.insert(name);
  request.asks_model = !replays(inputs);
  request.approval = inputs.approval;
  request.places = places;
  request.files = files_of_run(inputs.task, inputs.policy);
  const Prices prices = inputs.policy.prices_of_task ? Prices::of_task : Prices::dearer;
  const auto terms = all_model_limits(inputs.task.model, prices);
  for (std::size_t i = 0; i < terms.size(); ++i)
    if (!terms[i].in_price_list)
      request.unpriced.push_back({.name = terms[i].name, .of_fallback = i > 0});
  for (const ModelChoice& choice : model_choices(inputs, options)) {
    const bool first = choice.model == &inputs.task.model;
    const Endpoint& endpoint = choice.endpoint;
    if (choice.key_variable.empty()) {
      if (!endpoint.operator_host)
        request.model_hosts.push_back({.host = model_host(endpoint.base),
                                       .shown = endpoint.base.authority(),
                                       .of_fallback = !first});
      continue;
    }
    if (!has_key(inputs, options, choice)) continue;
    request.keys.push_back(
        {.variable = choice.key_variable,
         .host = endpoint.base.authority(),
         .may_go = key_may_go(choice.key_variable, endpoint, inputs.policy.credentials),
         .of_fallback = !first,
         .named_by = endpoint.named_by});
  }
  request.mcp_hosts = mcp_host_uses(inputs.task, inputs.policy);
  return request;
}

}  // namespace sortie
