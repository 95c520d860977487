#include "core/model/messages/messages_items.h"

#include <algorithm>
#include <utility>

#include "core/model/escaped_text.h"
#include "core/model/messages/messages_blocks.h"
#include "core/model/tool_calls.h"
#include "core/text/text.h"

namespace sortie {

namespace {

constexpr std::size_t kShownBytes = 200;

/// What one block turned out to be.
struct Reading {
  std::optional<Item> item{};
  std::string finding{};
  bool goes_back = true;  ///< the provider takes the block as it came
};

/// Adds what deltas brought to a member of text.
void complete_text(Json& block, const char* member, std::string&& pieces) {
  if (pieces.empty()) return;
  std::string text = unescaped_text(std::exchange(pieces, {}));
  if (const Json* begun = block.find(member)) text.insert(0, begun->text());
  block.set(member, std::move(text));
}

/// The block as the provider would have sent it in one piece, but for a call's input.
Json whole_block(ContentBlock& block) {
  Json whole = std::move(block.start);
  if (!whole.is_object()) {  // a server that sends no starts: the deltas say what it is
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

/// One line on what the provider did, and what came of it.
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

/// The input as the record shows it: what is no JSON, or a string in it, as the text that came.
Json recorded_input(const std::string& text) {
  try {
    Json input = text.empty() ? Json::object() : parse_json(text);
    if (!input.is_string()) return input;
  } catch (const JsonError&) {
    // As text.
  }
  return Json(text);
}

/// @param text   what deltas brought of the input
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
  // As it goes back, and as a replay has it: without the white space between.
  const bool is_object = block["input"].is_object();
  if (reading.call->form == ToolCall::Form::function && is_object)
    reading.call->arguments = write_json(block["input"]);
  return {.item = Item{std::move(*reading.call)}, .goes_back = is_object};
}

/// A message is still without its text, which may be megabytes and has to be written first.
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
  return {.finding = "Your response had a block of type '" + one_line_of_words(type, 80) +
                     "', which can't be used here; nothing was done with it. Use the tools that "
                     "you were given."};
}

/// Thoughts that led to what is left out would stand in front of something else.
void drop_last_thoughts(std::vector<Item>& items) {
  while (!items.empty() && std::holds_alternative<Reasoning>(items.back().content))
    items.pop_back();
}

/// What the provider began by itself and has no result: it would refuse the history with it.
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

}  // namespace

void read_content_blocks(std::vector<ContentBlock> blocks, const std::set<std::string>& free_text,
                         ContentEnd end, Response& response) {
  CallReader calls(free_text);
  std::vector<std::string> texts;
  std::vector<Reading> readings;
  for (ContentBlock& block : blocks) {
    const bool may_be_cut = end == ContentEnd::cut && &block == &blocks.back();
    const std::string input = unescaped_text(block.input);
    Json whole = whole_block(block);
    // What the limit cut off has no signature yet; without it the provider takes no thoughts.
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

}  // namespace sortie
