#pragma once

#include <string>
#include <vector>

#include "app/inputs/options.h"
#include "app/inputs/run_inputs.h"
#include "core/net/proxy.h"
#include "core/provider/provider.h"
#include "core/task/task.h"
#include "policies/bounds/bounds.h"
#include "policies/bounds/task_gate.h"
#include "policies/rules/policy.h"

namespace sortie {

/// Where requests go by default with a sign-in.
inline constexpr const char* kSignInBase = "https://chatgpt.com/backend-api/codex";

/// One of the models of a run, and who is asked for it.
struct ModelChoice {
  const TaskModel* model = nullptr;  ///< of the task
  const ProviderInfo* provider = nullptr;
  Endpoint endpoint{};
  std::string key_variable{};  ///< the variable that its key is in; "" where none is ever sent
};

/// The task's own model and those of its `fallback`, in their order; none for replay. Flag and
/// environment name the address of the first alone: another provider keeps its own.
/// @throws InputError  for an address that can't be used, or is missing
std::vector<ModelChoice> model_choices(const RunInputs& inputs, const RunOptions& options);

/// The variables that name addresses, the provider's own among them: the flag's and the task's word
/// stay to be filled in.
AddressSources addresses_of_environment(const ProviderInfo& provider);

ModelHost model_host(const Url& url);

/// HTTPS_PROXY, else ALL_PROXY, and NO_PROXY; each also in small letters.
ProxySettings proxy_of_environment();

/// Looks at all that a request will need, apart from the key itself: address, proxy, headers, and
/// whether there is a file or descriptor to read the key from. Opens nothing.
/// @throws InputError  for the first that is wrong
void check_provider(const RunInputs& inputs, const RunOptions& options);

/// The variables that keys may be in: of all of the run's models; none for replay.
std::vector<std::string> key_variables(const RunInputs& inputs);

/// The variables that hold tokens of the task's MCP servers: no command gets them.
std::vector<std::string> mcp_token_variables(const Task& task);

/// What the task's servers with a url ask of the policy's bounds.
/// @throws InputError  an address that is none
std::vector<McpHostUse> mcp_host_uses(const Task& task, const Policy& policy);

}  // namespace sortie
