#include "core/model/chat/openai_chat.h"

#include <boost/test/unit_test.hpp>
#include <random>

#include "core/files/files.h"
#include "core/model/chat/chat_delta.h"
#include "core/model/leaked_calls.h"
#include "core/provider/http_model.h"
#include "core/provider/request_body.h"
#include "core/text/text.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_http.h"
#include "tests/support/decoded_stream.h"
#include "tests/support/openai_schema.h"
#include "tests/support/stream_list.h"

using namespace sortie;
using Form = ToolCall::Form;

namespace {

const std::filesystem::path kStreams = SORTIE_SOURCE_DIR "/tests/data/chat_streams";
const Image kImage{.media_type = "image/png", .base64 = "iVBORw0KGgo="};

ModelSettings full_settings() {
  ModelSettings settings{.model = "gpt-4.1", .instructions = "Be brief."};
  settings.tools = {{.name = "shell",
                     .description = "Runs a command.",
                     .parameters = parse_json(R"({"type":"object","properties":{"command":{}}})")},
                    {.name = "apply_patch",
                     .description = "Changes files.",
                     .form = Form::custom,
                     .grammar = "start: \"*** Begin Patch\""},
                    {.name = "web_search", .description = "Searches.", .form = Form::web_search},
                    {.name = "plain", .description = "No arguments."}};
  settings.effort = "medium";
  settings.temperature = 0.2;
  settings.run_id = "0199-run";
  return settings;
}

test::DecodedStream decode(std::string_view stream, const Json& expected = {},
                           std::size_t piece = std::string::npos) {
  const OpenAiChat wire({.legacy_functions = expected.string_at("settings") == "legacy"});
  return test::decode_stream(wire, full_settings(), stream, piece);
}

std::string body_text(const ModelSettings& settings, const std::vector<Item>& items,
                      OpenAiChat::Options options = {}) {
  const OpenAiChat wire(options);
  RequestBody body(wire);
  body.update({settings, items, 0});
  return std::string(body.bytes());
}

/// The messages behind the system message, as text.
std::string messages_of(const std::vector<Item>& items, OpenAiChat::Options options = {}) {
  const Json body = parse_json(body_text(full_settings(), items, options));
  BOOST_TEST(test::check_chat_request(body) == "");
  Json messages = body["messages"];
  BOOST_TEST(write_json(messages.items().front()) == R"({"role":"system","content":"Be brief."})");
  messages.items().erase(messages.items().begin());
  return write_json(messages);
}

Item user(const std::string& text, std::vector<Image> images = {}) {
  return {Message{Message::Role::user, text, std::move(images)}};
}
Item assistant(const std::string& text) { return {Message{Message::Role::assistant, text}}; }
Item call(const std::string& id, Form form = Form::function) {
  return {ToolCall{id, form == Form::custom ? "apply_patch" : "shell",
                   form == Form::custom ? "*** \"P\"" : "{}", form}};
}
Item output(const std::string& id, std::vector<Image> images = {}) {
  return {ToolOutput{id, "out " + id, true, Form::function, std::move(images)}};
}

/// A history as a run could have it, and then some: responses of random parts, each with its
/// outputs, and words of the user in between.
std::vector<Item> random_history(std::mt19937& random) {
  const auto chance = [&random](unsigned one_in) { return random() % one_in == 0; };
  std::vector<Item> items;
  if (!chance(9))
    items = {user("docs"), user("go", chance(3) ? std::vector{kImage} : std::vector<Image>{})};
  int id = 0;
  for (auto turn = random() % 12; turn > 0; --turn) {
    std::vector<std::string> calls;
    for (auto part = random() % 5; part > 0; --part) {
      if (chance(4)) items.push_back({Reasoning{"thought", chance(2)}, R"({"type":"reasoning"})"});
      if (chance(6)) items.push_back({ProviderItem{"web_search_call", ""}, "{}"});
      if (chance(2)) items.push_back(assistant(chance(5) ? "" : "say \"\xc3\xa4\"\n"));
      if (chance(2)) {
        calls.push_back("c" + std::to_string(++id));
        items.push_back(call(calls.back(), chance(3) ? Form::custom : Form::function));
      }
    }
    for (const auto& made : calls)
      items.push_back(output(made, chance(4) ? std::vector{kImage, kImage} : std::vector<Image>{}));
    if (chance(3)) items.push_back(user("note"));
  }
  return items;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(openai_chat)

BOOST_AUTO_TEST_CASE(arguments_that_are_no_object_go_back_as_one) {
  for (const char* arguments : {"{\"command\":", "[1]", "ls"}) {
    const Json messages =
        parse_json(messages_of({user("go"), {ToolCall{"c1", "shell", arguments}}, output("c1")}));
    const Json& function = messages.items().at(1)["tool_calls"].items().at(0)["function"];
    BOOST_TEST(function.string_at("arguments") == write_json(Json::object({{"input", arguments}})));
  }
}

BOOST_AUTO_TEST_CASE(streams_are_decoded_as_recorded) {
  const auto folders = test::stream_folders(kStreams);
  BOOST_TEST(folders.size() >= 50u);
  for (const auto& folder : folders) {
    BOOST_TEST_CONTEXT(folder.filename().string()) {
      const std::string stream = read_file(folder / "stream.sse");
      const Json expected = parse_json(read_file(folder / "expected.json"));

      for (const std::size_t piece : {std::string::npos, std::size_t{1}, std::size_t{7}})
        BOOST_TEST(test::differences(decode(stream, expected, piece), expected) == "");
    }
  }
}

// The forms of open models' chat templates, as they come from servers that do not parse them.
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

BOOST_AUTO_TEST_CASE(a_server_that_only_knows_functions_is_sent_no_newer_members) {
  for (const char* name : {"gpt-5", "gpt-4", "gpt-oss-20b"}) {
    ModelSettings settings = full_settings();
    settings.model = name;
    settings.max_output_tokens = 500;
    settings.output_schema = OutputSchema{.schema = Json::object({{"type", "object"}})};
    const Json body = parse_json(body_text(settings, {user("hello")}, {.legacy_functions = true}));

    for (const char* member : {"max_completion_tokens", "stream_options", "reasoning_effort",
                               "response_format", "tools", "tool_choice", "parallel_tool_calls"})
      BOOST_TEST(!body.find(member), name << " " << member);
    BOOST_TEST(body.integer_at("max_tokens") == 500);
    BOOST_TEST(body["functions"].items().size() == 3u);
  }
}

BOOST_AUTO_TEST_CASE(a_stream_may_be_split_at_every_byte) {
  for (const char* name : {"text", "text_and_parallel_calls", "unknown_members_and_events"}) {
    const std::string stream = read_file(kStreams / name / "stream.sse");
    const Json expected = parse_json(read_file(kStreams / name / "expected.json"));
    for (std::size_t at = 1; at < stream.size(); ++at) {
      const OpenAiChat wire;
      const auto decoder = wire.decoder({});
      auto state = WireDecoder::State::going_on;
      SseParser parser;
      const auto read = [&](const SseEvent& event) { state = decoder->read(event); };
      parser.feed(stream.substr(0, at), read);
      parser.feed(stream.substr(at), read);
      BOOST_REQUIRE((state == WireDecoder::State::complete));
      BOOST_REQUIRE(decoder->take().items.size() == expected["items"].items().size());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_stream_cut_before_its_finish_reason_is_never_complete) {
  for (const auto& folder : test::stream_folders(kStreams)) {
    BOOST_TEST_CONTEXT(folder.filename().string()) {
      const std::string stream = read_file(folder / "stream.sse");
      const Json expected = parse_json(read_file(folder / "expected.json"));
      for (std::size_t at = 0; at != std::string::npos; at = stream.find("data: ", at + 1)) {
        const std::string begin = stream.substr(0, at);
        const test::DecodedStream cut = decode(begin, expected);
        if (cut.state == WireDecoder::State::complete) {
          BOOST_TEST(begin.find("finish_reason") != std::string::npos);
          // All but the usage that may come last.
          BOOST_TEST(write_json(cut.shown["items"]) == write_json(expected["items"]));
        } else if (cut.state == WireDecoder::State::failed) {
          BOOST_TEST(cut.shown.string_at("kind") == expected.string_at("kind"));
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(however_a_stream_ends_behind_its_finish_reason_it_counts) {
  using Ending = HttpResult::Ending;
  const std::string begin =
      "data: {\"id\":\"c\",\"choices\":[{\"delta\":{\"content\":\"hi\"}}]}\n\n";
  const std::string finish = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
  const std::string usage =
      "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1}}\n\n";
  for (const Ending ending : {Ending::complete, Ending::cut, Ending::idle_timeout}) {
    const OpenAiChat wire;
    test::FakeHttp http;
    test::FakeClock clock;
    test::StreamList stream;
    for (const auto& body : {begin, begin + finish, begin + finish + usage}) {
      http.replies.push_back(test::FakeHttp::stream(body));
      http.replies.back().result = {ending, "words"};
    }
    const ModelSettings settings{.model = "m"};
    const std::vector<Item> items = {user("x")};
    HttpModel model(
        wire, http, clock,
        {.endpoint = {.base = parse_url("https://a.example/v1")}, .random = [] { return 1.0; }});
    const auto ask = [&] {
      return model.ask({settings, items, 0}, stream, clock.steady() + std::chrono::hours(1), {});
    };

    const Response first = ask();  // the first try lacks its end
    const Response second = ask();

    BOOST_TEST(stream.retries.size() == 1u);
    BOOST_TEST(first.items.size() == 1u);
    BOOST_TEST(!first.usage.has_value());
    BOOST_TEST(second.usage.value_or(Usage{}).input_tokens == 3);
    BOOST_TEST(http.replies.empty());
  }
}

BOOST_AUTO_TEST_CASE(the_output_is_the_message_as_it_would_have_come_whole) {
  const auto decoded = decode(read_file(kStreams / "text_and_parallel_calls" / "stream.sse"));

  BOOST_REQUIRE(decoded.response.output.size() == 1u);
  BOOST_TEST(
      decoded.response.output[0] ==
      R"({"role":"assistant","content":"Looking.","tool_calls":[)"
      R"({"id":"call_A","type":"function","function":{"name":"shell","arguments":"{\"command\":[\"ls\"]}"}},)"
      R"({"id":"call_B","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"a\"}"}}]})");
}

BOOST_AUTO_TEST_CASE(a_chunk_is_read_the_same_whatever_stood_before_it) {
  const auto chunk = [](const std::string& content, const std::string& rest = "") {
    return R"({"id":"c","choices":[{"index":0,"delta":{"content":")" + content + "\"}" + rest +
           "}]}";
  };
  const struct {
    std::string chunk;
    std::string content;  ///< "-": not text alone
  } rows[] = {
      {chunk("plain"), "plain"},
      {chunk(""), ""},
      {chunk("\u00e4 \xF0\x9F\x98\x80"), "\u00e4 \xF0\x9F\x98\x80"},
      {chunk(R"(a\n\"b\")"), "a\n\"b\""},
      {chunk(R"(x\\)"), "x\\"},
      {chunk(R"(x"},"finish_reason":"stop","y":{"z":")"), "-"},
      {chunk(R"(x","content":"y)"), "-"},
      {chunk("x\xff"), "-"},
      {chunk("x\ny"), "-"},
      {chunk("x", R"(,"finish_reason":"stop")"), "-"},
      {chunk("x", R"(,"finish_reason":null)"), "x"},
      {chunk("x", R"(},{"index":1,"delta":{"content":"other"})"), "-"},
      {R"({"note":"\"content\":\"x","choices":[{"delta":{"content":"x"}}]})", "x"},
      {R"({"content":"x","choices":[{"delta":{"content": "x"}}]})", "x"},
      {R"({"content":"y","choices":[{"delta":{"content": "x"}}]})", "x"},
  };
  for (const auto& first : rows) {
    for (const auto& second : rows) {
      ChatTextReader reader;
      ChatText text;
      reader.read(first.chunk, text);
      const bool alone = reader.read(second.chunk, text);
      BOOST_TEST((alone ? text.content : "-") == second.content, first.chunk + second.chunk);
    }
  }
}

BOOST_AUTO_TEST_CASE(ids_of_older_calls_differ_from_response_to_response) {
  const OpenAiChat wire({.legacy_functions = true});
  const std::string stream = read_file(kStreams / "legacy_call" / "stream.sse");

  const auto first = test::decode_stream(wire, full_settings(), stream);
  const auto second = test::decode_stream(wire, full_settings(), stream);

  BOOST_TEST(std::get<ToolCall>(first.response.items[0].content).call_id == "call_1");
  BOOST_TEST(std::get<ToolCall>(second.response.items[0].content).call_id == "call_2");
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_utf8_cut_the_stream) {
  const std::string begin = "data: {\"id\":\"c\",\"choices\":[]}\n\n";
  const auto decoded =
      decode(begin + "data: {\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}\n\n");

  BOOST_TEST(decoded.shown.string_at("kind") == "cut");
}

BOOST_AUTO_TEST_CASE(a_response_without_end_is_cut_at_64_mebibytes) {
  const OpenAiChat wire;
  const auto decoder = wire.decoder({});
  const std::string chunk =
      R"({"choices":[{"delta":{"content":")" + std::string(1u << 20, 'x') + R"("}}]})";
  auto state = WireDecoder::State::going_on;
  int chunks = 0;
  while (state == WireDecoder::State::going_on && chunks < 100) {
    state = decoder->read({"", chunk});
    ++chunks;
  }

  BOOST_TEST((state == WireDecoder::State::failed));
  BOOST_TEST(chunks == 65);
  BOOST_TEST(decoder->failure().kind == "cut");
}

BOOST_AUTO_TEST_CASE(a_request_has_all_that_the_schema_asks_for_and_messages_last) {
  const Json body = parse_json(body_text(full_settings(), {user("hello")}));

  BOOST_TEST(test::check_chat_request(body) == "");
  BOOST_TEST(body.members().back().first == "messages");
  Json rest = body;
  const Json tools = rest["tools"];
  std::erase_if(rest.members(), [](const auto& member) { return member.first == "tools"; });
  BOOST_TEST(write_json(rest) ==
             R"({"model":"gpt-4.1","tool_choice":"auto","parallel_tool_calls":true,"stream":true,)"
             R"("stream_options":{"include_usage":true},"max_tokens":32768,"temperature":0.2,)"
             R"("messages":[{"role":"system","content":"Be brief."},)"
             R"({"role":"user","content":"hello"}]})");
  BOOST_REQUIRE(tools.items().size() == 3u);  // web_search is not to be had here
  const Json patch = tools.items()[1]["function"];
  BOOST_TEST(write_json(patch["parameters"]["required"]) == R"(["input"])");
  BOOST_TEST(patch["parameters"]["properties"]["input"].string_at("description").find("start:") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_older_form_has_functions) {
  const Json body =
      parse_json(body_text(full_settings(), {user("hello")}, {.legacy_functions = true}));

  BOOST_TEST(test::check_chat_request(body) == "");
  BOOST_TEST(!body.find("tools"));
  BOOST_TEST(!body.find("parallel_tool_calls"));
  BOOST_TEST(body.string_at("function_call") == "auto");
  BOOST_REQUIRE(body["functions"].items().size() == 3u);
  BOOST_TEST(body["functions"].items()[0].string_at("name") == "shell");
}

BOOST_AUTO_TEST_CASE(limits_and_effort_are_named_as_the_model_knows_them) {
  const struct {
    const char* model;
    const char* effort;
    const char* limit;
    const char* sent_effort;
    bool parallel;
  } rows[] = {
      {"gpt-5", "high", "max_completion_tokens", "high", false},
      {"gpt-5.1-codex", "low", "max_completion_tokens", "low", false},
      {"o3-mini", "medium", "max_completion_tokens", "medium", false},
      {"o4-mini", "", "max_completion_tokens", "", false},
      {"gpt-5-chat-latest", "medium", "max_tokens", "", true},
      {"gpt-4.1", "medium", "max_tokens", "", true},
      {"qwen3-coder:30b", "medium", "max_tokens", "", true},
      {"gpt-oss:20b", "medium", "max_tokens", "medium", true},
      {"openai/gpt-oss-120b", "low", "max_tokens", "low", true},
      {"opal", "medium", "max_tokens", "", true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.model) {
      ModelSettings settings = full_settings();
      settings.model = row.model;
      settings.effort = row.effort;
      settings.temperature.reset();
      const Json body = parse_json(body_text(settings, {user("x")}));
      BOOST_TEST(test::check_chat_request(body) == "");
      BOOST_TEST(body.integer_at(row.limit) == 32768);
      BOOST_TEST(!body.find(row.limit == std::string("max_tokens") ? "max_completion_tokens"
                                                                   : "max_tokens"));
      BOOST_TEST(body.string_at("reasoning_effort") == row.sent_effort);
      BOOST_TEST(body["parallel_tool_calls"].boolean() == row.parallel);
      BOOST_TEST(!body.find("temperature"));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_schema_of_the_final_message_is_sent) {
  ModelSettings settings = full_settings();
  settings.tools.clear();
  settings.output_schema =
      OutputSchema{.name = "answer", .schema = parse_json(R"({"type":"object"})"), .strict = true};
  const Json body = parse_json(body_text(settings, {user("x")}));

  BOOST_TEST(test::check_chat_request(body) == "");
  BOOST_TEST(!body.find("tool_choice"));
  BOOST_TEST(write_json(body["response_format"]) ==
             R"({"type":"json_schema","json_schema":{"name":"answer","schema":{"type":"object"},)"
             R"("strict":true}})");
}

BOOST_AUTO_TEST_CASE(a_history_becomes_messages) {
  const std::string kUrl =
      R"({"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}})";
  const auto call_text = [](const char* id) {
    return std::string(R"({"id":")") + id +
           R"(","type":"function","function":{"name":"shell","arguments":"{}"}})";
  };
  const auto out = [](const char* id) {
    return std::string(R"({"role":"tool","tool_call_id":")") + id + R"(","content":"out )" + id +
           "\"}";
  };
  const struct {
    const char* name;
    std::vector<Item> items;
    std::string messages;
  } rows[] = {
      {"user and assistant",
       {user("a \xff"), assistant("b"), user("c")},
       "[{\"role\":\"user\",\"content\":\"a \xEF\xBF\xBD\"},{\"role\":\"assistant\","
       "\"content\":\"b\"},{\"role\":\"user\",\"content\":\"c\"}]"},
      {"one response is one message",
       {user("a"),
        {Reasoning{"hm"}},
        assistant("b"),
        call("1"),
        call("2"),
        output("1"),
        output("2"),
        assistant("end")},
       R"([{"role":"user","content":"a"},{"role":"assistant","content":"b","tool_calls":[)" +
           call_text("1") + "," + call_text("2") + "]}," + out("1") + "," + out("2") +
           R"(,{"role":"assistant","content":"end"}])"},
      {"reasoning that goes back does so with the calls it led to",
       {user("a"),
        {Reasoning{"h\"m", true}},
        assistant("b"),
        call("1"),
        output("1"),
        {Reasoning{"so", true}},
        call("2"),
        call("3"),
        output("2"),
        output("3"),
        {Reasoning{"end", true}},
        assistant("c")},
       R"([{"role":"user","content":"a"},{"role":"assistant","content":"b",)"
       R"("reasoning_content":"h\"m","tool_calls":[)" +
           call_text("1") + "]}," + out("1") +
           R"(,{"role":"assistant","content":null,"reasoning_content":"so","tool_calls":[)" +
           call_text("2") + "," + call_text("3") + "]}," + out("2") + "," + out("3") +
           R"(,{"role":"assistant","content":"c"}])"},
      {"a call without text",
       {user("a"), call("1"), output("1"), call("2"), output("2")},
       R"([{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[)" +
           call_text("1") + "]}," + out("1") +
           R"(,{"role":"assistant","content":null,"tool_calls":[)" + call_text("2") + "]}," +
           out("2") + "]"},
      {"texts of one response are joined",
       {user("a"), assistant("b"), {Reasoning{"hm"}}, assistant(""), assistant("c\n"), user("d")},
       R"([{"role":"user","content":"a"},{"role":"assistant","content":"b\n\nc\n"},)"
       R"({"role":"user","content":"d"}])"},
      {"text after calls waits for their outputs",
       {user("a"), call("1"), assistant("b"), call("2"), output("1"), output("2"), user("c")},
       R"([{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[)" +
           call_text("1") + "," + call_text("2") + "]}," + out("1") + "," + out("2") +
           R"(,{"role":"assistant","content":"b"},{"role":"user","content":"c"}])"},
      {"images of the user",
       {user("see", {kImage}), user("", {kImage})},
       R"([{"role":"user","content":[{"type":"text","text":"see"},)" + kUrl +
           R"(]},{"role":"user","content":[)" + kUrl + "]}]"},
      {"images of outputs follow the last output",
       {user("a"), call("1"), call("2"), output("1", {kImage}), output("2")},
       R"([{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[)" +
           call_text("1") + "," + call_text("2") + "]}," + out("1") + "," + out("2") +
           R"(,{"role":"user","content":[{"type":"text","text":)"
           R"("Images of the output of the call 1:"},)" +
           kUrl + "]}]"},
      {"free text",
       {user("a"), call("1", Form::custom), output("1")},
       R"([{"role":"user","content":"a"},{"role":"assistant","content":null,"tool_calls":[)"
       R"({"id":"1","type":"function","function":{"name":"apply_patch",)"
       R"("arguments":"{\"input\":\"*** \\\"P\\\"\"}"}}]},)" +
           out("1") + "]"},
      {"what other providers did is left out",
       {user("a"),
        {ProviderItem{"web_search_call", "x"}, R"({"type":"web_search_call"})"},
        assistant("b"),
        user("c")},
       R"([{"role":"user","content":"a"},{"role":"assistant","content":"b"},)"
       R"({"role":"user","content":"c"}])"},
  };
  for (const auto& row : rows)
    BOOST_TEST_CONTEXT(row.name) BOOST_TEST(messages_of(row.items) == row.messages);
}

