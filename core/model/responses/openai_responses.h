#pragma once

#include "core/model/wire.h"

namespace sortie {

/// OpenAI's Responses format.
///
/// An item that can't be used is in Response::findings and Response::output, but not in
/// Response::items. All other items, reasoning included, are sent back in the bytes received.
///
/// Source: the provider's OpenAPI schemas, CreateResponse and ResponseStreamEvent.
class OpenAiResponses : public Wire {
 public:
  struct Options {
    /// ChatGPT sign-in: its servers refuse `max_output_tokens` and `temperature`.
    bool chatgpt = false;
  };

  OpenAiResponses() = default;
  explicit OpenAiResponses(Options options) : options_(options) {}
  std::string_view name() const override { return "responses"; }
  std::string path(std::string_view) const override { return "/responses"; }
  HttpHeaders headers(const std::string& run_id) const override;
  bool has_tool(ToolCall::Form) const override { return true; }
  std::string encode_head(const ModelSettings& settings) const override;
  std::unique_ptr<ItemWriter> item_writer(const ModelSettings& settings) const override;
  std::unique_ptr<WireDecoder> decoder(const ModelSettings& settings) const override;
  std::string stream_of(const RecordedResponse& response) const override;
  std::string stream_of_text(const std::string& text) const override;

 private:
  Options options_;
};

/// Reads an output item of this format; nothing for other items.
std::optional<SaidList> said_in_responses(const Json& item);

}  // namespace sortie
