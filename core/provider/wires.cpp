#include "core/provider/wires.h"

#include <optional>

#include "core/model/chat/openai_chat.h"
#include "core/model/messages/anthropic_messages.h"
#include "core/model/responses/openai_responses.h"

namespace sortie {
namespace {

struct WireRow {
  std::string_view name;  ///< Wire::name()
  std::unique_ptr<Wire> (*make)(const WireOptions& options);
  std::optional<SaidList> (*said_in)(const Json& item);
};

std::unique_ptr<Wire> make_chat(const WireOptions& options) {
  return std::make_unique<OpenAiChat>(
      OpenAiChat::Options{.legacy_functions = options.legacy_functions, .source = options.source});
}
std::unique_ptr<Wire> make_responses(const WireOptions& options) {
  return std::make_unique<OpenAiResponses>(OpenAiResponses::Options{.chatgpt = options.chatgpt});
}
std::unique_ptr<Wire> make_messages(const WireOptions&) {
  return std::make_unique<AnthropicMessages>();
}

/// All of them. An item is read by the first that knows it as its own.
constexpr WireRow kWires[] = {
    {"chat", make_chat, said_in_chat},
    {"responses", make_responses, said_in_responses},
    {"messages", make_messages, said_in_messages},
};

}  // namespace

std::unique_ptr<Wire> make_wire(std::string_view name, const WireOptions& options) {
  for (const WireRow& row : kWires)
    if (row.name == name) return row.make(options);
  return nullptr;
}

SaidList said_in(const Json& item) {
  if (auto list = said_in_neutral(item)) return std::move(*list);
  for (const WireRow& row : kWires)
    if (auto list = row.said_in(item)) return std::move(*list);
  return {};
}

}  // namespace sortie
