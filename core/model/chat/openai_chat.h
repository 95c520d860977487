#pragma once

#include <atomic>

#include "core/model/said.h"
#include "core/model/wire.h"

namespace sortie {

/// OpenAI's Chat Completions format, as it and many other servers speak it.
///
/// No item goes back in the bytes it came in: a message's content and calls say it all. Reasoning
/// is not handed back. Free-text tools are declared as functions with the one argument `input`, and
/// their calls read back as free text; a provider's own tools are not to be had here.
///
/// Source: the provider's OpenAPI schemas, CreateChatCompletionRequest and
/// CreateChatCompletionStreamResponse.
class OpenAiChat : public Wire {
 public:
  struct Options {
    /// The older form: `functions`, `function_call`, role `function`, one call a response.
    bool legacy_functions = false;
    /// How many models of the run come before: call ids that are made here are of the whole run.
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
  /// Calls of the older form have no id: ours are counted, so that a replay gives the same. It is
  /// no part of what is sent.
  mutable std::atomic<std::uint64_t> calls_ = 0;
};

/// Of one assistant message of this format; nothing where it is none.
std::optional<SaidList> said_in_chat(const Json& item);

}  // namespace sortie
