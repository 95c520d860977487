#include "tests/support/wire_streams.h"

#include <stdexcept>

namespace sortie::test {

namespace {

/// A server-sent event; `name` is "" where the wire names none.
std::string event(const std::string& name, const Json& data) {
  return (name.empty() ? "" : "event: " + name + "\n") + "data: " + write_json(data) + "\n\n";
}

Json number(const Json& told, const char* name, std::int64_t otherwise) {
  return told.integer_at(name, otherwise);
}

/// The text in pieces of so many bytes; told texts are ASCII where pieces are asked for.
std::vector<std::string> pieces(const Json& told, const char* name) {
  const std::string text = told.string_at(name);
  const auto size = static_cast<std::size_t>(told.integer_at("piece", 16));
  std::vector<std::string> result;
  for (std::size_t at = 0; at < text.size(); at += size) result.push_back(text.substr(at, size));
  return result;
}

bool has_arguments(const Json& call) { return call.find("arguments") || call.find("input"); }

/// Arguments as the text that goes out: {"a":1} for a mapping, a text as it is. Where a wire has no
/// free text, that is a function's one argument.
std::string arguments_of(const Json& call) {
  if (call.find("input")) return write_json(Json::object({{"input", call["input"]}}));
  const Json& arguments = call["arguments"];
  return arguments.is_string() ? arguments.text() : write_json(arguments);
}

std::string model_of(const Json& told) { return told.string_at("model", "gpt-5-codex"); }

/// One wire's spelling of what is told.
class Builder {
 public:
  explicit Builder(const Json& told) : told_(told), ends_(told["ends"]) {}
  virtual ~Builder() = default;
  WireStream build() {
    begin();
    stream_.events.push_back(told_.string_at("inserted"));
    if (stream_.events.back().empty()) stream_.events.pop_back();
    if (!told_.string_at("reasoning").empty()) reasoning();
    if (!told_.string_at("text").empty()) text();
    for (const Json& call : told_["calls"].items()) this->call(call);
    if (ends_.is_object())
      error();
    else if (ends() != "nothing")
      end();
    if (stream_.needed == 0) stream_.needed = stream_.events.size();
    return std::move(stream_);
  }

 protected:
  virtual void begin() = 0;
  virtual void reasoning() = 0;
  virtual void text() = 0;
  virtual void call(const Json& call) = 0;
  virtual void error() = 0;
  virtual void end() = 0;
  std::string ends() const { return ends_.is_null() ? "completed" : ends_.text(); }
  bool counts() const { return told_.string_at("usage") != "none"; }
  Json usage(const char* input, const char* output) const {
    return Json::object({{input, number(told_["usage"], "input", 10)},
                         {output, number(told_["usage"], "output", 5)}});
  }
  void add(const std::string& name, const Json& data) {
    stream_.events.push_back(event(name, data));
  }

