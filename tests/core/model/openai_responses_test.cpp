#include "core/model/openai_responses.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "core/base/files.h"
#include "core/model/request_body.h"
#include "tests/support/decoded_stream.h"
#include "tests/support/openai_schema.h"

using namespace sortie;

namespace {

const std::filesystem::path kStreams = SORTIE_SOURCE_DIR "/tests/data/streams";

test::DecodedStream decode(std::string_view stream, std::size_t piece = std::string::npos) {
  return test::decode_stream(OpenAiResponses(), {}, stream, piece);
}

ModelSettings full_settings() {
  ModelSettings settings{.model = "gpt-5-codex", .instructions = "Be brief."};
  settings.tools = {
      {.name = "shell",
       .description = "Runs a command.",
       .parameters = parse_json(
           R"({"type":"object","properties":{"command":{"type":"array","items":{"type":"string"}}}})")},
      {.name = "apply_patch",
       .description = "Changes files.",
       .form = ToolCall::Form::custom,
       .grammar = "start: \"*** Begin Patch\""},
      {.name = "notes", .description = "Free text.", .form = ToolCall::Form::custom},
      {.name = "plain", .description = "No arguments."}};
  settings.effort = "medium";
  settings.temperature = 0.2;
  settings.run_id = "0199-run";
  return settings;
}

Json body_of(const ModelSettings& settings, const std::vector<Item>& items) {
  const OpenAiResponses wire;
  RequestBody body(wire);
  body.update({settings, items, 0});
  return parse_json(body.bytes());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(openai_responses)

BOOST_AUTO_TEST_CASE(streams_are_decoded_as_recorded) {
  for (const auto& folder : test::stream_folders(kStreams)) {
    BOOST_TEST_CONTEXT(folder.filename().string()) {
      const std::string stream = read_file(folder / "stream.sse");
      const Json expected = parse_json(read_file(folder / "expected.json"));

      BOOST_TEST(test::differences(decode(stream), expected) == "");
      BOOST_TEST(test::differences(decode(stream, 7), expected) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_stream_cut_at_any_event_is_never_complete) {
  for (const auto& folder : test::stream_folders(kStreams)) {
    BOOST_TEST_CONTEXT(folder.filename().string()) {
      const std::string stream = read_file(folder / "stream.sse");
      const Json expected = parse_json(read_file(folder / "expected.json"));
      bool over = false;
      for (std::size_t at = 0; at != std::string::npos; at = stream.find("data: ", at + 1)) {
        const test::DecodedStream cut = decode(stream.substr(0, at));
        over = over || cut.state != WireDecoder::State::going_on;
        // Once it is over, nothing that follows changes what it said.
        if (over) BOOST_TEST(write_json(cut.shown["state"]) == write_json(expected["state"]));
        if (over) BOOST_TEST(cut.shown.string_at("kind") == expected.string_at("kind"));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(received_items_go_back_in_the_bytes_they_came_in) {
  const std::string reasoning =
      R"({"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gA\u0001B","odd":1.50})";
  const std::string call =
      R"({"type":"function_call","call_id":"c","name":"n","arguments":"{\"a\": 1}"})";
  const test::DecodedStream decoded =
      decode("data: {\"type\":\"response.completed\",\"response\":{\"output\":[" + reasoning + "," +
             call + "]}}\n\n");
  const OpenAiResponses wire;

  std::string encoded;
  wire.encode_items(decoded.response.items, 0, {}, encoded);

  BOOST_TEST(encoded == reasoning + "," + call);
  BOOST_TEST((decoded.response.output == std::vector{reasoning, call}));
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_utf8_cut_the_stream) {
  const test::DecodedStream decoded = decode(
      "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"\xff\",\"output\":[]}}\n\n");

  BOOST_TEST((decoded.state == WireDecoder::State::failed));
  BOOST_TEST(decoded.shown.string_at("kind") == "cut");
}

BOOST_AUTO_TEST_CASE(an_item_of_ten_megabytes_is_decoded) {
  const std::string text(10u << 20, 'x');
  const test::DecodedStream decoded = decode(
      "event: response.output_item.done\ndata: {\"type\":\"response.output_item.done\","
      "\"output_index\":0,\"item\":{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{"
      "\"type\":"
      "\"output_text\",\"text\":\"" +
          text +
          "\"}]}}\n\ndata: {\"type\":\"response.completed\","
          "\"response\":{\"id\":\"r\"}}\n\n",
      32768);

  BOOST_REQUIRE(decoded.response.items.size() == 1u);
  BOOST_TEST((std::get<Message>(decoded.response.items[0].content).text == text));
  BOOST_TEST(!decoded.response.usage.has_value());
}

BOOST_AUTO_TEST_CASE(a_request_has_all_that_the_schema_asks_for_and_input_last) {
  const std::vector<Item> items = {
      {Message{Message::Role::user, "hello \xF0\x9F\x98\x80 \xff"}},
      {Message{Message::Role::assistant, "hi"}},
      {ToolCall{"c1", "shell", "{}", ToolCall::Form::function}},
      {ToolOutput{"c1", "out", true, ToolCall::Form::function}},
      {ToolCall{"c2", "apply_patch", "*** Begin Patch", ToolCall::Form::custom}},
      {ToolOutput{"c2", "Done!", true, ToolCall::Form::custom}},
      {Reasoning{"thought"}},
      {Message{Message::Role::assistant, "bye"},
       R"({"id":"msg_1","type":"message","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":"bye"}]})"}};

  const Json body = body_of(full_settings(), items);

  BOOST_TEST(test::check_responses_request(body) == "");
  BOOST_TEST(body.members().back().first == "input");
  BOOST_TEST(body["input"].items().size() == items.size());
  Json rest = body;
  rest.members().pop_back();
  std::erase_if(rest.members(), [](const auto& member) { return member.first == "tools"; });
  BOOST_TEST(write_json(rest) ==
             R"({"model":"gpt-5-codex","instructions":"Be brief.","tool_choice":"auto",)"
             R"("parallel_tool_calls":true,"reasoning":{"effort":"medium","summary":"auto"},)"
             R"("store":false,"stream":true,"include":["reasoning.encrypted_content"],)"
             R"("prompt_cache_key":"0199-run","max_output_tokens":32768,"temperature":0.2})");
  BOOST_TEST(write_json(body["tools"].items()[1]) ==
             R"({"type":"custom","name":"apply_patch","description":"Changes files.","format":)"
             R"({"type":"grammar","syntax":"lark","definition":"start: \"*** Begin Patch\""}})");
  BOOST_TEST(body["tools"].items()[0]["strict"].boolean(true) == false);
}

BOOST_AUTO_TEST_CASE(reasoning_is_asked_only_of_models_that_reason) {
  const struct {
    const char* model;
    const char* effort;
    std::string reasoning;
  } rows[] = {
      {"gpt-5-codex", "high", R"({"effort":"high","summary":"auto"})"},
      {"gpt-5", "", R"({"summary":"auto"})"},
      {"o3-mini", "low", R"({"effort":"low","summary":"auto"})"},
      {"gpt-4.1", "medium", "null"},
      {"gpt-5-chat-latest", "medium", "null"},
      {"house-model", "", "null"},
      {"house-model", "low", R"({"effort":"low","summary":"auto"})"},
      {"opal", "", "null"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.model) {
      ModelSettings settings{.model = row.model, .effort = row.effort};
      const Json body = body_of(settings, {{Message{Message::Role::user, "x"}}});
      BOOST_TEST(write_json(body["reasoning"]) == row.reasoning);
      BOOST_TEST(test::check_responses_request(body) == "");
      BOOST_TEST(!body.find("tools"));
      BOOST_TEST(!body.find("temperature"));
    }
  }
}

BOOST_AUTO_TEST_CASE(each_body_begins_with_the_bytes_of_the_one_before) {
  const OpenAiResponses wire;
  RequestBody body(wire);
  const ModelSettings settings = full_settings();
  std::vector<Item> items = {{Message{Message::Role::user, "start"}}};
  std::string before;
  for (int turn = 0; turn < 50; ++turn) {
    const RequestRecord record = body.update({settings, items, 0});
    const std::string bytes(body.bytes());
    BOOST_TEST(record.bytes == bytes.size());
    BOOST_TEST(record.body_sha256 == sha256_hex(bytes));
    if (turn > 0) {
      BOOST_TEST(record.prefix_bytes == before.size() - wire.tail(items).size());
      BOOST_TEST((bytes.compare(0, record.prefix_bytes, before, 0, record.prefix_bytes) == 0));
      BOOST_TEST(record.first_new_item == items.size() - 2);
    }
    before = bytes;
    const std::string id = "c" + std::to_string(turn);
    items.push_back({ToolCall{id, "shell", "{}", ToolCall::Form::function}});
    items.push_back({ToolOutput{id, "out", true, ToolCall::Form::function}});
  }
}

BOOST_AUTO_TEST_CASE(compaction_and_other_settings_begin_anew) {
  const OpenAiResponses wire;
  RequestBody body(wire);
  ModelSettings settings = full_settings();
  const std::vector<Item> items = {{Message{Message::Role::user, "a"}},
                                   {Message{Message::Role::user, "b"}}};
  const std::vector<Item> compacted = {{Message{Message::Role::user, "a"}},
                                       {Message{Message::Role::user, "summary"}}};
  body.update({settings, items, 0});
  const std::string first(body.bytes());

  const RequestRecord again = body.update({settings, items, 0});
  BOOST_TEST(again.prefix_bytes == first.size());
  const RequestRecord shorter = body.update({settings, compacted, 1});
  BOOST_TEST(shorter.first_new_item == 0u);
  BOOST_TEST(shorter.body_sha256 == sha256_hex(body.bytes()));
  BOOST_TEST(shorter.prefix_bytes == first.find("\"b\"") + 1);
  settings.instructions = "Other.";
  BOOST_TEST(body.update({settings, compacted, 1}).prefix_bytes < 60u);
  BOOST_TEST(write_json(body_of(settings, compacted)) == std::string(body.bytes()));
}

BOOST_AUTO_TEST_SUITE_END()
