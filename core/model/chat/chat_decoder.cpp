#include "core/model/chat/chat_decoder.h"

#include <algorithm>

#include "core/model/chat/thoughts.h"
#include "core/model/leaked_calls.h"
#include "core/model/wire.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// @return the bytes added
std::size_t add_function(const Json& function, ChatCall& call) {
  const std::string name = function.string_at("name");
  // Some servers repeat the whole name; it comes in pieces only before any arguments.
  if (call.name != name && call.arguments.empty()) call.name += name;
  const Json& arguments = function["arguments"];
  const std::string text = arguments.is_object() ? write_json(arguments) : arguments.text();
  if (arguments.is_string() || arguments.is_object()) call.arguments += text;
  return name.size() + text.size();
}

/// Content is a string or, from some servers, a list of parts; thinking parts are reasoning.
void add_content(const Json& content, ChatText& to) {
  if (content.is_string()) to.content += content.text();
  for (const Json& part : content.items()) {
    const Json& thinking = part["thinking"];
    if (thinking.is_string()) to.reasoning += thinking.text();
    for (const Json& thought : thinking.items()) to.reasoning += thought.string_at("text");
    if (thinking.is_null()) to.content += part.string_at("text");
  }
}

/// The names of the filters that found something: {"hate":{"filtered":true,…},…}.
std::string filters(const Json& results) {
  std::string names;
  for (const auto& [name, result] : results.members())
    if (result["filtered"].boolean())
      names += (names.empty() ? "" : ", ") + one_line_of_words(name, 40);
  return names;
}

}  // namespace

ChatCall& ChatCalls::call_of(const Json& piece) {
  const std::string id = piece.string_at("id");
  const auto index = piece["index"].integer();
  const bool named = !piece["function"].string_at("name").empty();
  // The latest first: if calls share an index, a piece belongs to the one begun last.
  for (auto call = calls_.rbegin(); call != calls_.rend(); ++call) {
    if (!id.empty() && call->id == id && (!index || !call->index || index == call->index))
      return *call;
    if (!index || index != call->index) continue;
    const bool other = !id.empty() && !call->id.empty();  // and not equal
    const bool next = id.empty() && call->id.empty() && named && !call->arguments.empty() &&
                      call->name != piece["function"].string_at("name");
    if (!other && !next) return *call;
    break;
  }
  if (!index && id.empty() && !named && !calls_.empty()) return calls_.back();
  calls_.push_back({.index = index});
  return calls_.back();
}

std::size_t ChatCalls::add_tool_calls(const Json& pieces) {
  std::size_t bytes = 0;
  for (const Json& piece : pieces.items()) {
    if (!piece.is_object()) continue;
    if (calls_.size() > WireDecoder::kMaxResponseItems) break;  // the decoder will fail
    ChatCall& call = call_of(piece);
    const std::string id = piece.string_at("id");
    if (call.id.empty()) call.id = id;
    if (call.type.empty()) call.type = piece.string_at("type");
    bytes += 64 + id.size() + add_function(piece["function"], call);
  }
  return bytes;
}

std::size_t ChatCalls::add_function_call(const Json& piece) {
  if (!piece.is_object()) return 0;
  if (!function_call_) function_call_.emplace();
  return add_function(piece, *function_call_);
}

WireDecoder::State ChatDecoder::read(const SseEvent& event) {
  if (state_ != State::going_on) return state_;
  if (event.data == "[DONE]") {
    if (finish_reason_.empty())
      fail_as_cut("the stream sent [DONE] before a finish_reason");
    else
      complete();
    return state_;
  }
  if (begun_ && event.name.empty() && text_reader_.read(event.data, chunk_text_)) {
    add_text(chunk_text_);
    return state_;
  }
  Json json;
  try {
    json = parse_json(event.data);
  } catch (const JsonError& error) {
    // Events of other types are ignored.
    if (is_one_of(event.name, {"", "message", "error"}))
      fail_as_cut("an event of the stream is not JSON: " + std::string(error.what()) + " at byte " +
                  std::to_string(error.offset()));
    return state_;
  }
  if (!json["error"].is_null())
    fail_with(json["error"]);
  else if (event.name == "error" || json.string_at("object") == "error")
    fail_with(json);
  else
    read_chunk(json);
  return state_;
}

