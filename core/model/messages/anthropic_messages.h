#pragma once

#include "core/model/said.h"
#include "core/model/wire.h"

namespace sortie {

/// Anthropic's Messages format.
///
/// Items of one side in a row become one message with a content block each. A block is left open:
/// its closing brace is written by what follows, so that the tail can put `cache_control` onto the
/// last one (the last stable block; the other mark is on the system prompt) and the bytes before it
/// stay the same in the next request.
///
/// What the format asks for beyond that:
/// - outputs come first in a user's message, so a user's text waits for the outputs of all calls
///   before it;
/// - no text is blank: such a one is left out;
/// - thinking never ends an assistant's message: it goes back, as it came, with the block that it
///   led to, and is left out where there is none;
/// - a call's id is unique in the history, of at most 64 letters, digits, `_` and `-`: ids from
///   elsewhere are made so.
///
/// Free-text tools are functions of one string argument, `input`. An output schema is not sent:
/// which models and which keywords are taken differs too much; it is checked on our side.
///
/// Source: the provider's API reference, Messages, and its client libraries' types.
class AnthropicMessages : public Wire {
 public:
  std::string_view name() const override { return "messages"; }
  std::string path(std::string_view) const override { return "/v1/messages"; }
  HttpHeaders headers(const std::string& run_id) const override;
  bool has_tool(ToolCall::Form form) const override {
    return form == ToolCall::Form::function || form == ToolCall::Form::web_search;
  }
  std::string encode_head(const ModelSettings& settings) const override;
  std::unique_ptr<ItemWriter> item_writer(const ModelSettings& settings) const override;
  std::unique_ptr<WireDecoder> decoder(const ModelSettings& settings) const override;
  std::string stream_of(const RecordedResponse& response) const override;
  std::string stream_of_text(const std::string& text) const override;
};

/// Of a content block of this format; nothing where it is none.
std::optional<SaidList> said_in_messages(const Json& item);

}  // namespace sortie
