#pragma once

#include <cstdint>
#include <string_view>

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

}  // namespace sortie
