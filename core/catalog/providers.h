#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// Models that were trained alike, and so get the same instructions.
enum class ModelFamily {
  codex,   ///< gpt-5 and codex: trained on free-text patches
  openai,  ///< OpenAI's other models
  claude,
  other,  ///< unknown and self-hosted models
};

/// The properties of a provider.
struct ProviderInfo {
  std::string_view name;                    ///< in tasks and for --provider
  std::string_view wire;                    ///< Wire::name()
  std::string_view default_base;            ///< "": an address must be given
  std::string_view key_variable;            ///< "": it needs no key, and gets none
  std::string_view key_header;              ///< the header with the key
  std::string_view key_prefix;              ///< precedes the key in the header
  std::string_view vendor;                  ///< the vendor of its models (KnownModels); "": none
  bool vendor_prices = true;                ///< the vendor's price list applies
  ModelFamily family = ModelFamily::other;  ///< of models whose name says nothing
  /// Variables in which the vendor's own programs get the address; the first that is set counts
  std::array<std::string_view, 2> address_variables{};
};

/// All providers except "replay", the default one first.
const std::vector<ProviderInfo>& providers();

/// nullptr for "replay" and unknown names.
const ProviderInfo* find_provider(std::string_view name);
/// @throws InputError  for an unknown name, with the nearest known one
const ProviderInfo& provider_named(std::string_view name);

}  // namespace sortie
