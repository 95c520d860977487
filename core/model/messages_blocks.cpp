#include "core/model/messages_blocks.h"

#include <algorithm>
#include <cctype>

#include "core/base/hash.h"
#include "core/base/json.h"
#include "core/model/tool_calls.h"

namespace sortie {

namespace {

constexpr std::size_t kLongestId = 64;

/// A received block without its closing brace; "" where it is none.
std::string_view open_block(const std::string& received) {
  if (!received.starts_with('{') || !received.ends_with('}')) return {};
  return std::string_view(received).substr(0, received.size() - 1);
}

/// The id as the format takes it: one of others becomes a digest, the same for the same.
std::string plain_id(const std::string& id) {
  const bool plain = !id.empty() && id.size() <= kLongestId &&
                     std::all_of(id.begin(), id.end(), [](unsigned char c) {
                       return std::isalnum(c) || c == '_' || c == '-';
                     });
  return plain ? id : "call_" + sha256_hex(id).substr(0, 32);
}

/// The arguments as a JSON object.
std::string input_object(const ToolCall& call) {
  if (call.form == ToolCall::Form::custom) return free_text_arguments(call.arguments);
  const std::size_t begin = call.arguments.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "{}";
  if (call.arguments[begin] != '{' || !is_json(call.arguments))
    return free_text_arguments(call.arguments);
  return call.arguments;
}

bool is_assistants(const Item& item) {
  const auto* message = std::get_if<Message>(&item.content);
  return message ? message->role == Message::Role::assistant
                 : !std::holds_alternative<ToolOutput>(item.content);
}

/// Whether the user's side has surely a block for the item.
bool writes_block(const Item& item) {
  const auto* message = std::get_if<Message>(&item.content);
  return !message || !message->images.empty() || !is_blank(message->text);
}

/// Where the last response before `from` begins, if all calls before it have their outputs right
/// behind them, as the agent loop leaves them: nothing is open or waits there, and the last block
/// is the user's. Else 0.
std::size_t settled_before(const std::vector<Item>& items, std::size_t from) {
  std::size_t settled = 0;
  std::vector<const std::string*> open;
  for (std::size_t i = 0; i < from; ++i) {
    const Item& item = items[i];
    if (is_assistants(item)) {
      const bool begins = i > 0 && !is_assistants(items[i - 1]);
      if (begins && !open.empty()) return 0;
      if (begins && writes_block(items[i - 1])) settled = i;
      if (const auto* call = std::get_if<ToolCall>(&item.content)) open.push_back(&call->call_id);
    } else if (const auto* output = std::get_if<ToolOutput>(&item.content)) {
      const auto call = std::find_if(open.begin(), open.end(), [output](const std::string* id) {
        return *id == output->call_id;
      });
      if (call == open.end()) return 0;
      open.erase(call);
    }
  }
  return settled;
}

}  // namespace

MessageBlocks::MessageBlocks(const std::vector<Item>& items, std::size_t from)
    : items_(items), at_(settled_before(items, from)), passed_over_(at_) {
  if (at_ == 0) return;
  side_ = Side::user;
  markable_ = true;
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos;
}

void MessageBlocks::go_to(std::size_t end, std::string* to) {
  to_ = to;
  for (; at_ < end; ++at_)
    std::visit([this](const auto& content) { add(content); }, item().content);
}

void MessageBlocks::add(const Message& message) {
  if (message.role == Message::Role::assistant) {
    if (is_blank(message.text)) return;
    const std::string_view received = open_block(item().received);
    if (!received.empty()) return assistant_block(received, true);
    std::string block = R"({"type":"text","text":)";
    if (to_) write_json_string(message.text, block);
    assistant_block(block, true);
  } else if (open_calls_.empty()) {
    user_message(message);
  } else {
    waiting_.push_back(at_);
  }
}

void MessageBlocks::add(const Reasoning&) {
  // Unsigned thoughts, such as another model's, mean nothing to the provider.
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
    std::string block;
    if (to_) {
      block = R"({"type":"tool_use","id":)";
      write_json_string(id, block);
      block += R"(,"name":)";
      write_json_string(call.name, block);
      block += R"(,"input":)" + input_object(call);
    }
    assistant_block(block, true);
  }
  open_calls_.push_back({call.call_id, id});
}

