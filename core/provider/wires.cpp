#include "core/provider/wires.h"

#include "core/model/chat/openai_chat.h"
#include "core/model/messages/anthropic_messages.h"
#include "core/model/responses/openai_responses.h"

namespace sortie {

std::unique_ptr<Wire> make_wire(std::string_view name, const WireOptions& options) {
  if (name == "responses")
    return std::make_unique<OpenAiResponses>(OpenAiResponses::Options{.chatgpt = options.chatgpt});
  if (name == "chat")
    return std::make_unique<OpenAiChat>(OpenAiChat::Options{
        .legacy_functions = options.legacy_functions, .source = options.source});
  if (name == "messages") return std::make_unique<AnthropicMessages>();
  return nullptr;
}

SaidList said_in(const Json& item) {
  for (const auto& read : {said_in_neutral, said_in_chat, said_in_responses, said_in_messages})
    if (auto list = read(item)) return std::move(*list);
  return {};
}

}  // namespace sortie
