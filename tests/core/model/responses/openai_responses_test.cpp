#include "core/model/responses/openai_responses.h"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "core/files/files.h"
#include "core/provider/request_body.h"
#include "core/provider/wires.h"
#include "tests/support/decoded_stream.h"
#include "tests/support/openai_schema.h"

using namespace sortie;

namespace {

const std::filesystem::path kStreams = SORTIE_SOURCE_DIR "/tests/data/streams";

test::DecodedStream decode(std::string_view stream, std::size_t piece = std::string::npos) {
  return test::decode_stream(OpenAiResponses(), {}, stream, piece);
}

/// Why the stream is not a response; "" if it is one.
std::string decode_failure(std::string_view stream) {
  const auto decoder = OpenAiResponses().decoder({});
  SseParser().feed(stream, [&](const SseEvent& event) { decoder->read(event); });
  return decoder->failure().message;
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
  wire.item_writer({})->write(decoded.response.items, encoded);

  BOOST_TEST(encoded == reasoning + "," + call);
  BOOST_TEST(decoded.response.output.empty());  // the items say it all
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_utf8_cut_the_stream) {
  const test::DecodedStream decoded = decode(
      "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"\xff\",\"output\":[]}}\n\n");

  BOOST_TEST((decoded.state == WireDecoder::State::failed));
  BOOST_TEST(decoded.shown.string_at("kind") == "cut");
}

BOOST_AUTO_TEST_CASE(a_message_that_is_whole_is_said_once) {
  const OpenAiResponses wire;
  const std::unique_ptr<WireDecoder> decoder = wire.decoder({});
  decoder->on_text([](WireDecoder::Text, std::string_view) {});
  const auto delta = [&](const std::string& text) {
    decoder->read({"response.output_text.delta", R"({"delta":")" + text + R"("})"});
  };

  delta("one ");
  decoder->read({"response.output_item.done",
                 R"({"output_index":0,"item":{"type":"message","content":[{"type":"output_text",)"
                 R"("text":"one "}]}})"});
  delta("two");

  BOOST_TEST(decoder->message_so_far() == "one two");
}

BOOST_AUTO_TEST_CASE(a_terminal_event_is_read_however_long_its_texts_are) {
  const std::string text(100'000, 'x');
  const auto item = [&](const char* id) {
    return R"({"type":"message","id":")" + std::string(id) +
           R"(","content":[{"type":"output_text","text":")" + text + R"("}]})";
  };
  const auto texts_of = [&](const std::string& output) {
    const test::DecodedStream decoded = decode(
        "data: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":" + item("a") +
        "}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\"" + output +
        ",\"instructions\":\"" + text + "\",\"usage\":{\"input_tokens\":7}}}\n\n");
    BOOST_REQUIRE(decoded.response.usage.has_value());
    BOOST_TEST(decoded.response.usage->input_tokens == 7);
    std::vector<std::string> texts;
    for (const Item& one : decoded.response.items)
      texts.push_back(std::get<Message>(one.content).text);
    return texts;
  };

  BOOST_TEST((texts_of("") == std::vector{text}));
  BOOST_TEST((texts_of(",\"output\":[" + item("a") + "]") == std::vector{text}));
  BOOST_TEST(
      (texts_of(",\"output\":[" + item("a") + "," + item("b") + "]") == std::vector{text, text}));
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
  BOOST_TEST(body["input"].items().size() == items.size() - 1);  // reasoning that is only ours
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
      BOOST_TEST(record.prefix_bytes + 64 > before.size());  // all but the tail
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

BOOST_AUTO_TEST_CASE(what_came_goes_back_whatever_its_type) {
  for (const char* name : {"local_shell", "web_search", "tool_calls"}) {
    BOOST_TEST_CONTEXT(name) {
      const auto decoded = decode(read_file(kStreams / name / "stream.sse"));
      std::vector<Item> items = {{Message{Message::Role::user, "x"}}};
      for (const Item& item : decoded.response.items) items.push_back(item);
      for (const Item& item : decoded.response.items)
        if (const auto* call = std::get_if<ToolCall>(&item.content))
          items.push_back({ToolOutput{call->call_id, "out", true, call->form}});

      const Json body = body_of(full_settings(), items);

      BOOST_TEST(test::check_responses_request(body) == "");
      const auto& input = body["input"].items();
      BOOST_REQUIRE(input.size() == items.size());
      for (std::size_t i = 0; i < decoded.response.items.size(); ++i)
        BOOST_TEST(write_json(input[i + 1]) == decoded.response.items[i].received);
      if (std::string(name) == "local_shell")
        BOOST_TEST(write_json(input.back()) ==
                   R"({"type":"local_shell_call_output","id":"call_2","call_id":"call_2",)"
                   R"("output":"out"})");
    }
  }
}

