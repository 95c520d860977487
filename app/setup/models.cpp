#include "app/setup/models.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <stop_token>

#include "app/inputs/run_inputs.h"
#include "app/inputs/tool_choice.h"
#include "core/base/error.h"
#include "core/base/own_variable.h"
#include "core/catalog/model_family.h"
#include "core/net/http_client.h"
#include "core/provider/fallback_model.h"
#include "core/provider/replay_model.h"
#include "core/provider/sign_in/credentials.h"
#include "core/provider/wires.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr int kRetriesOfRun = 20;

std::string name_of(const TaskModel& task) { return task.provider + " " + task.name; }

enum class Paid { by_key, by_sign_in };

std::unique_ptr<Wire> wire_of(std::string_view name, const TaskModel& task, Paid paid,
                              std::size_t source) {
  auto wire = make_wire(name, {.legacy_functions = task.legacy_functions,
                               .chatgpt = paid == Paid::by_sign_in,
                               .source = static_cast<int>(source)});
  if (!wire) throw Error("there is no wire format '" + one_line(name, 80) + "'", ExitCode::usage);
  return wire;
}

/// The values of the variables that may hold keys; each is read once, even if models share it.
std::map<std::string, std::optional<std::string>> take_variables(const RunInputs& inputs) {
  std::vector<std::string> names = key_variables(inputs);
  // A replay needs no keys, but their variables are erased too.
  if (!inputs.task.model.api_key_env.empty()) names.push_back(inputs.task.model.api_key_env);
  for (const TaskModel& task : inputs.task.model.fallback)
    if (!task.api_key_env.empty()) names.push_back(task.api_key_env);
  for (const ProviderInfo& provider : providers())
    if (!provider.key_variable.empty()) names.emplace_back(provider.key_variable);
  std::map<std::string, std::optional<std::string>> values;
  for (const std::string& name : names)
    if (values.count(name) == 0) values[name] = take_environment_key(name);
  return values;
}

/// A model without a key: fails for good, so that the next one takes over.
class WithoutKey : public Model {
 public:
  explicit WithoutKey(std::string why) : why_(std::move(why)) {}
  Response ask(const Request&, StreamSink&, std::chrono::steady_clock::time_point,
               std::stop_token) override {
    throw ModelError(why_, ExitCode::auth, "auth");
  }

 private:
  std::string why_;
};

/// Whether there is no key, and the server is not one on this machine.
bool lacks_key(const KeySources& sources, const ModelChoice& choice) {
  return !sources.taken && !sources.descriptor && sources.file.empty() &&
         !choice.endpoint.base.is_loopback();
}

/// The values of headers and query that a provider of codex's configuration has. A variable that is
/// not set, or blank, makes no header.
void take_extras(const ModelChoice& first,
                 const std::map<std::string, std::optional<std::string>>& variables,
                 const CredentialBounds& bounds, ModelKeys& taken) {
  const ProviderExtras& extras = first.model->extras;
  for (const auto& [header, value] : extras.secret_headers) {
    taken.headers.emplace_back(header, value);
    taken.of_requests.push_back({header, value.substr(value.find(' ') + 1)});
  }
  for (const auto& [header, variable] : extras.variable_headers) {
    const auto found = variables.find(variable);
    const std::string value(found == variables.end() || !found->second ? std::string_view()
                                                                       : trimmed(*found->second));
    if (value.empty()) continue;
    if (!is_header_value(value))
      throw InputError("the variable " + variable + ", for the header '" + header +
                       "', has control characters");
    if (!key_may_go(variable, first.endpoint, bounds))
      throw InputError("the policy does not let " + variable + " go to " +
                       first.endpoint.base.authority());
    taken.headers.emplace_back(header, value);
    taken.of_requests.push_back({variable, value});
  }
  for (const auto& [name, value] : extras.query)
    if (name != "api-version") taken.of_requests.push_back({name, value});
}

/// Whether one of the headers stands in for that of the key.
bool replaces_key(const HttpHeaders& headers, const ProviderInfo& provider) {
  return std::any_of(headers.begin(), headers.end(), [&provider](const auto& header) {
    return ascii_lower(header.first) == ascii_lower(provider.key_header);
  });
}

