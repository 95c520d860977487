#include "core/model/messages/messages_decoder.h"

#include <algorithm>
#include <utility>

#include "core/model/escaped_text.h"
#include "core/model/messages/messages_blocks.h"
#include "core/model/messages/messages_delta.h"
#include "core/model/tool_calls.h"
#include "core/model/wire.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kShownBytes = 200;

/// What a block was read as.
struct Reading {
  std::optional<Item> item{};
  std::string finding{};
  bool goes_back = true;  ///< the provider accepts the block unchanged
};

/// Adds the deltas' text to a member.
void complete_text(Json& block, const char* member, std::string&& pieces) {
  if (pieces.empty()) return;
  std::string text = unescaped_text(std::exchange(pieces, {}));
  if (const Json* begun = block.find(member)) text.insert(0, begun->text());
  block.set(member, std::move(text));
}

/// The block as if sent in one piece, except for a call's input.
Json whole_block(ContentBlock& block) {
  Json whole = std::move(block.start);
  if (!whole.is_object()) {  // some servers send no starts: the deltas show the type
    const bool thinks = !block.thinking.empty() || !block.signature.empty();
    whole = Json::object({{"type", thinks ? "thinking" : block.has_input ? "tool_use" : "text"}});
  }
  complete_text(whole, "text", std::move(block.text));
  complete_text(whole, "thinking", std::move(block.thinking));
  complete_text(whole, "signature", std::move(block.signature));
  if (!block.citations.empty()) {
    Json all = Json::array(whole["citations"].items());
    for (Json& citation : block.citations) all.push_back(std::move(citation));
    whole.set("citations", std::move(all));
  }
  return whole;
}

/// One line about what the provider did, and the result.
std::string summary_of(const Json& block) {
  const std::string type = block.string_at("type");
  const std::string name = block.string_at("name");
  const std::string query = block["input"].string_at("query");
  if (!query.empty()) return one_line_of_words(name + ": " + query, kShownBytes);
  if (!name.empty()) return one_line_of_words(name, kShownBytes);
  const Json& content = block["content"];
  if (content.is_array()) return std::to_string(content.items().size()) + " results";
  return one_line_of_words(content.string_at("error_code"), kShownBytes);
}

bool is_providers_own(std::string_view type) {
  return type == "server_tool_use" || type == "mcp_tool_use" || type == "container_upload" ||
         type.ends_with("_tool_result");
}

/// The input for the record: as JSON, or as the text received if it is not JSON or a JSON string.
Json recorded_input(const std::string& text) {
  try {
    Json input = text.empty() ? Json::object() : parse_json(text);
    if (!input.is_string()) return input;
  } catch (const JsonError&) {
    // As text.
  }
  return Json(text);
}

/// @param text   the deltas of the input
/// @param whole  false: the length limit may have cut it off
Reading read_call(Json& block, const std::string& text, bool whole, CallReader& calls) {
  ToolCall call{block.string_at("id"), block.string_at("name"), text, ToolCall::Form::function};
  if (call.arguments.empty() && block["input"].is_object())
    call.arguments = write_json(block["input"]);
  block.set("input", recorded_input(call.arguments));
  if (!whole && (call.arguments == "{}" || !is_json(call.arguments)))
    return {.finding = not_run(call.name, "it was cut off at the output limit.")};
  CallReading reading = calls.read(std::move(call));
  if (!reading.call) return {.finding = std::move(reading.finding)};
  // Without white space, as it is sent back and as a replay has it.
  const bool is_object = block["input"].is_object();
  if (reading.call->form == ToolCall::Form::function && is_object)
    reading.call->arguments = write_json(block["input"]);
  return {.item = Item{std::move(*reading.call)}, .goes_back = is_object};
}

/// A message's text is added later: it may be megabytes, and has to be written first.
Reading read_block(Json& block, const std::string& input, bool whole, CallReader& calls) {
  const std::string type = block.string_at("type");
  if (type == "text") {
    if (is_blank(block["text"].text())) return {};
    return {.item = Item{Message{Message::Role::assistant, {}}}};
  }
  if (type == "thinking") return {.item = Item{Reasoning{block.string_at("thinking")}}};
  if (type == "redacted_thinking") return {.item = Item{Reasoning{}}};
  if (type == "tool_use") return read_call(block, input, whole, calls);
  if (is_providers_own(type)) {
    if (is_json(input)) block.set("input", parse_json(input));
    return {.item = Item{ProviderItem{type, summary_of(block)}}};
  }
  return {.finding =
              "Your response had a block of type '" + one_line_of_words(type, 80) +
              "', which can't be used here and was ignored. Use only the tools that you were "
              "given."};
}

/// Removes thinking that led to a dropped block: it would precede something else.
void drop_last_thoughts(std::vector<Item>& items) {
  while (!items.empty() && std::holds_alternative<Reasoning>(items.back().content))
    items.pop_back();
}

/// Removes provider calls without a result: the provider would refuse the history with them.
void drop_unanswered(std::vector<Item>& items) {
  std::set<std::string> answered;
  for (const Item& item : items)
    if (std::holds_alternative<ProviderItem>(item.content))
      answered.insert(parse_json(item.received).string_at("tool_use_id"));
  std::erase_if(items, [&answered](const Item& item) {
    const auto* own = std::get_if<ProviderItem>(&item.content);
    return own && (own->type == "server_tool_use" || own->type == "mcp_tool_use") &&
           answered.count(parse_json(item.received).string_at("id")) == 0;
  });
}

