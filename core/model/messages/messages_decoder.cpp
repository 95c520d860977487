#include "core/model/messages/messages_decoder.h"

#include <algorithm>
#include <utility>

#include "core/model/escaped_text.h"
#include "core/model/messages/messages_delta.h"
#include "core/model/token_count.h"
#include "core/text/text.h"

namespace sortie {

namespace {

/// What the response is made of; all else (pings, what is not known) is passed over.
bool is_known(std::string_view type) {
  constexpr std::string_view kKnown[] = {"message_start",
                                         "content_block_start",
                                         "content_block_delta",
                                         "content_block_stop",
                                         "message_delta",
                                         "message_stop",
                                         "error"};
  return std::find(std::begin(kKnown), std::end(kKnown), type) != std::end(kKnown);
}

/// The provider counts what it read from and wrote into its cache apart from other input.
std::optional<Usage> usage_of(const Json& usage) {
  if (!usage.is_object()) return std::nullopt;
  const std::int64_t cached = token_count(usage, "cache_read_input_tokens");
  const std::int64_t written = token_count(usage, "cache_creation_input_tokens");
  return Usage{
      .input_tokens = token_count(usage, "input_tokens") + cached + written,
      .cached_input_tokens = cached,
      .output_tokens = token_count(usage, "output_tokens"),
      .reasoning_output_tokens = token_count(usage["output_tokens_details"], "thinking_tokens"),
      .cache_write_input_tokens = written};
}

}  // namespace

WireDecoder::State MessagesDecoder::read(const SseEvent& event) {
  if (state_ != State::going_on) return state_;
  if (!event.name.empty() && !is_known(event.name)) return state_;
  if (const auto delta = read_messages_delta(event.data)) {
    add(delta->index, delta->type, delta->escaped);
    return state_;
  }
  try {
    Json json = parse_json(event.data);
    const std::string type = json.string_at("type", event.name);
    if (is_known(type) && !grow(event.data.size())) return state_;
    read_event(type, json);
  } catch (const JsonError& error) {
    malformed(std::string("an event of the stream is no JSON: ") + error.what() + " at byte " +
              std::to_string(error.offset()));
  }
  return state_;
}

std::string MessagesDecoder::message_so_far() const {
  std::string message;
  for (const auto& [index, block] : blocks_) {
    message += block.start.string_at("text");
    try {
      message += unescaped_text(block.text);
    } catch (const JsonError&) {
      // Half of it is no text; the rest is worth having.
    }
  }
  return message;
}

void MessagesDecoder::read_event(std::string_view type, Json& event) {
  if (type == "message_start") {
    const Json& message = event["message"];
    response_.id = message.string_at("id", response_.id);
    response_.served_model = message.string_at("model", response_.served_model);
    take_usage(message["usage"]);
  } else if (type == "content_block_start") {
    start_block(event);
  } else if (type == "content_block_delta") {
    read_delta(event);
  } else if (type == "content_block_stop") {
    const auto block = blocks_.find(event.integer_at("index"));
    if (block != blocks_.end()) block->second.ended = true;
  } else if (type == "message_delta") {
    const Json& delta = event["delta"];
    stop_reason_ = delta.string_at("stop_reason", stop_reason_);
    if (delta["stop_details"].is_object()) stop_details_ = delta["stop_details"];
    take_usage(event["usage"]);
  } else if (type == "message_stop") {
    complete();
  } else if (type == "error") {
    const Json& error = event["error"];
    fail(failure_of_error(error, std::chrono::system_clock::now()));
  }
}

void MessagesDecoder::start_block(Json& event) {
  const std::int64_t index = event.integer_at("index", static_cast<std::int64_t>(blocks_.size()));
  ContentBlock& block = blocks_[index];
  if (!block.start.is_null() || block.ended)
    return malformed("the stream has two blocks of the number " + std::to_string(index));
  if (Json* start = event.find("content_block")) block.start = std::move(*start);
}

void MessagesDecoder::read_delta(const Json& event) {
  const Json& delta = event["delta"];
  const std::string type = delta.string_at("type");
  const std::int64_t index = event.integer_at("index");
  if (type == "citations_delta") {
    if (delta.find("citation")) blocks_[index].citations.push_back(delta["citation"]);
    return;
  }
  for (const char* member : {"text", "partial_json", "thinking", "signature"})
    if (delta[member].is_string()) return add(index, type, escaped_text(delta[member].text()));
}

/// Whether that much more is still a response.
bool MessagesDecoder::grow(std::size_t bytes) {
  collected_ += bytes;
  if (collected_ > kMaxResponseBytes) malformed("the response has more than 64 MiB");
  if (blocks_.size() > kMaxResponseItems)
    malformed("the response has more than " + std::to_string(kMaxResponseItems) + " blocks");
  return state_ == State::going_on;
}

void MessagesDecoder::add(std::int64_t index, std::string_view type, std::string_view escaped) {
  if (!grow(escaped.size())) return;
  ContentBlock& block = blocks_[index];
  if (type == "text_delta") {
    grow_by(block.text, escaped);
    tell_escaped(Text::message, escaped);
  } else if (type == "input_json_delta") {
    block.input += escaped;
    block.has_input = true;
  } else if (type == "thinking_delta") {
    block.thinking += escaped;
    tell_escaped(Text::reasoning, escaped);
  } else if (type == "signature_delta") {
    block.signature += escaped;
  }
}

/// Later events count all up to then, in the members that they have.
void MessagesDecoder::take_usage(const Json& usage) {
  for (const auto& [name, value] : usage.members())
    if (!value.is_null()) response_.raw_usage.set(name, value);
}

void MessagesDecoder::complete() {
  response_.usage = usage_of(response_.raw_usage);
  const ContentEnd end = stop_reason_ == "max_tokens"   ? ContentEnd::cut
                         : stop_reason_ == "pause_turn" ? ContentEnd::paused
                                                        : ContentEnd::whole;
  std::vector<ContentBlock> blocks;
  for (auto& [index, block] : blocks_) blocks.push_back(std::move(block));
  blocks_.clear();
  try {
    read_content_blocks(std::move(blocks), free_text_, end, response_);
  } catch (const JsonError& error) {
    return malformed(std::string("a text of the stream is no JSON: ") + error.what());
  }
  if (stop_reason_ == "refusal") return fail(failure_of_code("content_filter", refusal()));
  if (stop_reason_ == "model_context_window_exceeded")
    return fail(failure_of_code("context_length_exceeded",
                                "the response did not fit into the model's context window"));
  response_.incomplete = end == ContentEnd::cut;
  response_.paused = end == ContentEnd::paused;
  response_.stop_reason = end == ContentEnd::cut      ? "max_output_tokens"
                          : end == ContentEnd::paused ? "pause_turn"
                                                      : "completed";
  state_ = State::complete;
}

/// The provider's words, else the model's.
std::string MessagesDecoder::refusal() const {
  std::string words = stop_details_.string_at("explanation");
  if (words.empty())
    for (const Item& item : response_.items)
      if (const auto* message = std::get_if<Message>(&item.content)) words += message->text;
  if (words.empty()) words = "the model refused to answer";
  const std::string category = stop_details_.string_at("category");
  return category.empty() ? words : words + " (" + one_line_of_words(category, 80) + ")";
}

void MessagesDecoder::fail(ModelFailure failure) {
  failure_ = std::move(failure);
  state_ = State::failed;
}

void MessagesDecoder::malformed(const std::string& why) {
  ModelFailure failure;
  failure.status = 200;
  failure.message = why;
  fail(std::move(failure));
}

}  // namespace sortie
