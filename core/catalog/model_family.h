#pragma once

#include <string_view>

namespace sortie {

/// Models that were taught alike, and so are briefed alike.
enum class ModelFamily {
  codex,   ///< gpt-5 and codex: taught to patch in free text
  openai,  ///< OpenAI's others
  claude,
  other,  ///< unknown, and what runs on a server of one's own
};

/// Whether a model takes images in its input, as far as that is known.
enum class TakesImages { yes, no, unknown };

/// By the model's name, also behind a vendor's prefix ("openai/gpt-4.1"); where that says nothing
/// by the provider.
ModelFamily family_of(std::string_view provider, std::string_view model);

/// Whether the model takes tools of free text where it is reached through this provider: those that
/// were taught the grammar, on the Responses wire.
bool takes_free_text_tools(std::string_view provider, std::string_view model);

/// By the model's name; where that says nothing: models of OpenAI, Azure and Anthropic do, of
/// others it is not known. A recording may be of any: yes.
TakesImages takes_images(std::string_view provider, std::string_view model);

}  // namespace sortie