BOOST_AUTO_TEST_CASE(in_the_older_form_each_call_stands_before_its_output) {
  const std::string fc = R"("function_call":{"name":"shell","arguments":"{}"}})";
  const auto out = [](const char* id) {
    return std::string(R"({"role":"function","name":"shell","content":"out )") + id + "\"}";
  };
  BOOST_TEST(messages_of({user("a"), assistant("b"), call("1"), call("2"), output("1"),
                          output("2", {kImage}), assistant("end")},
                         {.legacy_functions = true}) ==
             R"([{"role":"user","content":"a"},{"role":"assistant","content":"b",)" + fc + "," +
                 out("1") + R"(,{"role":"assistant","content":null,)" + fc + "," + out("2") +
                 R"(,{"role":"user","content":[{"type":"text","text":)"
                 R"("Images of the output of the call 2:"},{"type":"image_url","image_url":)"
                 R"({"url":"data:image/png;base64,iVBORw0KGgo="}}]},)"
                 R"({"role":"assistant","content":"end"}])");
}

BOOST_AUTO_TEST_CASE(whatever_the_history_its_bytes_begin_as_those_of_each_shorter_one) {
  std::mt19937 random(4);
  for (int round = 0; round < 300; ++round) {
    const std::vector<Item> items = random_history(random);
    const OpenAiChat::Options options{.legacy_functions = round % 3 == 0};
    ModelSettings settings = full_settings();
    if (round % 5 == 0) settings.instructions.clear();
    const OpenAiChat wire(options);
    const std::string whole = body_text(settings, items, options);
    const Json body = parse_json(whole);
    if (!body["messages"].items().empty()) BOOST_TEST(test::check_chat_request(body) == "");

    std::string grown = wire.encode_head(settings);
    const auto writer = wire.item_writer(settings);
    for (std::size_t count = 1; count <= items.size(); ++count) {
      const std::vector<Item> begin(items.begin(), items.begin() + static_cast<long>(count));
      if (random() % 2 == 0) {  // several items at once, or one by one
        writer->write(begin, grown);
        BOOST_REQUIRE(is_json(grown + std::string(writer->tail())));
      }
      std::string fresh = wire.encode_head(settings);
      const auto at_once = wire.item_writer(settings);
      at_once->write(begin, fresh);
      BOOST_REQUIRE(is_json(fresh + std::string(at_once->tail())));
      BOOST_REQUIRE(whole.starts_with(fresh));
    }
    writer->write(items, grown);
    BOOST_REQUIRE(grown + std::string(writer->tail()) == whole);
  }
}

BOOST_AUTO_TEST_SUITE_END()
