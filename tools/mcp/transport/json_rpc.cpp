#include "tools/mcp/transport/json_rpc.h"

#include <utility>

#include "core/text/text.h"

namespace sortie::mcp {
namespace {

/// Fractions are not allowed: they may not survive a round trip (§4).
bool is_id(const Json& value) {
  return value.is_string() || (value.is_number() && value.integer().has_value());
}

Message base_message(Message::Kind kind, Json id) {
  Message message;
  message.kind = kind;
  message.id = std::move(id);
  return message;
}

RpcError read_error(const Json& value) {
  if (!value.is_object()) throw RpcFormatError("the error of a reply is not an object");
  RpcError error;
  const auto code = value["code"].integer();
  if (!code) throw RpcFormatError("the error of a reply has no integer code");
  if (!value["message"].is_string()) throw RpcFormatError("the error of a reply has no message");
  error.code = *code;
  error.message = value["message"].text();
  error.data = value["data"];
  return error;
}

Message read_call(const Json& value) {
  const Json& method = value["method"];
  if (!method.is_string()) throw RpcFormatError("the method is not a string");
  Message message;
  if (const Json* id = value.find("id")) {
    if (!is_id(*id)) throw RpcFormatError("the id of a request is not a string or integer");
    message.kind = Message::Kind::request;
    message.id = *id;
  }
  message.method = method.text();
  if (const Json* params = value.find("params")) {
    if (!params->is_object() && !params->is_array())
      throw RpcFormatError("the params are not an object or array");
    message.params = *params;
  }
  return message;
}

Message read_reply(const Json& value) {
  const Json* id = value.find("id");
  const Json* result = value.find("result");
  const Json* error = value.find("error");
  if (result != nullptr && error != nullptr)
    throw RpcFormatError("a reply with a result and an error");
  if (result != nullptr) {
    if (id == nullptr || !is_id(*id))
      throw RpcFormatError("the id of a reply is not a string or integer");
    return result_reply(*id, *result);
  }
  // An error without an id answers an unreadable message (§5).
  if (id != nullptr && !id->is_null() && !is_id(*id))
    throw RpcFormatError("the id of a reply is not a string or integer");
  return error_reply(id == nullptr ? Json() : *id, read_error(*error));
}

Message read_message(const Json& value) {
  if (!value.is_object()) throw RpcFormatError("a message that is not an object");
  if (value.string_at("jsonrpc") != "2.0") throw RpcFormatError("not \"jsonrpc\": \"2.0\"");
  if (value.find("method") != nullptr) return read_call(value);
  if (value.find("result") != nullptr || value.find("error") != nullptr) return read_reply(value);
  throw RpcFormatError("neither a method nor a result nor an error");
}

/// Scans a text that begins like an object for its direct members.
class BrokenObject {
 public:
  explicit BrokenObject(std::string_view text) : text_(text) {}

  BrokenMessage read() {
    skip_whitespace();
    if (at_ == text_.size() || text_[at_] != '{') return {};
    int depth = 0;
    bool key_may_come = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        const std::string_view word = read_string();
        if (depth == 1 && std::exchange(key_may_come, false)) take_member(word);
        if (at_ == text_.size()) break;
      } else if (c == '{' || c == '[') {
        key_may_come = ++depth == 1;
      } else if (c == '}' || c == ']') {
        if (--depth == 0) break;
      } else if (c == ',' && depth == 1) {
        key_may_come = true;
      }
    }
    BrokenMessage message;
    message.is_reply = has_version_ && !has_method_ && (has_result_ || has_id_);
    if (message.is_reply) message.id = std::move(id_);
    return message;
  }

