#pragma once

#include <memory>

#include "core/model/wire.h"

namespace sortie {

/// How items are written as `messages` of a Chat Completions request.
struct ChatForm {
  bool legacy = false;  ///< `function_call` and role `function` instead of `tool_calls` and `tool`
  bool after_system = false;  ///< a system message precedes the items
};

/// Writes items as `messages`.
///
/// A response becomes one assistant message with `content` and `tool_calls`, left open at its end:
/// the next item, the next message or the tail closes it, so that a longer history only appends.
/// The outputs must follow a message with calls at once; images and text after the calls follow the
/// last output. The older form has one call a message: each further call precedes its output.
///
/// Reasoning and other providers' items are not sent.
std::unique_ptr<ItemWriter> chat_item_writer(const ChatForm& form);

}  // namespace sortie