void MessageBlocks::add(const ToolOutput& output) {
  thinking_.clear();
  const auto call = std::find_if(open_calls_.begin(), open_calls_.end(),
                                 [&](const Call& open) { return open.id == output.call_id; });
  if (call == open_calls_.end()) {
    // The format takes no output without its call right before it.
    user_message({Message::Role::user,
                  "Output of the tool call " + output.call_id + ":\n" + output.text,
                  output.images});
    return;
  }
  begin_block(Side::user, true);
  if (to_) {
    write(R"({"type":"tool_result","tool_use_id":)");
    write_json_string(call->sent, *to_);
    if (!output.success) write(R"(,"is_error":true)");
    const bool blank = is_blank(output.text);
    if (!output.images.empty()) {
      write(R"(,"content":[)");
      if (!blank) {
        write_text(output.text);
        write("},");
      }
      for (const Image& image : output.images) {
        if (&image != &output.images.front()) write(",");
        write_image(image);
        write("}");
      }
      write("]");
    } else if (!blank) {
      write(R"(,"content":)");
      write_json_string(output.text, *to_);
    }
  }
  open_calls_.erase(call);
  if (open_calls_.empty()) write_waiting();
}

/// After the thoughts that led to it.
void MessageBlocks::assistant_block(std::string_view block, bool markable) {
  const auto thinking = std::exchange(thinking_, {});
  if (!waiting_.empty()) {  // for outputs that will not come any more
    open_calls_.clear();
    write_waiting();
  }
  for (const std::size_t index : thinking) {
    begin_block(Side::assistant, false);
    write(open_block(items_[index].received));
  }
  begin_block(Side::assistant, markable);
  write(block);
}

void MessageBlocks::write_waiting() {
  const auto waiting = std::exchange(waiting_, {});
  for (const std::size_t index : waiting) user_message(std::get<Message>(items_[index].content));
}

void MessageBlocks::user_message(const Message& message) {
  thinking_.clear();
  if (!is_blank(message.text)) {
    begin_block(Side::user, true);
    write_text(message.text);
  }
  for (const Image& image : message.images) {
    begin_block(Side::user, true);
    write_image(image);
  }
}

/// Closes the block before, and its message where that is the other side's.
void MessageBlocks::begin_block(Side side, bool markable) {
  markable_ = markable;
  if (side_ == side) return write("},");
  if (side_ != Side::none) write("}]},");
  side_ = side;
  write(side == Side::user ? R"({"role":"user","content":[)"
                           : R"({"role":"assistant","content":[)");
}

void MessageBlocks::write_text(std::string_view text) {
  if (!to_) return;
  write(R"({"type":"text","text":)");
  write_json_string(text, *to_);
}

void MessageBlocks::write_image(const Image& image) {
  if (!to_) return;
  write(R"({"type":"image","source":{"type":"base64","media_type":)");
  write_json_string(image.media_type, *to_);
  write(R"(,"data":)");
  write_json_string(image.base64, *to_);
  write("}");
}

std::string MessageBlocks::sent_id(const ToolCall& call) {
  if (ids_.insert(call.call_id).second && !was_called_before(call.call_id))
    return plain_id(call.call_id);
  return plain_id(call.call_id + " of item " + std::to_string(at_));  // no plain one: a digest
}

bool MessageBlocks::was_called_before(const std::string& call_id) const {
  for (std::size_t i = 0; i < passed_over_; ++i) {
    const auto* call = std::get_if<ToolCall>(&items_[i].content);
    if (call && call->call_id == call_id) return true;
  }
  return false;
}

}  // namespace sortie
