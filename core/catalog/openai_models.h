#pragma once

#include <string>
#include <string_view>

#include "core/catalog/item.h"

namespace sortie {

/// Whether the name is one of OpenAI's reasoning models: gpt-5 and later (not gpt-5-chat), codex,
/// the o series.
bool is_openai_reasoning_model(std::string_view model) noexcept;
/// Whether it is a model of OpenAI's that does not reason.
bool is_openai_plain_model(std::string_view model) noexcept;

/// Whether it was trained with the shell tool `local_shell`, which no other model is offered.
bool knows_local_shell(std::string_view model) noexcept;

/// "data:image/png;base64,…" (RFC 2397).
std::string data_url(const Image& image);

}  // namespace sortie