/// The events that make a response; others (pings, unknown ones) are ignored.
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

/// The provider counts cache reads and writes separately from other input.
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

/// Sorts a response's blocks into usable items and findings, like read_output_items().
///
/// @param free_text  free_text_functions()
/// @throws JsonError  if the pieces of a block are not a JSON string
void read_content_blocks(std::vector<ContentBlock> blocks, const std::set<std::string>& free_text,
                         ContentEnd end, Response& response) {
  CallReader calls(free_text);
  std::vector<std::string> texts;
  std::vector<Reading> readings;
  for (ContentBlock& block : blocks) {
    const bool may_be_cut = end == ContentEnd::cut && &block == &blocks.back();
    const std::string input = unescaped_text(block.input);
    Json whole = whole_block(block);
    // Thinking that was cut off has no signature, and the provider refuses it without one.
    const bool left_out =
        may_be_cut && whole.string_at("type") == "thinking" && whole.string_at("signature").empty();
    readings.push_back(left_out ? Reading{} : read_block(whole, input, !may_be_cut, calls));
    texts.push_back(write_large_json(whole));
    if (auto& item = readings.back().item)
      if (auto* message = std::get_if<Message>(&item->content))
        message->text = whole.find("text")->take_text();
  }
  const bool all_used = std::all_of(readings.begin(), readings.end(), [](const Reading& each) {
    return each.finding.empty() && each.goes_back;
  });
  for (std::size_t i = 0; i < readings.size(); ++i) {
    Reading& reading = readings[i];
    if (!all_used) response.output.push_back(texts[i]);
    if (reading.item) {
      if (reading.goes_back) reading.item->received = std::move(texts[i]);
      response.items.push_back(std::move(*reading.item));
    } else if (!reading.finding.empty()) {
      response.findings.push_back(std::move(reading.finding));
      drop_last_thoughts(response.items);
    }
  }
  if (end != ContentEnd::paused) drop_unanswered(response.items);
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
    if (!json.is_object()) {
      if (is_known(type)) fail_as_cut("the event " + type + " of the stream is not an object");
      return state_;
    }
    if (is_known(type) && !grow(event.data.size())) return state_;
    read_event(type, json);
  } catch (const JsonError& error) {
    fail_as_cut(std::string("an event of the stream is not JSON: ") + error.what() + " at byte " +
                std::to_string(error.offset()));
  }
  return state_;
}

WireDecoder::State MessagesDecoder::read_whole(std::string_view body) {
  try {
    Json message = parse_json(body);
    if (!message["error"].is_null())
      fail(failure_of_error(message["error"], std::chrono::system_clock::now()));
    Json* content = message.find("content");
    if (state_ != State::going_on || !content || !content->is_array()) return state_;
    response_.id = message.string_at("id");
    response_.served_model = message.string_at("model");
    take_usage(message["usage"]);
    stop_reason_ = message.string_at("stop_reason");
    if (message["stop_details"].is_object()) stop_details_ = message["stop_details"];
    for (Json& block : content->items())
      blocks_[static_cast<std::int64_t>(blocks_.size())].start = std::move(block);
    complete();
  } catch (const JsonError&) {
    // The caller shows the body.
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
      // Text cut off within an escape: the rest is still useful.
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
    return fail_as_cut("the stream has two blocks with index " + std::to_string(index));
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

/// Counts the bytes. @return  whether the response is still within its limits
bool MessagesDecoder::grow(std::size_t bytes) {
  collected_ += bytes;
  if (collected_ > kMaxResponseBytes) fail_as_cut("the response has more than 64 MiB");
  if (blocks_.size() > kMaxResponseItems)
    fail_as_cut("the response has more than " + std::to_string(kMaxResponseItems) + " blocks");
  return state_ == State::going_on;
}

void MessagesDecoder::add(std::int64_t index, std::string_view type, std::string_view escaped) {
  if (!grow(escaped.size())) return;
  ContentBlock& block = blocks_[index];
  if (type == "text_delta") {
    grow_by(block.text, escaped);
    emit_escaped(Text::message, escaped);
  } else if (type == "input_json_delta") {
    block.input += escaped;
    block.has_input = true;
  } else if (type == "thinking_delta") {
    block.thinking += escaped;
    emit_escaped(Text::reasoning, escaped);
  } else if (type == "signature_delta") {
    block.signature += escaped;
  }
}

/// Later events have the totals so far, in the members that they have.
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
    return fail_as_cut(std::string("a text of the stream is not JSON: ") + error.what());
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

/// The provider's explanation, else the model's message.
std::string MessagesDecoder::refusal() const {
  std::string words = stop_details_.string_at("explanation");
  if (words.empty())
    for (const Item& item : response_.items)
      if (const auto* message = std::get_if<Message>(&item.content)) words += message->text;
  if (words.empty()) words = "the model refused to answer";
  const std::string category = stop_details_.string_at("category");
  return category.empty() ? words : words + " (" + one_line_of_words(category, 80) + ")";
}

}  // namespace sortie
