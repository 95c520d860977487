#include "core/catalog/providers.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/text/text.h"

namespace sortie {

const std::vector<ProviderInfo>& providers() {
  static const std::vector<ProviderInfo> table = {
      {.name = "openai",
       .wire = "responses",
       .default_base = "https://api.openai.com/v1",
       .key_variable = "OPENAI_API_KEY",
       .key_header = "Authorization",
       .key_prefix = "Bearer ",
       .vendor = "openai",
       .family = ModelFamily::openai,
       .address_variables = {"OPENAI_BASE_URL", "OPENAI_API_BASE"}},
      {.name = "openai-chat",
       .wire = "chat",
       .default_base = "https://api.openai.com/v1",
       .key_variable = "OPENAI_API_KEY",
       .key_header = "Authorization",
       .key_prefix = "Bearer ",
       .vendor = "openai",
       .address_variables = {"OPENAI_BASE_URL", "OPENAI_API_BASE"}},
      {.name = "anthropic",
       .wire = "messages",
       .default_base = "https://api.anthropic.com",
       .key_variable = "ANTHROPIC_API_KEY",
       .key_header = "x-api-key",
       .vendor = "anthropic",
       .family = ModelFamily::claude,
       .address_variables = {"ANTHROPIC_BASE_URL"}},
      {.name = "azure",
       .wire = "responses",
       .key_variable = "AZURE_OPENAI_API_KEY",
       .key_header = "api-key",
       .vendor = "openai",
       .vendor_prices = false,
       .family = ModelFamily::openai,  // a deployment has any name
       .address_variables = {"AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_BASE_URL"}},
      {.name = "local", .wire = "chat", .default_base = "http://127.0.0.1:11434/v1"},
  };
  return table;
}

const ProviderInfo* find_provider(std::string_view name) {
  const auto& all = providers();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [name](const ProviderInfo& each) { return each.name == name; });
  return found == all.end() ? nullptr : &*found;
}

const ProviderInfo& provider_named(std::string_view name) {
  if (const ProviderInfo* found = find_provider(name)) return *found;
  std::vector<std::string> names;
  for (const ProviderInfo& provider : providers()) names.emplace_back(provider.name);
  std::string text = "unknown provider '" + one_line(name, 80) + "'";
  const std::string nearest = nearest_name(std::string(name), names);
  throw InputError(nearest.empty() ? text : text + "; did you mean '" + nearest + "'?");
}

}  // namespace sortie