BOOST_AUTO_TEST_CASE(images_are_data_urls) {
  const Image image{.media_type = "image/png", .base64 = "iVBORw0KGgo="};
  const std::string part =
      R"({"type":"input_image","image_url":"data:image/png;base64,iVBORw0KGgo=","detail":"auto"})";
  const Json body =
      body_of(full_settings(),
              {{Message{Message::Role::user, "see", {image}}},
               {Message{Message::Role::user, "", {image}}},
               {ToolCall{"c1", "shell", "{}"}},
               {ToolOutput{"c1", "a picture", true, ToolCall::Form::function, {image, image}}},
               {ToolCall{"c2", "notes", "text", ToolCall::Form::custom}},
               {ToolOutput{"c2", "", true, ToolCall::Form::custom, {image}}}});

  BOOST_TEST(test::check_responses_request(body) == "");
  const auto& input = body["input"].items();
  BOOST_TEST(write_json(input[0]["content"]) ==
             R"([{"type":"input_text","text":"see"},)" + part + "]");
  BOOST_TEST(write_json(input[1]["content"]) == "[" + part + "]");
  BOOST_TEST(write_json(input[3]["output"]) ==
             R"([{"type":"input_text","text":"a picture"},)" + part + "," + part + "]");
  BOOST_TEST(write_json(input[5]["output"]) == "[" + part + "]");
}

BOOST_AUTO_TEST_CASE(without_free_text_tools_their_calls_are_those_of_functions) {
  ModelSettings settings = full_settings();
  settings.free_text_tools = false;
  const std::string call =
      R"({"type":"function_call","id":"fc","call_id":"c1","name":"notes","arguments":"{\"input\":\"a\\nb\"}"})";
  const std::string misfit =
      R"({"type":"function_call","id":"fd","call_id":"c2","name":"notes","arguments":"{\"text\":1}"})";
  const auto decoded =
      test::decode_stream(OpenAiResponses(), settings,
                          "data: {\"type\":\"response.completed\",\"response\":{\"output\":[" +
                              call + "," + misfit + "]}}\n\n");

  BOOST_REQUIRE(decoded.response.items.size() == 2u);
  const auto& read = std::get<ToolCall>(decoded.response.items[0].content);
  BOOST_TEST((read.form == ToolCall::Form::custom));
  BOOST_TEST(read.arguments == "a\nb");
  const auto& other = std::get<ToolCall>(decoded.response.items[1].content);
  BOOST_TEST((other.form == ToolCall::Form::function));
  BOOST_TEST(other.arguments == R"({"text":1})");
  BOOST_TEST(decoded.response.findings.empty());

  const Json body = body_of(settings, {{Message{Message::Role::user, "x"}},
                                       decoded.response.items[0],
                                       {ToolOutput{"c1", "out", true, ToolCall::Form::custom}},
                                       {ToolCall{"c3", "notes", "t", ToolCall::Form::custom}},
                                       {ToolOutput{"c3", "out", true, ToolCall::Form::custom}}});
  BOOST_TEST(test::check_responses_request(body) == "");
  BOOST_TEST(write_json(body["input"].items()[1]) == call);
  BOOST_TEST(body["input"].items()[2].string_at("type") == "function_call_output");
  BOOST_TEST(write_json(body["input"].items()[3]) ==
             R"({"type":"function_call","call_id":"c3","name":"notes",)"
             R"("arguments":"{\"input\":\"t\"}"})");
  BOOST_TEST(body["input"].items()[4].string_at("type") == "function_call_output");
  const Json& notes = body["tools"].items()[2];
  BOOST_TEST(notes.string_at("type") == "function");
  BOOST_TEST(write_json(notes["parameters"]["required"]) == R"(["input"])");
}

BOOST_AUTO_TEST_CASE(another_providers_arguments_that_are_no_object_go_out_as_one) {
  const Json body = body_of(full_settings(), {{Message{Message::Role::user, "x"}},
                                              {ToolCall{"c1", "shell", "{\"command\":"}},
                                              {ToolOutput{"c1", "out", false}}});

  BOOST_TEST(body["input"].items().at(1).string_at("arguments") == R"({"input":"{\"command\":"})");
}

BOOST_AUTO_TEST_CASE(what_only_other_providers_know_is_told_as_far_as_it_can_be) {
  const Json body =
      body_of(full_settings(), {{Reasoning{"thought"}},
                                {Message{Message::Role::user, "x"}},
                                {ProviderItem{"web_search_call", "q"}},
                                {ToolCall{"c", "local_shell", "{}", ToolCall::Form::local_shell}},
                                {Reasoning{"more"}},
                                {ToolOutput{"c", "out", true, ToolCall::Form::local_shell}}});

  BOOST_TEST(test::check_responses_request(body) == "");
  BOOST_REQUIRE(body["input"].items().size() == 3u);
  BOOST_TEST(body["input"].items()[1].string_at("type") == "function_call");
  BOOST_TEST(body["input"].items()[2].string_at("type") == "function_call_output");
}

