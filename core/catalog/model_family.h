#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/catalog/item.h"
#include "core/catalog/providers.h"
#include "core/json/json.h"

namespace sortie {

/// What the Messages format differs in from model to model, by the name's version.
struct ClaudeModel {
  enum class Thinking {
    none,      ///< before 3.7
    budget,    ///< 3.7 to 4.5: `budget_tokens`
    adaptive,  ///< from 4.6 on: it decides by itself, as hard as `output_config.effort` says
  };
  Thinking thinking = Thinking::budget;
  bool omits_thinking = false;         ///< shows its thoughts only where asked to (from 4.7 on)
  bool takes_temperature = true;       ///< from 4.7 on it is refused
  std::int64_t max_output_tokens = 0;  ///< more is refused; 0: not known
};

/// Reads "claude-opus-4-1-20250805", "claude-3-5-haiku-latest", "anthropic.claude-sonnet-4.5".
/// A claude without a version counts as the newest. Of other names, on servers that speak the
/// format, nothing is known: they get the budget, which most of them take.
ClaudeModel claude_model(std::string_view name);

/// How a model is told to think: `thinking` and `output_config` of a request, null for neither.
struct ThinkingConfig {
  Json thinking{};
  Json output_config{};
};

/// What stands for an effort.
///
/// | effort | budget_tokens | adaptive |
/// |---|---|---|
/// | "" | no thinking | as the provider has it |
/// | minimal | no thinking | no thinking, effort low |
/// | low | 4,096 | effort low |
/// | medium | 12,288 | effort medium |
/// | high | 24,576 | effort high |
///
/// A budget is at most three quarters of `max_tokens`, which it counts towards; where that is less
/// than the format's least, 1,024, there is no thinking.
ThinkingConfig thinking_config(const ClaudeModel& model, std::string_view effort,
                               std::int64_t max_tokens);

/// Whether the name is one of OpenAI's reasoning models: gpt-5 and later (not gpt-5-chat), codex,
/// the o series.
bool is_openai_reasoning_model(std::string_view model) noexcept;
/// Whether it is a model of OpenAI's that does not reason.
bool is_openai_plain_model(std::string_view model) noexcept;

/// Whether it was trained with the shell tool `local_shell`, which no other model is offered.
bool knows_local_shell(std::string_view model) noexcept;

/// "data:image/png;base64,…" (RFC 2397).
std::string data_url(const Image& image);

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
