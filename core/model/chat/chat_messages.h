#pragma once

#include <memory>

#include "core/model/wire.h"

namespace sortie {

/// How a history stands in the `messages` of a Chat Completions request.
struct ChatForm {
  bool legacy = false;  ///< `function_call` and role `function` in place of `tool_calls` and `tool`
  bool after_system = false;  ///< a system message stands before the items
};

/// A writer of items as `messages`.
///
/// What the model said in one response is one assistant message, `content` and `tool_calls`, left
/// open at its end: the next item of the response, the next message or the tail closes it. So a
/// longer history only ever appends. After a message with calls the outputs have to follow at once:
/// what they can't hold (images) and text that came after the calls stands behind the last of them.
/// The older form has one call a message: each further one stands right before its output.
///
/// Reasoning, and what other providers did by themselves, is not told.
std::unique_ptr<ItemWriter> chat_item_writer(const ChatForm& form);

}  // namespace sortie