std::unique_ptr<HttpClient> make_client(const ProxySettings& proxy) {
  return std::make_unique<HttpClient>(
      TrustedCertificates{own_variable("SSL_CERT_FILE"), own_variable("SSL_CERT_DIR")}, proxy);
}

}  // namespace

ModelKeys take_model_keys(const RunInputs& inputs, const RunOptions& options) {
  auto variables = take_variables(inputs);
  ModelKeys taken;
  const auto choices = model_choices(inputs, options);
  if (!choices.empty()) take_extras(choices.front(), variables, inputs.policy.credentials, taken);
  for (const ModelChoice& choice : choices) {
    const bool first = taken.keys.empty();
    const bool unneeded = first && (choice.model->extras.key_optional ||
                                    replaces_key(taken.headers, *choice.provider));
    ModelKeys::Key key{.variable = choice.key_variable};
    KeySources sources{.variable = key.variable, .taken = variables[key.variable]};
    if (first) {
      sources.file = options.api_key_file;
      sources.descriptor = options.api_key_fd;
    } else if (key.variable == taken.keys.front().variable) {
      sources.taken = taken.keys.front().value;  // which may be from a file or descriptor
    }
    if (first && inputs.auth_file && !signs_in(inputs))
      sources.taken = take_key_of_auth_file(options);
    if (key.variable.empty() || (first && signs_in(inputs))) {
      // a provider that never gets one, or that gets the tokens of a sign-in
    } else if (lacks_key(sources, choice)) {
      if (!unneeded) key.missing = "the variable " + key.variable + " has no key";
    } else {
      key.value = find_api_key(sources, choice.endpoint, inputs.policy.credentials);
    }
    taken.keys.push_back(std::move(key));
  }
  const bool usable =
      taken.keys.empty() || std::any_of(taken.keys.begin(), taken.keys.end(),
                                        [](const auto& key) { return key.missing.empty(); });
  if (!usable)  // which says what can be done about it
    find_api_key({.variable = taken.keys.front().variable}, choices.front().endpoint,
                 inputs.policy.credentials);
  return taken;
}

std::future<void> prepare_model_tls(const RunInputs& inputs, const RunOptions& options) {
  if (replays(inputs)) return {};
  const auto choices = model_choices(inputs, options);
  if (choices.empty() || !choices.front().endpoint.target("").secure) return {};
  try {
    return std::async(std::launch::async, [] {
      // Signals are for the main thread.
      sigset_t all;
      ::sigfillset(&all);
      ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
      prepare_tls();
    });
  } catch (const std::system_error&) {  // no more threads: the connection takes longer
    return {};
  }
}

std::shared_ptr<Http> connect_to_model(const RunInputs& inputs, const RunOptions& options,
                                       const ModelKeys& keys, const ProxySettings& proxy) {
  if (replays(inputs) || keys.keys.empty() || !keys.keys.front().missing.empty()) return nullptr;
  const ModelChoice first = model_choices(inputs, options).front();
  std::shared_ptr<HttpClient> client = make_client(proxy);
  client->connect_early(first.endpoint.target(""), first.model->connect_timeout);
  return client;
}

void apply_model(const TaskModel& model, ModelSettings& settings) {
  settings.reasoning_summary = model.reasoning_summary;
  settings.model = model.name;
  settings.effort = name_of(model.effort);
  settings.max_output_tokens = model.max_output_tokens;
  if (settings.paid_output_tokens > 0)
    settings.max_output_tokens = std::min(settings.max_output_tokens, settings.paid_output_tokens);
  settings.temperature = model.temperature;
  settings.pin = settings.pin || model.pin;  // the first one's word for all
  settings.free_text_tools = takes_free_text_tools(model.provider, model.name);
}

namespace {

ModelSettings settings_of_fallback(const TaskModel& task, ModelSettings settings,
                                   std::string instructions) {
  apply_model(task, settings);
  settings.instructions = std::move(instructions);
  std::erase_if(settings.tools, [&task](const ToolSpec& tool) {
    if (tool.form == ToolCall::Form::web_search) return !offers_web_search(task);
    return tool.name == "view_image" && takes_images(task.provider, task.name) == TakesImages::no;
  });
  return settings;
}

}  // namespace

