#include "app/inputs/provider_choice.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "app/inputs/run_inputs.h"
#include "core/base/error.h"
#include "core/files/path_below.h"
#include "core/provider/sign_in/credentials.h"
#include "core/task/task_loader.h"
#include "tools/mcp/transport/http_transport.h"

namespace sortie {
namespace {

/// The variable with the model's key; "" if none is ever sent.
std::string key_variable(const TaskModel& model, const ProviderInfo& provider) {
  if (provider.key_variable.empty()) return {};
  return model.api_key_env.empty() ? std::string(provider.key_variable) : model.api_key_env;
}

ModelChoice choice_of(const TaskModel& model, const AddressSources& sources) {
  const ProviderInfo& provider = provider_named(model.provider);
  ModelChoice choice{.model = &model,
                     .provider = &provider,
                     .endpoint = choose_endpoint(provider, sources),
                     .key_variable = key_variable(model, provider)};
  add_query(model.extras.query, choice.endpoint);
  return choice;
}

std::string sends_no_key(const ModelChoice& choice) {
  return "provider " + std::string(choice.provider->name) +
         " never sends a key (openai-chat does, in the same format); ";
}

void keep_out_of_workspace(const std::string& flag, const std::filesystem::path& file,
                           const std::filesystem::path& workspace) {
  std::error_code error;
  const auto real = std::filesystem::canonical(file, error);
  if (!error && is_below(real, workspace))
    throw InputError(flag + ": lies in the workspace, where commands can read it; keep it " +
                     "elsewhere");
}

void check_key_sources(const RunInputs& inputs, const RunOptions& options) {
  if (options.api_key_fd && !options.api_key_file.empty())
    throw InputError("--api-key-file and --api-key-fd: give one of them, not both");
  if (const auto number = options.api_key_fd) {
    // The descriptor is closed after reading: the next file opened would get sortie's messages.
    if (*number == STDOUT_FILENO || *number == STDERR_FILENO)
      throw InputError("--api-key-fd " + std::to_string(*number) +
                       ": is an output of sortie; give one of 3 or above, or 0");
    // Later the number could be that of a file of our own.
    if (::fcntl(*number, F_GETFD) == -1)
      throw InputError("--api-key-fd " + std::to_string(*number) + ": " + errno_text(errno));
  } else if (!options.api_key_file.empty()) {
    const std::string flag = "--api-key-file " + options.api_key_file;
    if (::access(options.api_key_file.c_str(), R_OK) != 0)
      throw InputError(flag + ": " + errno_text(errno));
    keep_out_of_workspace(flag, options.api_key_file, inputs.workspace);
  } else if (!options.auth_file.empty()) {
    keep_out_of_workspace("--auth-file " + options.auth_file, options.auth_file, inputs.workspace);
  }
}

}  // namespace

std::vector<ModelChoice> model_choices(const RunInputs& inputs, const RunOptions& options) {
  std::vector<ModelChoice> choices;
  if (replays(inputs)) return choices;
  const TaskModel& first = inputs.task.model;
  const auto sources_of = [&inputs](const TaskModel& model) {
    const ProviderInfo& provider = provider_named(model.provider);
    AddressSources sources = addresses_of_environment(
        provider, inputs.policy,
        signs_in(inputs) && &model == &inputs.task.model ? std::string(kSignInCredential)
                                                         : key_variable(model, provider));
    sources.task = model.base_url;
    return sources;
  };
  AddressSources sources = sources_of(first);
  sources.flag = options.base_url;
  allow_operators_plain(provider_named(first.provider), sources);
  sources.otherwise = signs_in(inputs) ? kSignInBase : "";
  try {
    choices.push_back(choice_of(first, sources));
  } catch (const InputError& error) {
    if (!options.base_url.empty() || !options.provider.empty()) throw;
    throw InputError(error_at(inputs.task, {"model.base_url", "model.provider"}) + error.what());
  }
  if (signs_in(inputs)) choices.back().key_variable = kSignInCredential;
  for (const TaskModel& model : first.fallback) {
    AddressSources next = sources_of(model);
    next.environment.clear();  // which names the address of the first alone
    try {
      choices.push_back(choice_of(model, next));
    } catch (const InputError& error) {
      throw InputError(error_at(inputs.task, {"model.fallback"}) + "model.fallback: " +
                       model.provider + " " + model.name + ": " + error.what());
    }
  }
  return choices;
}

AddressSources addresses_of_environment(const ProviderInfo& provider, const Policy& policy,
                                        const std::string& credential) {
  AddressSources sources{.environment = own_variable("SORTIE_BASE_URL")};
  for (const std::string_view name : provider.address_variables) {
    if (name.empty() || !sources.of_provider.empty()) continue;
    sources.provider_variable = name;
    sources.of_provider = own_variable(sources.provider_variable);
  }
  if (credential.empty()) {
    sources.may_be_plain = [gate = TaskGate(policy, {})](const Url& url) {
      return gate.keyless_host(model_host(url)).empty();
    };
    sources.to_allow_plain = [&policy](const Url& url) {
      return to_allow(policy, "model_hosts", url.authority());
    };
    return sources;
  }
  sources.may_be_plain = [credential, &policy](const Url& url) {
    return key_may_go(credential, {.base = url}, policy.credentials);
  };
  sources.to_allow_plain = [credential, &policy](const Url& url) {
    return to_allow_key(policy, credential, "http://" + url.authority());
  };
  return sources;
}

void allow_operators_plain(const ProviderInfo& provider, AddressSources& sources) {
  const bool by_operator = !sources.flag.empty() || !sources.environment.empty();
  if (by_operator && provider.key_variable.empty())
    sources.may_be_plain = [](const Url&) { return true; };  // nothing secret goes there
}

ModelHost model_host(const Url& url) {
  return {.host = url.host, .port = url.port, .secure = url.secure, .loopback = url.is_loopback()};
}

ProxySettings proxy_of_environment() {
  ProxySettings proxies = read_proxies([](const std::string& name) { return own_variable(name); });
  proxies.http_proxy.clear();
  return proxies;
}

void check_provider(const RunInputs& inputs, const RunOptions& options) {
  if (replays(inputs)) {
    if (!options.record.empty())
      throw InputError("--record: the responses come from a recording already");
    return;
  }
  const ProxySettings proxy = proxy_of_environment();
  const auto choices = model_choices(inputs, options);
  for (const ModelChoice& choice : choices) {
    proxy_for(proxy, choice.endpoint.base);
    request_headers(*choice.provider, "", "", choice.model->headers);
    if (choice.key_variable.empty() && !choice.model->api_key_env.empty())
      throw InputError(sends_no_key(choice) + "api_key_env is given for it");
  }
  if (choices.front().key_variable.empty() && (options.api_key_fd || !options.api_key_file.empty()))
    throw InputError(sends_no_key(choices.front()) + "--api-key-" +
                     (options.api_key_fd ? "fd" : "file") + " is given for it");
  check_key_sources(inputs, options);
}

std::vector<std::string> key_variables(const RunInputs& inputs) {
  std::vector<std::string> names;
  if (replays(inputs)) return names;
  const auto add = [&names](const TaskModel& model) {
    std::string name = key_variable(model, provider_named(model.provider));
    if (!name.empty()) names.push_back(std::move(name));
  };
  add(inputs.task.model);
  for (const TaskModel& model : inputs.task.model.fallback) add(model);
  for (const auto& [header, variable] : inputs.task.model.extras.variable_headers)
    names.push_back(variable);
  return names;
}

std::vector<std::string> mcp_token_variables(const Task& task) {
  std::vector<std::string> names;
  for (const TaskMcpServer& server : task.mcp)
    if (!server.bearer_token_env.empty()) names.push_back(server.bearer_token_env);
  return names;
}

std::vector<McpHostUse> mcp_host_uses(const Task& task, const Policy& policy) {
  std::vector<McpHostUse> uses;
  for (const TaskMcpServer& server : task.mcp) {
    if (server.url.empty()) continue;
    McpHostUse use{.server = server.name, .place = server.place};
    try {
      const Url url = mcp::parse_server_url(server.url);
      use.address = (url.secure ? "https://" : "http://") + url.authority();
      use.variable = server.bearer_token_env;
      use.token_may_go =
          use.variable.empty() || key_may_go(use.variable, {.base = url}, policy.credentials);
    } catch (const InputError& error) {
      throw InputError(server.place + ": error: the MCP server " + server.name + ": " +
                       error.what());
    }
    uses.push_back(std::move(use));
  }
  return uses;
}

}  // namespace sortie
