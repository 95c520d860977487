#pragma once

#include <atomic>

#include "core/model/wire.h"

namespace sortie {

/// OpenAI's Chat Completions format, as it and many other servers speak it.
///
/// Items are not sent back in the bytes received: content and calls say everything. Reasoning is
/// not sent back. Free-text tools are declared as functions with one argument, `input`, and their
/// calls converted back to free text. The format has no tools of the provider.
///
/// Source: the provider's OpenAPI schemas, CreateChatCompletionRequest and
/// CreateChatCompletionStreamResponse.
class OpenAiChat : public Wire {
 public:
  struct Options {
    /// The older form: `functions`, `function_call`, role `function`, one call a response.
    bool legacy_functions = false;
    /// The model's place in the run: makes call ids unique in the run.
    int source = 0;
  };

  OpenAiChat() = default;
  explicit OpenAiChat(Options options) : options_(options) {}
  std::string_view name() const override { return "chat"; }
  std::string path(std::string_view) const override { return "/chat/completions"; }
  HttpHeaders headers(const std::string& run_id) const override;
  bool has_tool(ToolCall::Form form) const override { return form == ToolCall::Form::function; }
  std::string encode_head(const ModelSettings& settings) const override;
  std::unique_ptr<ItemWriter> item_writer(const ModelSettings& settings) const override;
  std::unique_ptr<WireDecoder> decoder(const ModelSettings& settings) const override;
  std::string stream_of(const RecordedResponse& response) const override;
  std::string stream_of_text(const std::string& text) const override;

 private:
  Options options_;
  /// For calls without an id, as those of the older form: counted, so that a replay makes the same
  /// ones.
  mutable std::atomic<std::uint64_t> calls_ = 0;
};

/// Reads one assistant message of this format; nothing for other items.
std::optional<SaidList> said_in_chat(const Json& item);

}  // namespace sortie
