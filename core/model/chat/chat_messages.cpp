#include "core/model/chat/chat_messages.h"

#include <algorithm>

#include "core/catalog/model_family.h"
#include "core/json/json.h"
#include "core/model/tool_calls.h"

namespace sortie {

namespace {

bool is_user_message(const Item& item) {
  const auto* message = std::get_if<Message>(&item.content);
  return message && message->role == Message::Role::user;
}

bool is_output(const Item& item) { return std::holds_alternative<ToolOutput>(item.content); }

/// Where the response begins that the items before `from` end with, outputs included. What stands
/// before it is closed and has nothing left to say.
std::size_t response_begin(const std::vector<Item>& items, std::size_t from) {
  std::size_t begin = from;
  while (begin > 0 && is_output(items[begin - 1])) --begin;
  while (begin > 0 && !is_output(items[begin - 1]) && !is_user_message(items[begin - 1])) --begin;
  return begin;
}

Json function_json(const ToolCall& call) {
  return Json::object({{"name", call.name}, {"arguments", object_arguments(call)}});
}

void add_images(const std::vector<Image>& images, Json& parts) {
  for (const Image& image : images)
    parts.push_back(Json::object(
        {{"type", "image_url"}, {"image_url", Json::object({{"url", data_url(image)}})}}));
}

Json text_part(const std::string& text) { return Json::object({{"type", "text"}, {"text", text}}); }

/// What is open, and what is still to be said, after the items so far.
class Writer {
 public:
  enum class Open { nothing, text, calls };

  Writer(const ChatForm& form, bool begun) : legacy_(form.legacy), begun_(begun) {}

  /// @param to  nothing: only the state is followed
  void add(const Item& item, std::string* to) {
    to_ = to;
    const auto* output = std::get_if<ToolOutput>(&item.content);
    if (output) return add_output(*output);
    if (is_user_message(item)) return add_user(std::get<Message>(item.content));
    if (answered_) begin_response();
    if (const auto* thought = std::get_if<Reasoning>(&item.content)) return add_thought(*thought);
    if (const auto* message = std::get_if<Message>(&item.content)) return add_text(message->text);
    if (const auto* call = std::get_if<ToolCall>(&item.content)) return add_call(*call);
  }
  Open open() const { return open_; }

 private:
  void put(std::string_view text) {
    if (to_) *to_ += text;
  }
  void put_json(const Json& json) {
    if (to_) write_json(json, *to_);
  }
  /// A string's text without its quotes.
  void put_text(const std::string& text) {
    if (!to_) return;
    std::string quoted;
    write_json_string(text, quoted);
    to_->append(quoted, 1, quoted.size() - 2);
  }
  void begin_message() {
    close();
    if (begun_) put(",");
    begun_ = true;
  }
  void put_message(const Json& message) {
    begin_message();
    put_json(message);
  }
  void close() {
    if (open_ == Open::text) put("\"}");
    if (open_ == Open::calls) put("]}");
    open_ = Open::nothing;
  }

  void begin_response() {
    say_rest();
    calls_.clear();
    thought_ = nullptr;
    answered_ = false;
  }

  void add_user(const Message& message) {
    begin_response();
    Json content = message.text;
    if (!message.images.empty()) {
      content = Json::array();
      if (!message.text.empty()) content.push_back(text_part(message.text));
      add_images(message.images, content);
    }
    put_message(Json::object({{"role", "user"}, {"content", std::move(content)}}));
  }

  /// It goes back with the calls that it led to: DeepSeek's servers refuse such a message without
  /// it, and other messages do not need it.
  void add_thought(const Reasoning& thought) {
    if (thought.goes_back && calls_.empty()) thought_ = &thought.summary;
  }

  void add_text(const std::string& text) {
    if (text.empty()) return;
    if (!calls_.empty()) {
      late_texts_.push_back(&text);
      return;
    }
    if (open_ == Open::nothing) {
      begin_message();
      put(R"({"role":"assistant","content":")");
      open_ = Open::text;
    } else {
      put(R"(\n\n)");
    }
    put_text(text);
  }