WireDecoder::State ChatDecoder::finish() {
  if (state_ == State::going_on && !finish_reason_.empty()) complete();
  return state_;
}

WireDecoder::State ChatDecoder::read_whole(std::string_view body) {
  if (!is_json(body)) return state_;  // the caller shows it
  if (read({.name = {}, .data = body}) == State::going_on) finish();
  return state_;
}

void ChatDecoder::read_chunk(const Json& chunk) {
  begun_ = true;
  if (response_.id.empty()) response_.id = chunk.string_at("id");
  if (response_.served_model.empty()) response_.served_model = chunk.string_at("model");
  read_usage(chunk["usage"].is_object() ? chunk["usage"] : chunk["x_groq"]["usage"]);
  const auto& choices = chunk["choices"].items();
  for (const Json& choice : choices)
    if (choice["index"].integer().value_or(0) == 0) read_choice(choice);
  // The chunk with the usage: only [DONE] follows.
  const bool last = choices.empty() && chunk["usage"].is_object() && !finish_reason_.empty();
  if (last && state_ == State::going_on) complete();
}

void ChatDecoder::read_choice(const Json& choice) {
  read_delta(choice["delta"].is_object() ? choice["delta"] : choice["message"]);
  const std::string reason = choice.string_at("finish_reason");
  if (!reason.empty()) finish_reason_ = reason;
  const std::string found = filters(choice["content_filter_results"]);
  if (!found.empty()) filtered_ = found;
}

void ChatDecoder::read_delta(const Json& delta) {
  ChatText text;
  add_content(delta["content"], text);
  // Some servers send it under both names.
  const std::string reasoning = delta.string_at("reasoning_content");
  const std::string other = delta.string_at("reasoning", delta.string_at("thinking"));
  text.reasoning += reasoning.empty() ? other : reasoning;
  text.goes_back = !reasoning.empty();
  add_text(text);
  const std::string refusal = delta.string_at("refusal");
  refusal_ += refusal;
  grow(refusal.size() + calls_.add_tool_calls(delta["tool_calls"]) +
       calls_.add_function_call(delta["function_call"]));
}

void ChatDecoder::read_usage(const Json& usage) {
  if (!usage.is_object()) return;
  const Json& prompt = usage["prompt_tokens_details"];
  response_.raw_usage = usage;
  response_.usage =
      Usage{.input_tokens = token_count(usage, "prompt_tokens"),
            .cached_input_tokens =
                token_count(prompt, "cached_tokens", token_count(usage, "prompt_cache_hit_tokens")),
            .output_tokens = token_count(usage, "completion_tokens"),
            .reasoning_output_tokens =
                token_count(usage["completion_tokens_details"], "reasoning_tokens")};
}

void ChatDecoder::add_text(const ChatText& text) {
  grow_by(content_, text.content);
  reasoning_ += text.reasoning;
  goes_back_ = goes_back_ || (text.goes_back && !text.reasoning.empty());
  emit_text(Text::message, text.content);
  emit_text(Text::reasoning, text.reasoning);
  grow(text.content.size() + text.reasoning.size());
}

void ChatDecoder::grow(std::size_t bytes) {
  bytes_ += bytes;
  if (bytes_ > kMaxResponseBytes && state_ == State::going_on)
    fail_as_cut("the response is longer than " + std::to_string(kMaxResponseBytes >> 20) + " MiB");
  if (calls_.calls().size() > kMaxResponseItems && state_ == State::going_on)
    fail_as_cut("the response has more than " + std::to_string(kMaxResponseItems) + " calls");
}

