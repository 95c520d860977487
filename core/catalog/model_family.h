#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/catalog/item.h"
#include "core/catalog/providers.h"
#include "core/json/json.h"

namespace sortie {

/// How the Messages format differs between models, by the version in the name.
struct ClaudeModel {
  enum class Thinking {
    none,      ///< before 3.7
    budget,    ///< 3.7 to 4.5: `budget_tokens`
    adaptive,  ///< from 4.6 on: the model decides, guided by `output_config.effort`
  };
  Thinking thinking = Thinking::budget;
  bool omits_thinking = false;         ///< shows its thinking only on request (from 4.7 on)
  bool takes_temperature = true;       ///< false from 4.7 on
  std::int64_t max_output_tokens = 0;  ///< more is refused; 0: unknown
};

/// Reads "claude-opus-4-1-20250805", "claude-3-5-haiku-latest", "anthropic.claude-sonnet-4.5".
/// A name without a version counts as the newest. Models with other names, on other servers of this
/// format, get `budget`, which most of them accept.
ClaudeModel claude_model(std::string_view name);

/// The members `thinking` and `output_config` of a request; null: not sent.
struct ThinkingConfig {
  Json thinking{};
  Json output_config{};
};

/// The thinking settings for an effort:
///
/// | effort | budget_tokens | adaptive |
/// |---|---|---|
/// | "" | no thinking | the provider's default |
/// | none, minimal | no thinking | no thinking, effort low |
/// | low | 4,096 | effort low |
/// | medium | 12,288 | effort medium |
/// | high | 24,576 | effort high |
/// | xhigh | 49,152 | effort xhigh from 4.7 on, else high |
/// | max | the most | effort max |
///
/// A budget is at most three quarters of `max_tokens`, which includes it. If that is less than the
/// format's minimum, 1,024, there is no thinking.
ThinkingConfig thinking_config(const ClaudeModel& model, std::string_view effort,
                               std::int64_t max_tokens);

/// Whether the name is one of OpenAI's reasoning models: gpt-5 and later (not gpt-5-chat), codex,
/// the o series.
bool is_openai_reasoning_model(std::string_view model) noexcept;
/// Whether it is a model of OpenAI that does not reason.
bool is_openai_plain_model(std::string_view model) noexcept;

/// Whether it was trained with the shell tool `local_shell`; other models are not offered it.
bool knows_local_shell(std::string_view model) noexcept;

/// "data:image/png;base64,…" (RFC 2397).
std::string data_url(const Image& image);

/// Whether a model accepts images.
enum class TakesImages { yes, no, unknown };

/// The family by the model's name, with or without a vendor's prefix ("openai/gpt-4.1"), else by
/// the provider.
ModelFamily family_of(std::string_view provider, std::string_view model);

/// Whether the model accepts free-text tools through this provider: models trained on the grammar,
/// on the Responses wire.
bool takes_free_text_tools(std::string_view provider, std::string_view model);

/// By the model's name; if that says nothing: yes for OpenAI, Azure and Anthropic, and for a
/// recording, unknown for others.
TakesImages takes_images(std::string_view provider, std::string_view model);

}  // namespace sortie