BOOST_AUTO_TEST_CASE(tools_of_the_provider_and_the_answer_s_schema_are_declared) {
  ModelSettings settings = full_settings();
  settings.model = "codex-mini-latest";
  settings.tools = {{.name = "local_shell", .form = ToolCall::Form::local_shell},
                    {.name = "web_search", .form = ToolCall::Form::web_search}};
  settings.output_schema =
      OutputSchema{.name = "answer", .schema = parse_json(R"({"type":"object"})"), .strict = true};
  const Json body = body_of(settings, {{Message{Message::Role::user, "x"}}});

  BOOST_TEST(test::check_responses_request(body) == "");
  BOOST_TEST(write_json(body["tools"]) == R"([{"type":"local_shell"},{"type":"web_search"}])");
  settings.model = "gpt-5";
  BOOST_TEST(body_of(settings, {})["tools"].items()[0].string_at("type") == "function");
  BOOST_TEST(write_json(body["text"]) ==
             R"({"format":{"type":"json_schema","name":"answer","schema":{"type":"object"},)"
             R"("strict":true}})");
}

BOOST_AUTO_TEST_CASE(with_a_chatgpt_sign_in_nothing_is_sent_that_it_refuses) {
  const auto wire = make_wire("responses", {.chatgpt = true});
  RequestBody body(*wire);
  const std::vector<Item> items = {{Message{Message::Role::user, "x"}}};
  body.update({full_settings(), items, 0});
  const Json json = parse_json(body.bytes());

  BOOST_TEST(test::check_responses_request(json) == "");
  BOOST_TEST(!json.find("max_output_tokens"));
  BOOST_TEST(!json.find("temperature"));
  BOOST_TEST(json["store"].boolean(true) == false);
  BOOST_TEST(write_json(json["include"]) == R"(["reasoning.encrypted_content"])");
}

BOOST_AUTO_TEST_CASE(a_recorded_response_is_read_as_its_stream_would_be) {
  const std::string call =
      R"({"type":"function_call","call_id":"c","name":"shell","arguments":"{\"command\":[\"a\"]}"})";
  const std::string message =
      R"({"type":"message","content":[{"type":"output_text","text":"one"}]})";
  const std::string rest = R"(,"usage":{"input_tokens":3,"output_tokens":2}})";
  const std::string rows[] = {
      R"({"id":"r","served_model":"m","items":[)" + message + "," + call + "]" + rest,
      R"({"id":"r","items":[],"usage":null})",
      R"({"id":"r","incomplete":true,"stop_reason":"max_output_tokens","items":[)" + message + "]" +
          rest,
      R"({"id":"r","incomplete":true,"stop_reason":"content_filter","items":[]})",
      R"({"id":"r","items":[)" + message + R"(],"output":[)" + message +
          R"(,{"type":"unknown"},{"type":"function_call","name":"shell"}]})",
      R"({"id":"r","items":[{"type":"message","content":[{"type":"refusal","refusal":"no"}]}]})"};
  const OpenAiResponses wire;
  for (const std::string& row : rows) {
    BOOST_TEST_CONTEXT(row) {
      const Json data = parse_json(row);
      const RecordedResponse recorded(data);
      const auto decoder = wire.decoder({});
      const auto state = decoder->read_recorded(recorded);
      const test::DecodedStream streamed = decode(wire.stream_of(recorded));
      BOOST_TEST((state == streamed.state));
      BOOST_TEST(decoder->failure().message == decode_failure(wire.stream_of(recorded)));
      if (state != WireDecoder::State::complete) continue;
      const Response read = decoder->take();
      const Response& from = streamed.response;
      BOOST_TEST(read.id == from.id);
      BOOST_TEST(read.served_model == from.served_model);
      BOOST_TEST((read.usage == from.usage));
      BOOST_TEST((read.raw_usage == from.raw_usage));
      BOOST_TEST(read.incomplete == from.incomplete);
      BOOST_TEST(read.stop_reason == from.stop_reason);
      BOOST_TEST(read.findings == from.findings, boost::test_tools::per_element());
      BOOST_TEST(read.output == from.output, boost::test_tools::per_element());
      BOOST_REQUIRE(read.items.size() == from.items.size());
      for (std::size_t i = 0; i < read.items.size(); ++i) {
        BOOST_TEST(read.items[i].received == from.items[i].received);
        BOOST_TEST(read.items[i].content.index() == from.items[i].content.index());
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
