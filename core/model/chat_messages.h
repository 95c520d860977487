#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/model/item.h"

namespace sortie {

/// How a history stands in the `messages` of a Chat Completions request.
struct ChatForm {
  bool legacy = false;  ///< `function_call` and role `function` in place of `tool_calls` and `tool`
  bool after_system = false;  ///< a system message stands before the items
};

/// Appends the messages of the items from `from` on.
///
/// What the model said in one response is one assistant message, `content` and `tool_calls`, left
/// open at its end: the next item of the response, the next message or chat_tail() closes it. So a
/// longer history only ever appends. After a message with calls the outputs have to follow at once:
/// what they can't hold (images) and text that came after the calls stands behind the last of them.
/// The older form has one call a message: each further one stands right before its output.
///
/// Reasoning, and what other providers did by themselves, is not told.
void write_chat_messages(const std::vector<Item>& items, std::size_t from, const ChatForm& form,
                         std::string& to);

/// Closes the last message, `messages` and the body.
std::string_view chat_tail(const std::vector<Item>& items, const ChatForm& form);

}  // namespace sortie
