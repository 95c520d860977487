#include "tools/mcp/transport/http_reply.h"

#include <strings.h>

#include <algorithm>

#include "core/text/text.h"

namespace sortie::mcp {
namespace {

/// Bytes that are read of a refusal.
constexpr std::size_t kMaxRefusal = 64u << 10;
constexpr std::size_t kShownRefusal = 300;

/// "Text/HTML" from "Text/HTML; charset=utf-8".
std::string media_type(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ') || type.ends_with('\t')) type.remove_suffix(1);
  return std::string(type);
}

bool is_type(const std::string& type, const char* name) {
  return ::strcasecmp(type.c_str(), name) == 0;
}

}  // namespace

HttpReply::HttpReply(OnMessage on_message, OnBadMessage on_bad_message,
                     const HttpReplyLimits& limits, std::optional<Json> awaited)
    : on_message_(std::move(on_message)),
      on_bad_message_(std::move(on_bad_message)),
      limits_(limits),
      awaited_(std::move(awaited)),
      events_(limits.message.max_bytes) {}

void HttpReply::on_head(const HttpHead& head) {
  status_ = head.status;
  session_id_ = header_value(head.headers, "Mcp-Session-Id");
  retry_after_ = header_value(head.headers, "Retry-After");
  type_ = media_type(header_value(head.headers, "Content-Type"));
  if (is_type(type_, "application/json")) {
    form_ = Form::json;
  } else if (is_type(type_, "text/event-stream") && accepted()) {
    form_ = Form::stream;
  } else if (!type_.empty()) {
    form_ = Form::other;
  }
}

HttpSink::Wants HttpReply::on_body(std::string_view bytes) {
  if (form_ != Form::stream) {
    // Other bodies may be cut: those of refusals, and those that are not messages.
    const bool is_message = form_ == Form::json && accepted();
    const std::size_t limit = is_message ? limits_.message.max_bytes : kMaxRefusal;
    if (body_.size() + bytes.size() > limit) {
      if (is_message) fail("a message is longer than " + std::to_string(limit) + " bytes");
      body_.append(bytes.substr(0, limit - body_.size()));
      return Wants::enough;
    }
    body_.append(bytes);
    return Wants::more;
  }
  bytes_ += bytes.size();
  try {
    events_.feed(bytes, [this](const SseEvent& event) {
      const bool is_message = event.name.empty() || event.name == "message";
      // An event without data only sets the stream's id.
      if (is_message && !event.data.empty() && !enough_) take(event.data);
    });
  } catch (const SseError& error) {
    fail(error.what());
  }
  if (bytes_ > limits_.stream_bytes && !enough_)
    fail("the stream is longer than " + std::to_string(limits_.stream_bytes) + " bytes");
  return enough_ ? Wants::enough : Wants::more;
}

void HttpReply::finish() {
  if (!accepted() || enough_ || form_ == Form::stream) return;
  if (form_ == Form::json && !body_.empty()) {
    take(body_);
  } else if (!body_.empty()) {
    fail("the server answers with " +
         (type_.empty() ? "a body without a content type"
                        : "'" + one_line_of_words(type_, 80) + "'") +
         ", not with JSON or an event stream");
  }
}

void HttpReply::take(std::string_view text) {
  try {
    for (Message& message : parse_messages(text, limits_.message))
      if (on_message_(std::move(message)) == Wants::enough) enough_ = true;
  } catch (const RpcFormatError& error) {
    const std::string why = std::string("the server sent an invalid message: ") + error.what();
    on_bad_message_(why);
    const BrokenMessage broken = inspect_broken(text);
    const bool is_awaited =
        awaited_ && broken.is_reply && (broken.id.is_null() || broken.id == *awaited_);
    if (form_ == Form::json || is_awaited) fail(why);
    if (++bad_messages_ >= limits_.bad_messages)
      fail("the server sent " + std::to_string(bad_messages_) + " invalid messages");
  }
}

std::string HttpReply::refusal() const {
  std::string text = body_;
  if (form_ == Form::json) {
    try {
      const Json json = parse_json(body_);
      const Json& error = json["error"];
      if (error["message"].is_string()) {
        text = error["message"].text();
      } else if (error.is_string()) {
        text = error.text();
        const std::string more = json.string_at("error_description");
        if (!more.empty()) text += ": " + more;
      } else {
        text = json.string_at("message", body_);
      }
    } catch (const JsonError&) {
      // Shown as it is, then.
    }
  } else if (form_ == Form::other && !is_type(type_, "text/plain")) {
    return "";  // A page is for a browser.
  }
  while (text.ends_with('\n')) text.pop_back();
  return one_line_of_words(text, kShownRefusal);
}

void HttpReply::fail(std::string why) {
  enough_ = true;
  if (problem_.empty()) problem_ = std::move(why);
}

}  // namespace sortie::mcp