 private:
  void skip_whitespace() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != text_.npos) ++at_;
  }

  /// Reads from one quote to the next, or to the end. @return  the raw text between them
  std::string_view read_string() {
    const std::size_t begin = ++at_;
    for (; at_ < text_.size() && text_[at_] != '"'; ++at_)
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  /// Called at the quote after the name; the position stays there.
  void take_member(std::string_view name) {
    has_version_ = has_version_ || name == "jsonrpc";
    has_method_ = has_method_ || name == "method";
    has_result_ = has_result_ || name == "result" || name == "error";
    if (name != "id" || has_id_) return;
    has_id_ = true;
    const std::size_t before = at_;
    if (at_ < text_.size()) ++at_;
    skip_whitespace();
    if (at_ < text_.size() && text_[at_] == ':') {
      ++at_;
      skip_whitespace();
      read_id();
    }
    at_ = before;
  }

  void read_id() {
    constexpr std::size_t kLongest = 200;
    std::string_view value = text_.substr(at_, kLongest);
    if (value.starts_with('"')) {
      const std::size_t end = value.find('"', 1);  // our own ids contain no quotes
      value = value.substr(0, end == value.npos ? end : end + 1);
    } else {
      value = value.substr(0, value.find_first_not_of("-0123456789"));
    }
    try {
      Json id = parse_json(value);
      if (is_id(id)) id_ = std::move(id);
    } catch (const JsonError&) {  // unreadable: no id
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool has_version_ = false;
  bool has_method_ = false;
  bool has_result_ = false;
  bool has_id_ = false;
  Json id_{};
};

}  // namespace

Message request(Json id, std::string method, Json params) {
  Message message = base_message(Message::Kind::request, std::move(id));
  message.method = std::move(method);
  message.params = std::move(params);
  return message;
}

Message notification(std::string method, Json params) {
  Message message;
  message.method = std::move(method);
  message.params = std::move(params);
  return message;
}

Message result_reply(Json id, Json result) {
  Message message = base_message(Message::Kind::result, std::move(id));
  message.result = std::move(result);
  return message;
}

Message error_reply(Json id, RpcError error) {
  Message message = base_message(Message::Kind::error, std::move(id));
  message.error = std::move(error);
  return message;
}

std::vector<Message> parse_messages(std::string_view text, const ParseLimits& limits) {
  if (text.size() > limits.max_bytes)
    throw RpcFormatError("a message of " + std::to_string(text.size()) + " bytes, more than the " +
                         std::to_string(limits.max_bytes) + " that are read");
  Json value;
  try {
    value = parse_json(text, limits.max_depth);
  } catch (const JsonError& error) {
    throw RpcFormatError(std::string("not JSON: ") + error.what() + " at byte " +
                         std::to_string(error.offset()));
  }
  std::vector<Message> messages;
  if (!value.is_array()) {
    messages.push_back(read_message(value));
    return messages;
  }
  if (value.items().empty()) throw RpcFormatError("a batch without messages");
  if (value.items().size() > limits.max_batch)
    throw RpcFormatError("a batch of " + std::to_string(value.items().size()) +
                         " messages, more than the " + std::to_string(limits.max_batch) +
                         " that are read");
  for (const Json& item : value.items()) messages.push_back(read_message(item));
  return messages;
}

BrokenMessage inspect_broken(std::string_view text) { return BrokenObject(text).read(); }

std::string write_message(const Message& message) {
  Json json = Json::object({{"jsonrpc", "2.0"}});
  if (message.kind != Message::Kind::notification) json.set("id", message.id);
  switch (message.kind) {
    case Message::Kind::request:
    case Message::Kind::notification:
      json.set("method", message.method);
      if (!message.params.is_null()) json.set("params", message.params);
      break;
    case Message::Kind::result:
      json.set("result", message.result);
      break;
    case Message::Kind::error: {
      Json error = Json::object({{"code", message.error.code}, {"message", message.error.message}});
      if (!message.error.data.is_null()) error.set("data", message.error.data);
      json.set("error", std::move(error));
      break;
    }
  }
  return write_json(json);
}

std::string id_text(const Json& id) { return one_line(write_json(id), 80); }

}  // namespace sortie::mcp
