#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// Models that were taught alike, and so are briefed alike.
enum class ModelFamily {
  codex,   ///< gpt-5 and codex: taught to patch in free text
  openai,  ///< OpenAI's others
  claude,
  other,  ///< unknown, and what runs on a server of one's own
};

/// What is known of a provider by its name.
struct ProviderInfo {
  std::string_view name;                    ///< in tasks and of --provider
  std::string_view wire;                    ///< Wire::name()
  std::string_view default_base;            ///< "": an address has to be given
  std::string_view key_variable;            ///< "": it has no key, and none is ever sent
  std::string_view key_header;              ///< the header that carries the key
  std::string_view key_prefix;              ///< what stands before the key in it
  std::string_view vendor;                  ///< whose names it knows (KnownModels); "" its own
  bool vendor_prices = true;                ///< it has the vendor's price list
  ModelFamily family = ModelFamily::other;  ///< of models whose name says nothing
  /// Variables that name its address for the vendor's own programs, the first that is set; "": none
  std::array<std::string_view, 2> address_variables{};
};

/// All of them but "replay", the default one first.
const std::vector<ProviderInfo>& providers();

/// nullptr for "replay" and what is none.
const ProviderInfo* find_provider(std::string_view name);
/// @throws InputError  with the nearest name that there is
const ProviderInfo& provider_named(std::string_view name);

}  // namespace sortie