  const Json& told_;
  const Json& ends_;
  WireStream stream_;
};

class Responses : public Builder {
  using Builder::Builder;
  void send(const std::string& type, std::initializer_list<Json::Member> members) {
    Json data = Json::object({{"type", type}});
    for (const auto& [name, value] : members) data.set(name, value);
    add(type, data);
  }
  Json response(const std::string& status) const {
    return Json::object({{"id", "resp_1"}, {"model", model_of(told_)}, {"status", status}});
  }
  void done(Json item) {
    send("response.output_item.done", {{"output_index", index_++}, {"item", std::move(item)}});
  }
  void begin() override { send("response.created", {{"response", response("in_progress")}}); }
  void reasoning() override {
    for (const auto& piece : pieces(told_, "reasoning"))
      send("response.reasoning_summary_text.delta",
           {{"item_id", "rs_1"}, {"output_index", index_}, {"delta", piece}});
    done(Json::object(
        {{"id", "rs_1"},
         {"type", "reasoning"},
         {"summary", Json::array({Json::object(
                         {{"type", "summary_text"}, {"text", told_.string_at("reasoning")}})})},
         {"encrypted_content", "c2VjcmV0"}}));
  }
  void text() override {
    for (const auto& piece : pieces(told_, "text"))
      send("response.output_text.delta",
           {{"item_id", "msg_1"}, {"output_index", index_}, {"delta", piece}});
    Json part = ends() == "refusal"
                    ? Json::object({{"type", "refusal"}, {"refusal", told_.string_at("text")}})
                    : Json::object({{"type", "output_text"},
                                    {"text", told_.string_at("text")},
                                    {"annotations", Json::array()},
                                    {"logprobs", Json::array()}});
    done(Json::object({{"id", "msg_1"},
                       {"type", "message"},
                       {"role", "assistant"},
                       {"status", "completed"},
                       {"content", Json::array({std::move(part)})}}));
  }
  void call(const Json& call) override {
    const bool free_text = call.find("input") != nullptr;
    Json item = Json::object({{"id", "fc_1"},
                              {"type", free_text ? "custom_tool_call" : "function_call"},
                              {"status", "completed"}});
    if (call.find("id")) item.set("call_id", call.string_at("id"));
    item.set("name", call.string_at("tool", "shell"));
    if (free_text)
      item.set("input", call["input"]);
    else if (call.find("arguments"))
      item.set("arguments", arguments_of(call));
    done(std::move(item));
  }
  void error() override {
    if (ends_["event"].boolean()) {
      Json data = ends_;
      data.set("type", "error");
      return add("error", data);
    }
    Json failed = response("failed");
    failed.set("error", ends_);
    send("response.failed", {{"response", failed}});
  }
  void end() override {
    Json whole = response("completed");
    if (counts()) whole.set("usage", usage("input_tokens", "output_tokens"));
    const std::string how = ends();
    if (how == "completed" || how == "refusal")
      return send("response.completed", {{"response", whole}});
    whole.set("incomplete_details",
              Json::object({{"reason", how == "incomplete" ? "max_output_tokens" : how}}));
    send("response.incomplete", {{"response", whole}});
  }
  int index_ = 0;
};

class Chat : public Builder {
  using Builder::Builder;
  void chunk(Json delta, const Json& reason = {}) {
    add("", Json::object({{"id", "chatcmpl-1"},
                          {"object", "chat.completion.chunk"},
                          {"created", 1},
                          {"model", model_of(told_)},
                          {"choices", Json::array({Json::object({{"index", 0},
                                                                 {"delta", std::move(delta)},
                                                                 {"finish_reason", reason}})})}}));
  }
  void begin() override { chunk(Json::object({{"role", "assistant"}, {"content", ""}})); }
  void reasoning() override {
    for (const auto& piece : pieces(told_, "reasoning"))
      chunk(Json::object({{"reasoning_content", piece}}));
  }
  void text() override {
    const char* const name = ends() == "refusal" ? "refusal" : "content";
    for (const auto& piece : pieces(told_, "text")) chunk(Json::object({{name, piece}}));
  }
  void call(const Json& call) override {
    Json function = Json::object({{"name", call.string_at("tool", "shell")}});
    if (has_arguments(call)) function.set("arguments", arguments_of(call));
    Json one = Json::object({{"index", index_++}});
    if (call.find("id")) one.set("id", call.string_at("id"));
    one.set("type", "function");
    one.set("function", std::move(function));
    chunk(Json::object({{"tool_calls", Json::array({std::move(one)})}}));
  }
  void error() override { add("", Json::object({{"error", ends_}})); }
  void end() override {
    const std::string how = ends();
    chunk(Json::object(), how == "content_filter" ? "content_filter"
                          : how == "incomplete"   ? "length"
                          : index_ > 0            ? "tool_calls"
                                                  : "stop");
    stream_.needed = stream_.events.size();
    Json last = Json::object({{"id", "chatcmpl-1"},
                              {"object", "chat.completion.chunk"},
                              {"created", 1},
                              {"model", model_of(told_)},
                              {"choices", Json::array()}});
    if (counts()) last.set("usage", usage("prompt_tokens", "completion_tokens"));
    add("", last);
    stream_.events.emplace_back("data: [DONE]\n\n");
  }
  int index_ = 0;
};

class Messages : public Builder {
  using Builder::Builder;
  void send(const std::string& type, std::initializer_list<Json::Member> members) {
    Json data = Json::object({{"type", type}});
    for (const auto& [name, value] : members) data.set(name, value);
    add(type, data);
  }
  void open(Json block) {
    send("content_block_start", {{"index", index_}, {"content_block", std::move(block)}});
  }
  void delta(Json delta) {
    send("content_block_delta", {{"index", index_}, {"delta", std::move(delta)}});
  }
  void close() { send("content_block_stop", {{"index", index_++}}); }
  void begin() override {
    Json message = Json::object({{"id", "msg_1"},
                                 {"type", "message"},
                                 {"role", "assistant"},
                                 {"model", model_of(told_)},
                                 {"content", Json::array()},
                                 {"stop_reason", nullptr},
                                 {"stop_sequence", nullptr}});
    if (counts())
      message.set("usage", Json::object({{"input_tokens", number(told_["usage"], "input", 10)},
                                         {"output_tokens", 1}}));
    send("message_start", {{"message", std::move(message)}});
  }
  void reasoning() override {
    open(Json::object({{"type", "thinking"}, {"thinking", ""}, {"signature", ""}}));
    for (const auto& piece : pieces(told_, "reasoning"))
      delta(Json::object({{"type", "thinking_delta"}, {"thinking", piece}}));
    delta(Json::object({{"type", "signature_delta"}, {"signature", "c2lnbmVk"}}));
    close();
  }
  void text() override {
    open(Json::object({{"type", "text"}, {"text", ""}}));
    for (const auto& piece : pieces(told_, "text"))
      delta(Json::object({{"type", "text_delta"}, {"text", piece}}));
    close();
  }
  void call(const Json& call) override {
    Json block = Json::object({{"type", "tool_use"}});
    if (call.find("id")) block.set("id", call.string_at("id"));
    block.set("name", call.string_at("tool", "shell"));
    block.set("input", Json::object());
    open(std::move(block));
    if (has_arguments(call))
      delta(Json::object({{"type", "input_json_delta"}, {"partial_json", arguments_of(call)}}));
    close();
    has_calls_ = true;
  }
  void error() override { send("error", {{"error", ends_}}); }
  void end() override {
    const std::string how = ends();
    const char* const reason = how == "incomplete"                           ? "max_tokens"
                               : how == "content_filter" || how == "refusal" ? "refusal"
                               : has_calls_                                  ? "tool_use"
                                                                             : "end_turn";
    Json delta = Json::object({{"stop_reason", reason}, {"stop_sequence", nullptr}});
    if (counts())
      send("message_delta",
           {{"delta", std::move(delta)},
            {"usage", Json::object({{"output_tokens", number(told_["usage"], "output", 5)}})}});
    else
      send("message_delta", {{"delta", std::move(delta)}});
    send("message_stop", {});
  }
  int index_ = 0;
  bool has_calls_ = false;
};

}  // namespace

std::string WireStream::text() const {
  std::string all;
  for (const auto& one : events) all += one;
  return all;
}

WireStream wire_stream(std::string_view wire, const Json& told) {
  if (wire == "responses") return Responses(told).build();
  if (wire == "chat") return Chat(told).build();
  if (wire == "messages") return Messages(told).build();
  throw std::invalid_argument("no such wire: " + std::string(wire));
}

std::string wire_error(std::string_view wire, const Json& error) {
  Json body = Json::object();
  if (wire == "messages") body.set("type", "error");
  body.set("error", error);
  return write_json(body);
}

}  // namespace sortie::test
