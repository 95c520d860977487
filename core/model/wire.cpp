#include "core/model/wire.h"

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
void WireDecoder::tell_escaped(Text kind, std::string_view escaped) const {
  if (!is_heard()) return;
  if (escaped.find('\\') == std::string_view::npos) return tell(kind, escaped);
  try {
    tell(kind, parse_json('"' + std::string(escaped) + '"').text());
  } catch (const JsonError&) {
    // Who reads the whole text will say what is wrong with it.
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

}  // namespace sortie
