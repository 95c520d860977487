#include <algorithm>

#include "app/exec/exec_task.h"
#include "core/base/error.h"
#include "core/base/own_headers.h"
#include "core/base/own_variable.h"
#include "core/catalog/providers.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr const char* kOpenModel = "gpt-oss:20b";

/// A provider's own key, so that no other host gets the one for OpenAI.
std::string key_of(const std::string& provider) {
  std::string name;
  for (const char c : provider)
    name += is_ascii_alphanumeric(c) ? static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c) : '_';
  return name + "_API_KEY";
}

/// A model on this machine: --oss.
void choose_local(const std::string& server, RunOptions& run, Task& task) {
  run.provider = "local";
  if (server == "lmstudio" && run.base_url.empty()) run.base_url = "http://127.0.0.1:1234/v1";
  if (task.model.name.empty()) task.model.name = kOpenModel;
}

void choose_configured(const std::string& id, const ConfiguredProvider& provider, RunOptions& run,
                       Task& task) {
  const auto version = provider.query.find("api-version");
  const bool azure = version != provider.query.end();
  if (provider.base_url.empty())
    throw InputError("-c model_provider=" + one_line(id, 60) + ": model_providers." +
                     one_line(id, 60) + ".base_url is not given");
  run.provider = azure ? "azure" : provider.wire_api == "chat" ? "openai-chat" : "openai";
  if (run.base_url.empty())
    run.base_url = provider.base_url + (azure ? "?api-version=" + version->second : "");
  ProviderExtras& extras = task.model.extras;
  extras.query = provider.query;
  if (azure) extras.query.erase("api-version");
  for (const auto& [name, value] : provider.headers)
    (is_own_header(name) ? extras.secret_headers : task.model.headers)[name] = value;
  extras.variable_headers = provider.variable_headers;
  if (!provider.bearer_token.empty())
    extras.secret_headers["Authorization"] = "Bearer " + provider.bearer_token;
  extras.key_optional = provider.env_key.empty() && !provider.needs_openai_key;
  if (provider.retries) task.model.retries = *provider.retries;
  if (provider.idle_timeout) task.model.idle_timeout = *provider.idle_timeout;
  if (!provider.env_key.empty())
    task.model.api_key_env = provider.env_key;
  else if (!provider.needs_openai_key)
    task.model.api_key_env = key_of(id);
}

/// OpenAI's, or what --provider says.
void choose_plain(const ExecSettings& settings, RunOptions& run) {
  if (run.provider.empty()) run.provider = "openai";
  if (run.base_url.empty() && run.provider == "openai") run.base_url = settings.openai_base_url;
}

}  // namespace

void choose_model(const ExecSettings& settings, ExecOptions& options, Task& task) {
  RunOptions& run = options.run;
  const std::string default_name = std::exchange(task.model.name, settings.model);
  if (!run.model.empty()) task.model.name = run.model;
  std::string id = run.provider.empty() ? settings.model_provider : "";
  if (options.oss && run.provider.empty())
    id = options.local_provider.empty() ? "ollama" : options.local_provider;
  const auto configured = settings.providers.find(id);
  if (configured != settings.providers.end())
    choose_configured(id, configured->second, run, task);
  else if (id == "ollama" || id == "lmstudio" || id == "oss")
    choose_local(id, run, task);
  else if (id.empty() || id == "openai")
    choose_plain(settings, run);
  else
    throw InputError("-c model_provider=" + one_line(id, 60) + ": no model_providers." +
                     one_line(id, 60) + ".base_url is given for it");
  if (task.model.name.empty()) task.model.name = default_name;
  const ProviderInfo* provider = find_provider(run.provider);
  if (provider != nullptr && provider->key_variable == "OPENAI_API_KEY" &&
      task.model.api_key_env.empty() && !own_variable("CODEX_API_KEY").empty())
    task.model.api_key_env = "CODEX_API_KEY";
  if (!run.replay.empty()) {  // the recording answers, whatever the configuration selects
    run.provider.clear();
    run.base_url.clear();
  }
}

}  // namespace sortie
