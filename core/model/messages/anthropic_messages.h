#pragma once

#include "core/model/wire.h"

namespace sortie {

/// Anthropic's Messages format.
///
/// Successive items of one side become one message with a content block each. The last block is
/// left open: whatever follows writes its closing brace, so that the tail can mark the block with
/// `cache_control` (the other mark is on the system prompt) while the bytes before it stay the same
/// in the next request.
///
/// Other rules of the format:
/// - outputs come first in a user's message, so a user's text waits for the outputs of all calls
///   before it;
/// - no text is blank: blank texts are left out;
/// - thinking never ends an assistant's message: it is sent back unchanged with the block that it
///   led to, and left out if there is none;
/// - a call's id is unique in the history, with at most 64 letters, digits, `_` and `-`: other ids
///   are converted.
///
/// Free-text tools are functions with one string argument, `input`. An output schema is not sent,
/// since models differ too much in the keywords they accept; sortie checks the answer itself.
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

/// Reads a content block of this format; nothing for other items.
std::optional<SaidList> said_in_messages(const Json& item);

}  // namespace sortie
