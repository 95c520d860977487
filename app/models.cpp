#include "app/models.h"

#include <algorithm>
#include <cstdlib>

#include "app/provider_choice.h"
#include "core/base/error.h"
#include "core/model/credentials.h"
#include "core/model/fallback_model.h"
#include "core/model/replay_model.h"
#include "core/model/wires.h"
#include "core/net/poco_http.h"

namespace sortie {
namespace {

constexpr int kRetriesOfRun = 20;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string name_of(const TaskModel& task) { return task.provider + " " + task.name; }

/// Flags and environment speak of the task's own model alone.
Endpoint endpoint_of_fallback(const TaskModel& task) {
  Endpoint endpoint = choose_endpoint({.task = task.base_url});
  endpoint.provider = task.provider;
  return endpoint;
}

std::string key_variable_of(const TaskModel& task) {
  return task.api_key_env.empty() ? KeySources{}.variable : task.api_key_env;
}

std::string not_for_host(const std::string& name, const Endpoint& endpoint) {
  return "model.fallback: the policy does not let " + name + " go to " + endpoint.base.authority() +
         "; add the host to bounds.credentials." + name;
}

std::unique_ptr<Wire> wire_of(const TaskModel& task) {
  const bool chat = task.provider == "openai-chat" || task.provider == "local";
  return make_wire(chat ? "chat" : "responses", {.legacy_functions = task.legacy_functions});
}

/// The key of a fallback, which may be one that an earlier model of the run has too.
ModelKeys::Key key_of_fallback(const TaskModel& task, const std::vector<ModelKeys::Key>& earlier,
                               const CredentialBounds& bounds) {
  ModelKeys::Key key{.variable = key_variable_of(task)};
  const Endpoint endpoint = endpoint_of_fallback(task);
  const auto same = std::find_if(earlier.begin(), earlier.end(), [&](const auto& other) {
    return other.variable == key.variable && other.value;
  });
  if (same != earlier.end()) {
    if (!key_may_go(key.variable, endpoint, bounds))
      throw Error(not_for_host(key.variable, endpoint), ExitCode::usage);
    key.value = same->value;
  } else if (!variable(key.variable.c_str()).empty()) {
    key.value = find_api_key({.variable = key.variable}, endpoint, bounds);
  } else if (!is_loopback_host(endpoint.base.host)) {
    key.missing = "the variable " + key.variable + " has no key";
  }
  return key;
}

}  // namespace

void check_fallbacks(const RunInputs& inputs) {
  if (replays(inputs)) return;
  const ProxySettings proxy = proxy_of_environment();
  for (const TaskModel& task : inputs.task.model.fallback) {
    const Endpoint endpoint = endpoint_of_fallback(task);
    proxy_for(proxy, endpoint.base);
    request_headers("", "", task.headers);
    const std::string name = key_variable_of(task);
    if (!variable(name.c_str()).empty() && !key_may_go(name, endpoint, inputs.policy.credentials))
      throw InputError(not_for_host(name, endpoint));
  }
}

std::vector<std::string> key_variables(const RunInputs& inputs) {
  std::vector<std::string> names = {key_variable(inputs)};
  for (const TaskModel& task : inputs.task.model.fallback) names.push_back(key_variable_of(task));
  return names;
}

ModelKeys take_model_keys(const RunInputs& inputs, const RunOptions& options) {
  ModelKeys taken;
  taken.keys.push_back({.variable = key_variable(inputs), .value = take_key(inputs, options)});
  for (const TaskModel& task : inputs.task.model.fallback) {
    if (replays(inputs))
      take_environment_key(key_variable_of(task));  // not needed, so not kept either
    else
      taken.keys.push_back(key_of_fallback(task, taken.keys, inputs.policy.credentials));
  }
  return taken;
}

bool knows_free_text_tools(const std::string& model) { return model.starts_with("gpt-5"); }

void apply_model(const TaskModel& model, ModelSettings& settings) {
  settings.model = model.name;
  settings.effort = model.effort;
  settings.max_output_tokens = model.max_output_tokens;
  settings.temperature = model.temperature;
  settings.free_text_tools = knows_free_text_tools(model.name);
}

RunModels::RunModels(const Parts& parts) : retries_left_(kRetriesOfRun) {
  const TaskModel& first = parts.inputs.task.model;
  if (replays(parts.inputs)) {
    model_ = std::make_unique<ReplayModel>(
        parts.inputs.recorded, WireOptions{.legacy_functions = first.legacy_functions});
    return;
  }
  if (!parts.options.record.empty())
    recording_ = std::make_unique<Recording>(
        parts.options.record,
        [&redactor = parts.redactor](std::string_view text) { return redactor.text(text); });
  std::vector<FallbackModel::Candidate> candidates;
  candidates.push_back(
      {.name = name_of(first),
       .model = reach(parts, first, parts.keys.keys[0], endpoint_of(parts.inputs, parts.options))});
  for (std::size_t i = 0; i < first.fallback.size(); ++i) {
    const TaskModel& task = first.fallback[i];
    const ModelKeys::Key& key = parts.keys.keys[i + 1];
    if (!key.missing.empty()) {
      notes_.push_back("model.fallback: " + name_of(task) + " is left out: " + key.missing);
      continue;
    }
    candidates.push_back({.name = name_of(task),
                          .model = reach(parts, task, key, endpoint_of_fallback(task)),
                          .source = static_cast<int>(i) + 1,
                          .settings = [task](const ModelSettings& of_first) {
                            ModelSettings settings = of_first;
                            apply_model(task, settings);
                            return settings;
                          }});
  }
  model_ = std::make_unique<FallbackModel>(std::move(candidates));
}

RunModels::~RunModels() = default;

std::unique_ptr<Model> RunModels::reach(const Parts& parts, const TaskModel& task,
                                        const ModelKeys::Key& key, Endpoint endpoint) {
  HttpModelOptions options;
  options.headers = request_headers(key.value.value_or(""), parts.inputs.run_id, task.headers);
  options.endpoint = std::move(endpoint);
  options.limits.connect = task.connect_timeout;
  options.limits.first_byte = task.first_event_timeout;
  options.limits.idle = task.idle_timeout;
  options.limits.total = task.total_timeout;
  options.retries = task.retries;
  options.retries_left = &retries_left_;
  options.recording = recording_.get();
  wires_.push_back(wire_of(task));
  https_.push_back(std::make_unique<PocoHttp>(
      TrustedCertificates{variable("SSL_CERT_FILE"), variable("SSL_CERT_DIR")}, parts.proxy));
  return std::make_unique<HttpModel>(*wires_.back(), *https_.back(), parts.clock,
                                     std::move(options));
}

}  // namespace sortie
