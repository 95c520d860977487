#include <boost/test/unit_test.hpp>

#include "core/files/files.h"
#include "core/model/chat/chat_delta.h"
#include "core/model/leaked_calls.h"
#include "core/text/text.h"
#include "tests/core/model/chat/chat_history.h"
#include "tests/support/decoded_stream.h"

using namespace sortie;
using namespace sortie::chat_history;

BOOST_AUTO_TEST_SUITE(chat_leaked_calls)

BOOST_AUTO_TEST_CASE(calls_in_a_message_are_taken_where_they_are_certain) {
  ModelSettings settings{.model = "qwen3:8b"};
  settings.tools = {
      {.name = "shell",
       .parameters = parse_json(
           R"({"properties":{"command":{"type":"array"},"workdir":{"type":"string"}}})")},
      {.name = "read_file",
       .parameters =
           parse_json(R"({"properties":{"path":{"type":"string"},"offset":{"type":"integer"}}})")},
      {.name = "apply_patch", .form = Form::custom}};
  const std::string file = read_file(SORTIE_SOURCE_DIR "/tests/data/leaked_calls.jsonl");
  int forms = 0;
  for (const std::string_view line : split_lines(file)) {
    const Json row = parse_json(line);
    BOOST_TEST_CONTEXT(row.string_at("name")) {
      ++forms;
      const Json chunk = Json::object(
          {{"id", "r"},
           {"model", "m"},
           {"choices",
            Json::array({Json::object({{"index", 0},
                                       {"delta", Json::object({{"content", row["message"]}})},
                                       {"finish_reason", "stop"}})})}});
      const auto decoded =
          test::decode_stream(OpenAiChat(), settings, "data: " + write_json(chunk) + "\n\n");
      BOOST_REQUIRE((decoded.state == WireDecoder::State::complete));

      Json expected = Json::array();
      if (row.find("reasoning"))
        expected.push_back(Json::object({{"reasoning", row["reasoning"]}}));
      const auto& calls = row["calls"].items();
      const std::string text = row.string_at(calls.empty() ? "message" : "before");
      if (!text.empty()) expected.push_back(Json::object({{"message", text}}));
      for (std::size_t i = 0; i < calls.size(); ++i) {
        Json call = Json::object(
            {{calls[i].find("input") ? "custom" : "call", "call_" + std::to_string(i + 1)},
             {"name", calls[i]["name"]}});
        if (calls[i].find("input"))
          call.set("input", calls[i]["input"]);
        else
          call.set("arguments", write_json(calls[i]["arguments"]));
        expected.push_back(call);
      }
      BOOST_TEST(write_json(decoded.shown["items"]) == write_json(expected));
      BOOST_TEST(decoded.response.leaked.empty() == calls.empty());

      const auto left = find_leaked_calls(row.string_at("message"), settings.tools);
      const bool doubted = row.find("doubt") != nullptr;
      BOOST_REQUIRE(left.has_value() == (doubted || !calls.empty()));
      if (doubted) BOOST_TEST(left->doubt.find(row.string_at("doubt")) != std::string::npos);
    }
  }
  BOOST_TEST(forms > 50);
}

BOOST_AUTO_TEST_CASE(an_answer_in_json_is_no_call) {
  ModelSettings settings{.model = "m", .output_schema = OutputSchema{}};
  settings.tools = {{.name = "shell"}};
  const auto decoded = test::decode_stream(
      OpenAiChat(), settings,
      "data: {\"choices\":[{\"delta\":{\"content\":\"{\\\"name\\\":\\\"shell\\\","
      "\\\"parameters\\\":{}}\"},\"finish_reason\":\"stop\"}]}\n\n");
  BOOST_TEST(write_json(decoded.shown["items"]) ==
             R"([{"message":"{\"name\":\"shell\",\"parameters\":{}}"}])");
}

BOOST_AUTO_TEST_SUITE_END()
