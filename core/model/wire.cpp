#include "core/model/wire.h"

#include <utility>

namespace sortie {

void WireDecoder::fail(ModelFailure failure) {
  failure_ = std::move(failure);
  state_ = State::failed;
}

void WireDecoder::fail_as_cut(const std::string& message) {
  ModelFailure failure;
  failure.status = 200;
  failure.message = message;
  fail(std::move(failure));
}

void WireDecoder::emit_escaped(Text kind, std::string_view escaped) const {
  if (!wants_text()) return;
  if (escaped.find('\\') == std::string_view::npos) return emit_text(kind, escaped);
  try {
    emit_text(kind, parse_json('"' + std::string(escaped) + '"').text());
  } catch (const JsonError&) {
    // Reported once the whole text is read.
  }
}

RecordedResponse::RecordedResponse(const Json& data)
    : id(data.string_at("response_id", data.string_at("id"))),
      model(data.string_at("served_model", data.string_at("model"))),
      output(data.find("output") ? data["output"] : data["items"]),
      usage(data["usage"]),
      reason(data.string_at("stop_reason", "completed")),
      repeated(data.string_at("repeated")),
      incomplete(data["incomplete"].boolean(reason != "completed")) {}

void add_sse_event(std::string_view name, const Json& data, std::string& to) {
  if (!name.empty()) to.append("event: ").append(name).append("\n");
  to += "data: ";
  write_json(data, to);
  to += "\n\n";
}

HttpHeaders openai_headers(const std::string& run_id) {
  HttpHeaders headers = {{"originator", "sortie"}};
  if (!run_id.empty()) headers.emplace_back("session_id", run_id);
  return headers;
}

std::string content_text(const Json& content) {
  if (content.is_string()) return content.text();
  std::string text;
  for (const Json& part : content.items())
    text +=
        part.string_at("type") == "refusal" ? part.string_at("refusal") : part.string_at("text");
  return text;
}

void add_said(Said::Kind kind, std::string text, SaidList& list) {
  if (!text.empty()) list.push_back({kind, std::move(text)});
}

std::optional<SaidList> said_in_neutral(const Json& item) {
  const std::string type = item.string_at("type");
  SaidList list;
  if (type == "message" && item.find("text"))
    add_said(Said::Kind::message, content_text(item["text"]), list);
  else if (type == "reasoning" && item["summary"].is_string())
    add_said(Said::Kind::reasoning, item.string_at("summary"), list);
  else
    return {};
  return list;
}

}  // namespace sortie
