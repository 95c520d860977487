#include "tests/support/cassette_writer.h"

#include "core/files/files.h"

namespace sortie::test {
namespace {

std::string event(const std::string& type, Json data) {
  Json whole = Json::object({{"type", type}});
  for (auto& [name, value] : data.members()) whole.set(name, std::move(value));
  return "event: " + type + "\ndata: " + write_json(whole) + "\n\n";
}

}  // namespace

CassetteWriter& CassetteWriter::call(const std::string& tool, Json arguments) {
  const std::string number = std::to_string(++calls_);
  items_.push_back(Json::object({{"type", "function_call"},
                                 {"id", "fc_" + number},
                                 {"call_id", "call_" + number},
                                 {"name", tool},
                                 {"arguments", write_json(arguments)},
                                 {"status", "completed"}}));
  return *this;
}

CassetteWriter& CassetteWriter::shell(const std::vector<std::string>& argv) {
  Json command = Json::array();
  for (const auto& word : argv) command.push_back(word);
  return call("shell", Json::object({{"command", std::move(command)}}));
}

CassetteWriter& CassetteWriter::patch(const std::string& text) {
  const std::string number = std::to_string(++calls_);
  items_.push_back(Json::object({{"type", "custom_tool_call"},
                                 {"id", "ctc_" + number},
                                 {"call_id", "call_" + number},
                                 {"name", "apply_patch"},
                                 {"input", text},
                                 {"status", "completed"}}));
  return *this;
}

CassetteWriter& CassetteWriter::next() {
  const std::string id = "resp_" + std::to_string(streams_.size() + 1);
  Json response = Json::object(
      {{"id", id},
       {"object", "response"},
       {"model", "gpt-5-codex"},
       {"status", "completed"},
       {"output", items_},
       {"usage",
        Json::object({{"input_tokens", 100}, {"output_tokens", 10}, {"total_tokens", 110}})}});
  std::string stream =
      event("response.created", Json::object({{"response", Json::object({{"id", id}})}}));
  int index = 0;
  for (const auto& item : items_.items())
    stream += event("response.output_item.done",
                    Json::object({{"output_index", index++}, {"item", item}}));
  stream += event("response.completed", Json::object({{"response", std::move(response)}}));
  streams_.push_back(std::move(stream));
  items_ = Json::array();
  return *this;
}

CassetteWriter& CassetteWriter::message(const std::string& text) {
  Json part = Json::object({{"type", "output_text"},
                            {"text", text},
                            {"annotations", Json::array()},
                            {"logprobs", Json::array()}});
  items_.push_back(Json::object({{"type", "message"},
                                 {"id", "msg_" + std::to_string(streams_.size() + 1)},
                                 {"role", "assistant"},
                                 {"status", "completed"},
                                 {"content", Json::array({std::move(part)})}}));
  return next();
}

std::string CassetteWriter::text() const {
  std::string lines = R"({"cassette":1,"comment":"Made by a test."})"
                      "\n";
  for (const auto& stream : streams_)
    lines +=
        write_json(Json::object({{"wire", "responses"},
                                 {"status", 200},
                                 {"headers", Json::object({{"content-type", "text/event-stream"}})},
                                 {"sse", stream}})) +
        "\n";
  return lines;
}

void CassetteWriter::save(const std::filesystem::path& file) const { write_file(file, text()); }

}  // namespace sortie::test
