#include "tests/core/agent/long_run.h"

#include "core/agent/loop.h"
#include "core/provider/cassette.h"
#include "core/provider/wires.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_tool_host.h"

namespace sortie::test {

namespace {

constexpr const char* kArguments = R"({"command":["sed","-n","1,80p","src/main.cpp"]})";

/// What the provider sends in one turn, in the wire's own JSON.
Json items_of(const std::string& wire, bool legacy, int turn, bool last) {
  const std::string number = std::to_string(turn);
  const std::string text = last ? "Done." : "Next I look at part " + number + ".";
  if (wire == "responses") {
    Json items = Json::array(
        {Json::object({{"type", "reasoning"},
                       {"id", "rs_" + number},
                       {"summary", Json::array()},
                       {"encrypted_content", "c2VjcmV0" + number}}),
         Json::object({{"type", "message"},
                       {"id", "msg_" + number},
                       {"role", "assistant"},
                       {"status", "completed"},
                       {"content", Json::array({Json::object({{"type", "output_text"},
                                                              {"text", text},
                                                              {"annotations", Json::array()},
                                                              {"logprobs", Json::array()}})})}})});
    for (const char* each : {"a", "b"})
      if (!last)
        items.push_back(Json::object({{"type", "function_call"},
                                      {"id", "fc_" + number + each},
                                      {"call_id", "call_" + number + each},
                                      {"name", "shell"},
                                      {"arguments", kArguments}}));
    return items;
  }
  if (wire == "messages") {
    Json blocks = Json::array({Json::object({{"type", "thinking"},
                                             {"thinking", "Part " + number + " is next."},
                                             {"signature", "c2ln" + number}}),
                               Json::object({{"type", "text"}, {"text", text}})});
    for (const char* each : {"a", "b"})
      if (!last)
        blocks.push_back(Json::object({{"type", "tool_use"},
                                       {"id", "toolu_" + number + each},
                                       {"name", "shell"},
                                       {"input", parse_json(kArguments)}}));
    return blocks;
  }
  Json message = Json::object({{"role", "assistant"}, {"content", text}});
  const Json function = Json::object({{"name", "shell"}, {"arguments", kArguments}});
  if (legacy && !last) message.set("function_call", function);
  Json calls = Json::array();
  for (const char* each : {"a", "b"})
    calls.push_back(Json::object(
        {{"id", "call_" + number + each}, {"type", "function"}, {"function", function}}));
  if (!legacy && !last) message.set("tool_calls", std::move(calls));
  return Json::array({std::move(message)});
}

class Nobody : public EventSink {
 public:
  void on(const RunEvent&) override {}
};

std::string wire_of(const std::string& form) { return form == "functions" ? "chat" : form; }

}  // namespace

const std::vector<std::string> kForms = {"responses", "chat", "functions", "messages"};

FormModel::FormModel(const std::string& form, int turns)
    : legacy_(form == "functions"),
      wire_(make_wire(wire_of(form), {.legacy_functions = legacy_})),
      body_(*wire_),
      turns_(turns) {}

Response FormModel::ask(const Request& request, StreamSink& stream,
                        std::chrono::steady_clock::time_point, std::stop_token) {
  const RequestRecord record = body_.update(request);
  stream.on_request(record, 1);
  if (on_body) on_body(body_.bytes(), record.prefix_bytes);
  const bool last = turn_ == turns_;
  const std::string wire(wire_->name());
  const Json recorded = Json::object({{"id", "r" + std::to_string(++turn_)},
                                      {"served_model", "gpt-5-codex"},
                                      {"items", items_of(wire, legacy_, turn_, last)}});
  const auto decoder = wire_->decoder(request.settings);
  SseParser parser;
  parser.feed(response_stream(wire, recorded).value(),
              [&](const SseEvent& event) { decoder->read(event); });
  return decoder->take();
}

int run_long(FormModel& model) {
  const FakeClock clock;
  TaskBudget limits;
  limits.turns = 1'000'000;
  limits.tokens = 1'000'000'000'000;
  Budget budget(limits, clock);
  FakeToolHost tools;
  Nobody nobody;
  ModelSettings settings{.model = "gpt-5-codex", .instructions = "Be good.", .run_id = "run"};
  Loop loop({model, tools, nobody, budget}, settings);
  const auto end = loop.run({{Message{Message::Role::user, "Look at every part."}}}, {});
  return end.code == ExitCode::success ? loop.turn() : 0;
}

}  // namespace sortie::test