  void add_call(const ToolCall& call) {
    const bool first = calls_.empty();
    calls_.push_back({&call, false, first || !legacy_});
    if (legacy_ && !first) return;  // stands before its output
    if (open_ == Open::nothing) {
      begin_message();
      put(R"({"role":"assistant","content":null,)");
    } else {
      put(open_ == Open::text ? "\"," : ",");
    }
    if (first && thought_) {
      put("\"reasoning_content\":\"");
      put_text(*thought_);
      put("\",");
    }
    if (legacy_) {
      put("\"function_call\":");
      put_json(function_json(call));
      put("}");
      open_ = Open::nothing;
      return;
    }
    if (first) put("\"tool_calls\":[");
    put_json(Json::object(
        {{"id", call.call_id}, {"type", "function"}, {"function", function_json(call)}}));
    open_ = Open::calls;
  }

  void add_output(const ToolOutput& output) {
    answered_ = true;
    const auto call = std::find_if(calls_.begin(), calls_.end(), [&output](const Call& each) {
      return each.call->call_id == output.call_id && !each.answered;
    });
    if (legacy_) {
      if (call != calls_.end() && !call->written)
        put_message(Json::object({{"role", "assistant"},
                                  {"content", nullptr},
                                  {"function_call", function_json(*call->call)}}));
      put_message(Json::object({{"role", "function"},
                                {"name", call == calls_.end() ? output.call_id : call->call->name},
                                {"content", output.text}}));
    } else {
      put_message(Json::object(
          {{"role", "tool"}, {"tool_call_id", output.call_id}, {"content", output.text}}));
    }
    if (call != calls_.end()) call->answered = call->written = true;
    if (!output.images.empty()) shown_.push_back(&output);
    const bool all =
        std::all_of(calls_.begin(), calls_.end(), [](const Call& each) { return each.answered; });
    if (all) say_rest();
  }

  /// What had to wait for the last output.
  void say_rest() {
    close();
    std::string text;
    for (const std::string* late : late_texts_) text += (text.empty() ? "" : "\n\n") + *late;
    if (!text.empty()) put_message(Json::object({{"role", "assistant"}, {"content", text}}));
    late_texts_.clear();
    Json parts = Json::array();
    for (const ToolOutput* output : shown_) {
      parts.push_back(text_part("Images of the output of the call " + output->call_id + ":"));
      add_images(output->images, parts);
    }
    if (!shown_.empty())
      put_message(Json::object({{"role", "user"}, {"content", std::move(parts)}}));
    shown_.clear();
  }

  struct Call {
    const ToolCall* call = nullptr;
    bool answered = false;
    bool written = false;
  };

  bool legacy_;
  bool begun_;  ///< a message stands before
  std::string* to_ = nullptr;
  Open open_ = Open::nothing;
  const std::string* thought_ = nullptr;  ///< of this response, to go back with its calls
  bool answered_ = false;                 ///< an output of this response has come
  std::vector<Call> calls_;               ///< of this response
  std::vector<const std::string*> late_texts_;
  std::vector<const ToolOutput*> shown_;  ///< outputs with images
};

/// The state before item `from`.
Writer writer_at(const std::vector<Item>& items, std::size_t from, const ChatForm& form) {
  const std::size_t begin = response_begin(items, from);
  Writer writer(form, form.after_system || begin > 0);
  for (std::size_t i = begin; i < from; ++i) writer.add(items[i], nullptr);
  return writer;
}

class ChatMessages : public ItemWriter {
 public:
  explicit ChatMessages(const ChatForm& form) : form_(form) {}

  void write(const std::vector<Item>& items, std::string& to) override {
    Writer writer = writer_at(items, written_, form_);
    for (; written_ < items.size(); ++written_) writer.add(items[written_], &to);
    open_ = writer.open();
  }

  std::string_view tail() const override {
    switch (open_) {
      case Writer::Open::nothing:
        break;
      case Writer::Open::text:
        return "\"}]}";
      case Writer::Open::calls:
        return "]}]}";
    }
    return "]}";
  }

 private:
  ChatForm form_;
  std::size_t written_ = 0;
  Writer::Open open_ = Writer::Open::nothing;
};

}  // namespace

std::unique_ptr<ItemWriter> chat_item_writer(const ChatForm& form) {
  return std::make_unique<ChatMessages>(form);
}

}  // namespace sortie
