#include "app/init/first_model.h"

#include "core/base/error.h"
#include "core/catalog/providers.h"
#include "core/host/url.h"
#include "core/json/json.h"

namespace sortie {
namespace {

constexpr const char* kClaude = "claude-sonnet-4-5";

/// The address without the query that azure's may have.
Url address_of(const std::string& base_url) {
  return parse_url(base_url.substr(0, base_url.find('?')));
}

}  // namespace

FirstModel first_model(const std::string& provider, const std::string& name,
                       const std::string& base_url) {
  const ProviderInfo& info = provider.empty() ? providers().front() : provider_named(provider);
  FirstModel model{std::string(info.name), name, base_url, std::string(info.key_variable)};
  if (model.name.empty() && info.name == "anthropic") model.name = kClaude;
  const std::string what = "--provider " + model.provider;
  if (model.name.empty() && (info.vendor.empty() || info.default_base.empty()))
    throw InputError(what + " needs --model: no name is known that its server has");
  if (base_url.empty() && info.default_base.empty())
    throw InputError(what + " needs --base-url: its address is your own");
  if (!base_url.empty()) address_of(base_url);
  return model;
}

std::string model_lines(const FirstModel& model) {
  const bool is_default =
      model.provider == providers().front().name && model.name.empty() && model.base_url.empty();
  if (is_default)
    return "# The model is OpenAI's, with the key in OPENAI_API_KEY. For another one "
           "(docs/models.md):\n"
           "# model: {provider: anthropic, name: " +
           std::string(kClaude) +
           "}       # ANTHROPIC_API_KEY\n"
           "# model: {provider: local, name: NAME, base_url: \"http://127.0.0.1:11434/v1\"}\n";
  const auto member = [](const char* key, const std::string& value) {
    return value.empty() ? "" : std::string(", ") + key + ": " + write_json(Json(value));
  };
  return (model.key_variable.empty()
              ? "# It needs no key (docs/models.md).\n"
              : "# Its key is in " + model.key_variable + " (docs/models.md).\n") +
         "model: {provider: " + model.provider + member("name", model.name) +
         member("base_url", model.base_url) + "}\n";
}

std::string model_bounds(const FirstModel& model) {
  if (model.base_url.empty()) return "";
  const Url address = address_of(model.base_url);
  if (address.is_loopback()) return "";
  const std::string host =
      write_json(Json((address.secure ? "" : "http://") + address.authority()));
  if (!model.key_variable.empty())
    return "\n# The only host that gets the model's key.\nbounds:\n  credentials:\n    " +
           model.key_variable + ": [" + host + "]\n";
  return "\n# Where the model is.\nbounds:\n  model_hosts: [" +
         write_json(Json(address.authority())) + "]\n";
}

}  // namespace sortie
