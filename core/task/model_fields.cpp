#include "core/task/task_fields.h"

#include <utility>

#include "core/base/own_headers.h"
#include "core/catalog/providers.h"
#include "core/host/host.h"
#include "core/host/url.h"
#include "core/task/referenced_files.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr double kHighestPrice = 100'000;
constexpr std::size_t kMaxFallbacks = 8;

FieldValue fallback_value(std::vector<TaskModel>& target, const std::filesystem::path& folder);

Fields timeout_fields(TaskModel& model) {
  return Fields("timeout")
      .add("connect", duration_value(model.connect_timeout, 1ms, kLongestTimeout),
           "Time to connect.")
      .add("first_event", duration_value(model.first_event_timeout, 1ms, kLongestTimeout),
           "Time until the first event of a response.")
      .add("idle", duration_value(model.idle_timeout, 1ms, kLongestTimeout),
           "Time between two events.")
      .add("total", duration_value(model.total_timeout, 1ms, kLongestTimeout),
           "Time of one whole request.");
}

/// Headers sent with each request; those that sortie itself writes can't be set.
FieldValue headers_value(std::map<std::string, std::string>& target) {
  static constexpr TextLimits kName = {.pattern = "[A-Za-z0-9!#$%&'*+.^_`|~-]+",
                                       .meaning = "the name of an HTTP header"};
  static constexpr TextLimits kValue = {.pattern = R"([^\x00-\x08\x0a-\x1f\x7f]*)",
                                        .meaning = "one line of text",
                                        .may_be_empty = true};
  FieldValue value = text_map_value(target, kName, kValue);
  value.read = [read = std::move(value.read)](const YamlNode& node, const std::string& name,
                                              Diagnostics& findings) {
    read(node, name, findings);
    for (const auto& member : node.members)
      if (is_own_header(member.key.text))
        findings.error(member.key.place, "header '" + one_line(member.key.text, 80) +
                                             "' can't be set by the task: it carries a credential, "
                                             "an account, or what sortie itself writes");
  };
  return value;
}

/// Checks the host's syntax here, where a finding can show the line; the policy is checked later.
FieldValue base_url_value(std::string& target) {
  FieldValue value = text_value(
      target, {.pattern = R"(https?://[^\s/?#@]+(/[^\s?#]*)?(\?api-version=[A-Za-z0-9.-]+)?)",
               .meaning = "an http:// or https:// address without user and query (but for azure's "
                          "api-version)"});
  value.read = [read = std::move(value.read), &target](
                   const YamlNode& node, const std::string& name, Diagnostics& findings) {
    const std::size_t before = findings.findings().size();
    read(node, name, findings);
    if (target.empty() || findings.findings().size() != before) return;
    const AuthorityReading reading = read_authority(url_authority(target), 443);
    if (!reading.authority) findings.error(node.place, "'" + name + "': " + reading.problem);
  };
  return value;
}

/// USD per million tokens.
FieldValue price_value(std::optional<ModelPrice>& target) {
  const auto fields = [](ModelPrice& price) {
    Fields table("price");
    table.require("input", real_value(price.input, 0, kHighestPrice), "Uncached input.")
        .add("cached_input", real_value(price.cached_input, 0, kHighestPrice),
             "Input that the provider had cached; by default as input.")
        .add("cache_write", real_value(price.cache_write, 0, kHighestPrice),
             "Input that is written to the cache; by default as input.")
        .require("output", real_value(price.output, 0, kHighestPrice),
                 "Output, including reasoning.");
    return table;
  };
  return {
      .schema =
          [fields] {
            ModelPrice any;
            return fields(any).schema();
          },
      .read =
          [&target, fields](const YamlNode& node, const std::string& name, Diagnostics& findings) {
            ModelPrice price;
            mapping_value(fields(price)).read(node, name, findings);
            target = price;
          },
      .write = [&target, fields] { return target ? fields(*target).write() : Json(); }};
}

/// The keys of `model`, and of an entry of its `fallback`.
Fields model_fields(TaskModel& model, const std::filesystem::path& folder, bool is_fallback) {
  std::vector<std::string> names;
  for (const ProviderInfo& provider : providers()) names.emplace_back(provider.name);
  if (!is_fallback) names.emplace_back("replay");
  Fields fields(is_fallback ? "fallback" : "model");
  fields.add("provider", choice_value(model.provider, std::move(names)),
             "The provider and its wire format; replay answers from a recorded cassette.");
  FieldValue name =
      text_value(model.name, {.pattern = "[!-~]{1,200}", .meaning = "a model's name"});
  if (is_fallback)
    fields.require("name", std::move(name), "The model.");
  else
    fields.add("name", std::move(name), "The model.");
  fields
      .add("effort", enum_value(model.effort),
           "Reasoning effort, passed on as it is; not every model has all of them.")
      .add("base_url", base_url_value(model.base_url),
           "Any compatible server; the policy says which host may get which key.")
      .add("api_key_env", text_value(model.api_key_env, kVariableName),
           "Environment variable with the key; by default the provider's own.")
      .add("max_output_tokens", integer_value(model.max_output_tokens, 1, 10'000'000),
           "Limit of one response.")
      .add("temperature", real_value(model.temperature, 0, 2), "Not sent unless given.")
      .add("context_window", integer_value(model.context_window, 1000, 100'000'000),
           "Tokens that fit into one request; by default what sortie knows about the model.")
      .add("price", price_value(model.price),
           "USD per million tokens; by default what sortie knows about the model.")
      .add("timeout", mapping_value(timeout_fields(model)), "How long a request may take.")
      .add("retries", integer_value(model.retries, 0, 100), "Retries of one request.")
      .add("headers", headers_value(model.headers), "Sent with each request.")
      .add(
          "legacy_functions", boolean_value(model.legacy_functions),
          "Chat Completions with `functions` and `function_call`, for servers that know nothing newer.");
  if (is_fallback) return fields;
  fields
      .add("cassette", path_value(model.cassette, folder),
           "The recorded responses of provider replay, relative to the task file.")
      .add("fallback", fallback_value(model.fallback, folder),
           "Models to fall back to, one after another, when the one before has failed for good.")
      .add("pin", boolean_value(model.pin),
           "It is an error if the served model is not the requested one, or changes.");
  return fields;
}

FieldValue fallback_value(std::vector<TaskModel>& target, const std::filesystem::path& folder) {
  return {
      .schema =
          [folder] {
            TaskModel any;
            return Json::object({{"type", "array"},
                                 {"items", model_fields(any, folder, true).schema()},
                                 {"maxItems", static_cast<std::int64_t>(kMaxFallbacks)}});
          },
      .read =
          [&target, folder](const YamlNode& node, const std::string& name, Diagnostics& findings) {
            if (!check_list(node, name, "a list of models", findings)) return;
            if (node.items.size() > kMaxFallbacks)
              findings.error(node.place, "'fallback' has more than " +
                                             std::to_string(kMaxFallbacks) + " models");
            for (const auto& item : node.items) {
              TaskModel model;
              model.name.clear();
              mapping_value(model_fields(model, folder, true)).read(item, "fallback", findings);
              target.push_back(std::move(model));
            }
          },
      .write =
          [&target, folder] {
            Json list = Json::array();
            for (TaskModel& model : target)
              list.push_back(model_fields(model, folder, true).write());
            return list;
          }};
}

}  // namespace

FieldValue model_value(TaskModel& model, const std::filesystem::path& folder) {
  return mapping_value(model_fields(model, folder, false));
}

}  // namespace sortie