namespace {

/// Who calls `exec`, if it says so as codex's SDKs do: gateways tell callers apart by it.
void name_caller(HttpHeaders& headers) {
  const std::string caller = own_variable("CODEX_INTERNAL_ORIGINATOR_OVERRIDE");
  if (caller.empty() || !is_header_value(caller)) return;
  for (auto& [name, value] : headers)
    if (name == "originator") value = caller;
}

}  // namespace

RunModels::RunModels(const Parts& parts) : retries_left_(kRetriesOfRun) {
  const TaskModel& own = parts.inputs.task.model;
  if (replays(parts.inputs)) {
    model_ = std::make_unique<ReplayModel>(parts.inputs.recorded,
                                           WireOptions{.legacy_functions = own.legacy_functions});
    return;
  }
  if (!parts.options.record.empty())
    recording_ = std::make_unique<Recording>(parts.options.record,
                                             [&redactor = parts.redactor](std::string_view text) {
                                               return redactor.text(std::string(text));
                                             });
  // Those that an earlier process of the run has had: the recording is one of the whole run.
  if (recording_)
    for (const RecordedStream& stream : parts.inputs.recorded) recording_->add(stream);
  if (parts.inputs.rate_limits)
    rates_ =
        std::make_unique<RunRates>(*parts.inputs.rate_limits, parts.clock, parts.stop, parts.warn);
  std::vector<FallbackModel::Candidate> candidates;
  const auto choices = model_choices(parts.inputs, parts.options);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const TaskModel& task = *choices[i].model;
    const ModelKeys::Key& key = parts.keys.keys.at(i);
    if (!key.missing.empty() && i > 0) {
      notes_.push_back("model.fallback: " + name_of(task) + " is left out: " + key.missing);
      continue;
    }
    FallbackModel::Candidate candidate{.name = name_of(task),
                                       .model = key.missing.empty()
                                                    ? reach(parts, choices[i], key, i)
                                                    : std::make_unique<WithoutKey>(key.missing),
                                       .source = static_cast<int>(i)};
    candidate.takes_images = takes_images(task.provider, task.name) != TakesImages::no;
    if (i > 0)
      candidate.settings = [task, instructions = parts.instructions](const ModelSettings& first) {
        return settings_of_fallback(task, first, instructions(task));
      };
    candidates.push_back(std::move(candidate));
  }
  model_ = std::make_unique<FallbackModel>(std::move(candidates));
}

RunModels::~RunModels() = default;

std::unique_ptr<Model> RunModels::reach(const Parts& parts, const ModelChoice& choice,
                                        const ModelKeys::Key& key, std::size_t source) {
  const TaskModel& task = *choice.model;
  HttpModelOptions options;
  const HttpHeaders none;
  const HttpHeaders& secret = source == 0 ? parts.keys.headers : none;
  options.headers = request_headers(
      *choice.provider,
      replaces_key(secret, *choice.provider) ? std::string() : key.value.value_or(""),
      conversation_id(parts.inputs), task.headers);
  if (parts.inputs.thread != nullptr) name_caller(options.headers);
  options.headers.insert(options.headers.end(), secret.begin(), secret.end());
  options.endpoint = choice.endpoint;
  options.limits.connect = task.connect_timeout;
  options.limits.first_byte = task.first_event_timeout;
  options.limits.idle = task.idle_timeout;
  options.limits.total = task.total_timeout;
  options.retries = task.retries;
  options.retries_left = &retries_left_;
  options.recording = recording_.get();
  if (rates_) options.pacer = rates_->pacer_for(choice);
  const bool by_sign_in = parts.sign_in && &task == &parts.inputs.task.model;
  wires_.push_back(
      wire_of(choice.provider->wire, task, by_sign_in ? Paid::by_sign_in : Paid::by_key, source));
  options.stop_repetition = parts.inputs.task.checks.repetition == RepetitionCheck::stop;
  if (source == 0 && parts.connected != nullptr)
    https_.push_back(parts.connected);
  else
    https_.push_back(make_client(parts.proxy));
  if (by_sign_in) {
    sign_in_ = std::make_unique<SignIn>(*https_.back(), parts.clock, parts.sign_in->options,
                                        parts.sign_in->file);
    options.credential = sign_in_.get();
  }
  return std::make_unique<HttpModel>(*wires_.back(), *https_.back(), parts.clock,
                                     std::move(options));
}

}  // namespace sortie