/// By the finish_reason, OpenAI's or another server's own.
void ChatDecoder::complete() {
  const std::string& reason = finish_reason_;
  if (!refusal_.empty()) return fail(failure_of_code("content_filter", refusal_));
  if (is_one_of(reason, {"content_filter", "safety", "SAFETY", "RECITATION"}))
    return fail(
        failure_of_code("content_filter", "the provider's content filter ended the response" +
                                              (filtered_.empty() ? "" : " (" + filtered_ + ")")));
  if (is_one_of(reason, {"error", "abort", "insufficient_system_resource"}))
    return fail(failure_of_code("server_error", "the response ended with the finish_reason '" +
                                                    one_line_of_words(reason, 80) + "'"));
  response_.incomplete = is_one_of(reason, {"length", "max_tokens", "model_length"});
  response_.stop_reason = response_.incomplete ? "max_output_tokens" : "completed";
  take_thoughts();
  std::vector<ChatCall> calls = whole_calls();
  response_.output.push_back(message_json(calls));
  if (!reasoning_.empty())
    response_.items.push_back({Reasoning{std::move(reasoning_), goes_back_}});
  if (!content_.empty())
    response_.items.push_back({Message{Message::Role::assistant, std::move(content_)}});
  take_calls(calls, response_.incomplete);
  state_ = State::complete;
}

/// Reasoning that the server left in the text.
void ChatDecoder::take_thoughts() {
  Thoughts thoughts = split_thoughts(std::move(content_));
  content_ = std::move(thoughts.message);
  if (thoughts.reasoning.empty()) return;
  if (!reasoning_.empty()) reasoning_ += "\n\n";
  reasoning_ += thoughts.reasoning;
  goes_back_ = false;
}

/// The calls, each with an id of its own: some servers send none, or one for all. Calls that the
/// server left in the text are among them, if they are certain.
std::vector<ChatCall> ChatDecoder::whole_calls() {
  std::vector<ChatCall> calls = calls_.calls();
  if (calls_.function_call()) {
    calls.push_back(*calls_.function_call());
  }
  if (calls.empty() && !response_.incomplete)
    if (auto leaked = find_leaked_calls(content_, tools_, bare_json_); leaked) {
      for (const ToolCall& call : leaked->calls)
        calls.push_back({.name = call.name, .arguments = call.arguments});
      if (!calls.empty()) {
        response_.leaked = std::move(content_);
        content_ = std::move(leaked->before);
      }
    }
  std::set<std::string> ids;
  for (ChatCall& call : calls)
    if (call.id.empty() || !ids.insert(call.id).second) call.id = new_call_id_();
  return calls;
}

/// @param cut  the response reached its output limit: its last call may be incomplete
void ChatDecoder::take_calls(const std::vector<ChatCall>& calls, bool cut) {
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const ChatCall& call = calls[i];
    if (!call.type.empty() && call.type != "function") {
      response_.findings.push_back(
          not_run(call.name,
                  "calls of type '" + one_line_of_words(call.type, 40) + "' are not supported."));
      continue;
    }
    const bool last = i + 1 == calls.size();
    CallReading reading =
        cut && last && !is_json(call.arguments)
            ? CallReading{.finding = not_run(call.name, "it was cut off at the output limit.")}
            : reader_.read({call.id, call.name, call.arguments});
    if (reading.call)
      response_.items.push_back({std::move(*reading.call)});
    else
      response_.findings.push_back(std::move(reading.finding));
  }
}

/// Written directly as text: the content may be megabytes.
std::string ChatDecoder::message_json(const std::vector<ChatCall>& all) const {
  std::string text;
  text.reserve(content_.size() + content_.size() / 16 + reasoning_.size() + 256);
  text = R"({"role":"assistant","content":)";
  if (content_.empty())
    text += "null";
  else
    write_json_string(content_, text);
  if (!reasoning_.empty()) {
    text += goes_back_ ? R"(,"reasoning_content":)" : R"(,"reasoning":)";
    write_json_string(reasoning_, text);
  }
  Json calls = Json::array();
  for (const ChatCall& call : all)
    calls.push_back(Json::object(
        {{"id", call.id},
         {"type", call.type.empty() ? "function" : call.type},
         {"function", Json::object({{"name", call.name}, {"arguments", call.arguments}})}}));
  if (!calls.items().empty()) {
    text += R"(,"tool_calls":)";
    write_json(calls, text);
  }
  text += '}';
  return text;
}

void ChatDecoder::fail_with(const Json& error) {
  if (error.is_string()) return fail(failure_of_code("", error.text()));
  // Some servers send the HTTP status as the code.
  const auto status = error["code"].integer();
  if (status && *status >= 400 && *status <= 599)
    return fail(failure_of_status({static_cast<int>(*status), {}}, write_json(error), {}));
  fail(failure_of_error(error, std::chrono::system_clock::now()));
}

}  // namespace sortie
