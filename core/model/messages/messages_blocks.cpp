#include "core/model/messages/messages_blocks.h"

#include <algorithm>
#include <cctype>

#include "core/base/hash.h"
#include "core/json/json.h"
#include "core/model/tool_calls.h"

namespace sortie {

namespace {

constexpr std::size_t kLongestId = 64;

/// A received block without its closing brace; "" if it is not a block.
std::string_view open_block(const std::string& received) {
  if (!received.starts_with('{') || !received.ends_with('}')) return {};
  return std::string_view(received).substr(0, received.size() - 1);
}

/// The id if the format allows it, else a digest of it.
std::string plain_id(const std::string& id) {
  const bool plain = !id.empty() && id.size() <= kLongestId &&
                     std::all_of(id.begin(), id.end(), [](unsigned char c) {
                       return std::isalnum(c) || c == '_' || c == '-';
                     });
  return plain ? id : "call_" + sha256_hex(id).substr(0, 32);
}

}  // namespace

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

void MessageBlocks::write(const std::vector<Item>& items, std::string& to) {
  items_ = &items;
  to_ = &to;
  for (; at_ < items.size(); ++at_)
    std::visit([this](const auto& content) { add(content); }, item().content);
  items_ = nullptr;
  to_ = nullptr;
}

std::string_view MessageBlocks::tail() const {
  if (side_ == Side::none) return "]}";
  return markable_ ? R"(,"cache_control":{"type":"ephemeral"}}]}]})" : "}]}]}";
}

void MessageBlocks::add(const Message& message) {
  if (message.role == Message::Role::assistant) {
    if (is_blank(message.text)) return;
    const std::string_view received = open_block(item().received);
    if (!received.empty()) return assistant_block(received, true);
    std::string block = R"({"type":"text","text":)";
    write_json_string(message.text, block);
    assistant_block(block, true);
  } else if (open_calls_.empty()) {
    user_message(message);
  } else {
    waiting_.push_back(at_);
  }
}

void MessageBlocks::add(const Reasoning&) {
  // The provider can't use unsigned thinking, such as another model's.
  if (!open_block(item().received).empty()) thinking_.push_back(at_);
}

void MessageBlocks::add(const ProviderItem&) {
  const std::string_view received = open_block(item().received);
  if (!received.empty()) assistant_block(received, false);
}

void MessageBlocks::add(const ToolCall& call) {
  const std::string id = sent_id(call);
  const std::string_view received = open_block(item().received);
  if (!received.empty() && id == call.call_id) {
    assistant_block(received, true);
  } else {
    std::string block = R"({"type":"tool_use","id":)";
    write_json_string(id, block);
    block += R"(,"name":)";
    write_json_string(call.name, block);
    block += R"(,"input":)" + object_arguments(call);
    assistant_block(block, true);
  }
  open_calls_.push_back({call.call_id, id});
}

void MessageBlocks::add(const ToolOutput& output) {
  thinking_.clear();
  const auto call = std::find_if(open_calls_.begin(), open_calls_.end(),
                                 [&](const Call& open) { return open.id == output.call_id; });
  if (call == open_calls_.end()) {
    // The format allows an output only right after its call.
    user_message({Message::Role::user,
                  "Output of the tool call " + output.call_id + ":\n" + output.text,
                  output.images});
    return;
  }
  begin_block(Side::user, true);
  put(R"({"type":"tool_result","tool_use_id":)");
  write_json_string(call->sent, *to_);
  if (!output.success) put(R"(,"is_error":true)");
  put_content(output);
  open_calls_.erase(call);
  if (open_calls_.empty()) write_waiting();
}

/// Writes the content of a tool result, unless it is blank.
void MessageBlocks::put_content(const ToolOutput& output) {
  const bool blank = is_blank(output.text);
  if (output.images.empty()) {
    if (blank) return;
    put(R"(,"content":)");
    return write_json_string(output.text, *to_);
  }
  put(R"(,"content":[)");
  if (!blank) {
    put_text(output.text);
    put("},");
  }
  for (const Image& image : output.images) {
    if (&image != &output.images.front()) put(",");
    put_image(image);
    put("}");
  }
  put("]");
}

/// Writes a block after the thinking that led to it.
void MessageBlocks::assistant_block(std::string_view block, bool markable) {
  const auto thinking = std::exchange(thinking_, {});
  if (!waiting_.empty()) {  // the outputs they waited for will not come
    open_calls_.clear();
    write_waiting();
  }
  for (const std::size_t index : thinking) {
    begin_block(Side::assistant, false);
    put(open_block((*items_)[index].received));
  }
  begin_block(Side::assistant, markable);
  put(block);
}

void MessageBlocks::write_waiting() {
  const auto waiting = std::exchange(waiting_, {});
  for (const std::size_t index : waiting) user_message(std::get<Message>((*items_)[index].content));
}

void MessageBlocks::user_message(const Message& message) {
  thinking_.clear();
  if (!is_blank(message.text)) {
    begin_block(Side::user, true);
    put_text(message.text);
  }
  for (const Image& image : message.images) {
    begin_block(Side::user, true);
    put_image(image);
  }
}

/// Closes the last block, and its message if it is the other side's.
void MessageBlocks::begin_block(Side side, bool markable) {
  markable_ = markable;
  if (side_ == side) return put("},");
  if (side_ != Side::none) put("}]},");
  side_ = side;
  put(side == Side::user ? R"({"role":"user","content":[)" : R"({"role":"assistant","content":[)");
}

void MessageBlocks::put_text(std::string_view text) {
  put(R"({"type":"text","text":)");
  write_json_string(text, *to_);
}

void MessageBlocks::put_image(const Image& image) {
  put(R"({"type":"image","source":{"type":"base64","media_type":)");
  write_json_string(image.media_type, *to_);
  put(R"(,"data":)");
  write_json_string(image.base64, *to_);
  put("}");
}

std::string MessageBlocks::sent_id(const ToolCall& call) {
  if (ids_.insert(call.call_id).second) return plain_id(call.call_id);
  return plain_id(call.call_id + " of item " +
                  std::to_string(at_));  // has blanks: becomes a digest
}

}  // namespace sortie
