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

/// The default address for requests with a sign-in.
inline constexpr const char* kSignInBase = "https://chatgpt.com/backend-api/codex";

/// One of the models of a run, with its provider and address.
struct ModelChoice {
  const TaskModel* model = nullptr;  ///< in the task
  const ProviderInfo* provider = nullptr;
  Endpoint endpoint{};
  std::string key_variable{};  ///< the variable with its key; "" if none is ever sent
};

/// The task's own model and those of its `fallback`, in order; none for replay. The address of flag
/// and environment is only for the first; the others keep their own.
/// @throws InputError  an address is invalid or missing
std::vector<ModelChoice> model_choices(const RunInputs& inputs, const RunOptions& options);

/// The addresses from environment variables, including the provider's own; those of the flag and the
/// task are left empty.
/// @param policy      says where plain http may be used; kept
/// @param credential  what is sent there, by its name in bounds.credentials; "" for nothing
AddressSources addresses_of_environment(const ProviderInfo& provider, const Policy& policy,
                                        const std::string& credential);

/// Lets plain http be used for an address that the operator named, where no key is sent.
void allow_operators_plain(const ProviderInfo& provider, AddressSources& sources);

ModelHost model_host(const Url& url);

/// HTTPS_PROXY, else ALL_PROXY, and NO_PROXY; each also in lower case. Not HTTP_PROXY: a model or an
/// MCP server with an http address is asked directly.
ProxySettings proxy_of_environment();

/// Checks what a request will need, except the key itself: address, proxy, headers, and whether there
/// is a file or descriptor to read the key from. Opens nothing.
/// @throws InputError  the first error
void check_provider(const RunInputs& inputs, const RunOptions& options);

/// The variables that may hold keys of the run's models; none for replay.
std::vector<std::string> key_variables(const RunInputs& inputs);

/// The variables with tokens of the task's MCP servers, which no command gets.
std::vector<std::string> mcp_token_variables(const Task& task);

/// The network addresses of the task's MCP servers, to be checked against the policy's bounds.
/// @throws InputError  an address is invalid
std::vector<McpHostUse> mcp_host_uses(const Task& task, const Policy& policy);

}  // namespace sortie
