#include "core/model/messages/anthropic_messages.h"

#include <boost/test/unit_test.hpp>
#include <random>
#include <set>

#include "core/files/files.h"
#include "core/json/json_schema.h"
#include "core/provider/cassette.h"
#include "core/provider/request_body.h"
#include "tests/support/decoded_stream.h"
#include "tests/support/messages_request.h"

using namespace sortie;
using Form = ToolCall::Form;

namespace {

const std::filesystem::path kStreams = SORTIE_SOURCE_DIR "/tests/data/messages_streams";
const Image kImage{.media_type = "image/png", .base64 = "iVBORw0KGgo="};
const std::string kThinking = R"({"type":"thinking","thinking":"hm","signature":"EqQB+/=="})";
const std::string kImageJson =
    R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}})";

ModelSettings full_settings() {
  ModelSettings settings{.model = "claude-sonnet-4-5-20250929", .instructions = "Be brief."};
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

test::DecodedStream decode(std::string_view stream, std::size_t piece = std::string::npos) {
  return test::decode_stream(AnthropicMessages(), full_settings(), stream, piece);
}

std::string stream_text(const char* name) { return read_file(kStreams / name / "stream.sse"); }

std::string body_text(const ModelSettings& settings, const std::vector<Item>& items) {
  const AnthropicMessages wire;
  RequestBody body(wire);
  body.update({settings, items, 0});
  return std::string(body.bytes());
}

std::string messages_of(const std::vector<Item>& items) {
  const Json body = parse_json(body_text(full_settings(), items));
  BOOST_TEST(test::check_messages_request(body) == "");
  BOOST_TEST(body.members().back().first == "messages");
  return write_json(body["messages"]);
}

Item user(const std::string& text, std::vector<Image> images = {}) {
  return {Message{Message::Role::user, text, std::move(images)}};
}
Item assistant(const std::string& text, const std::string& received = {}) {
  return {Message{Message::Role::assistant, text}, received};
}
Item call(const std::string& id, Form form = Form::function) {
  return {ToolCall{id, form == Form::custom ? "apply_patch" : "shell",
                   form == Form::custom ? "*** \"P\"" : R"({"a": 1})", form}};
}
Item received_call(const std::string& id) {
  Item item = call(id);
  item.received = R"({"type":"tool_use","id":")" + id + R"(","name":"shell","input":{"b":2.0}})";
  return item;
}
Item output(const std::string& id, std::vector<Image> images = {}) {
  return {ToolOutput{id, "out " + id, true, Form::function, std::move(images)}};
}
Item thinking() { return {Reasoning{"hm"}, kThinking}; }

std::string use_text(const std::string& id) {
  return R"({"type":"tool_use","id":")" + id + R"(","name":"shell","input":{"a":1}})";
}
std::string result_text(const std::string& id) {
  return R"({"type":"tool_result","tool_use_id":")" + id + R"(","content":"out )" + id + "\"}";
}
std::string text_block(const std::string& text) {
  return R"({"type":"text","text":")" + text + "\"}";
}
std::string message_text(const char* role, const std::vector<std::string>& blocks) {
  std::string text;
  for (const auto& block : blocks) text += (text.empty() ? "" : ",") + block;
  return std::string(R"({"role":")") + role + R"(","content":[)" + text + "]}";
}
/// The text of messages whose last block has the mark.
std::string marked(std::string messages) {
  BOOST_REQUIRE(messages.ends_with("}]}]"));
  messages.resize(messages.size() - 4);
  return messages + R"(,"cache_control":{"type":"ephemeral"}}]}])";
}

/// A history as a run could have it, and then some: responses of random parts, each with its
/// outputs, and words of the user in between.
std::vector<Item> random_history(std::mt19937& random) {
  const auto chance = [&random](unsigned one_in) { return random() % one_in == 0; };
  std::vector<Item> items = {user("docs"),
                             user("go", chance(3) ? std::vector{kImage} : std::vector<Image>{})};
  int id = 0;
  for (auto turn = random() % 12; turn > 0; --turn) {
    std::vector<std::string> calls;
    for (auto part = random() % 6; part > 0; --part) {
      if (chance(3)) items.push_back(chance(4) ? Item{Reasoning{"foreign"}} : thinking());
      if (chance(6))
        items.push_back({ProviderItem{"server_tool_use", ""},
                         R"({"type":"server_tool_use","id":"s","name":"web_search","input":{}})"});
      if (chance(2)) items.push_back(assistant(chance(5) ? " \n" : "say \"\xc3\xa4\"\n"));
      if (chance(2)) {
        calls.push_back(chance(9) && id > 0 ? "c" + std::to_string(random() % id + 1)
                                            : "c" + std::to_string(++id));
        if (chance(9)) calls.back() = "functions.shell:" + std::to_string(id);
        items.push_back(chance(3) ? received_call(calls.back())
                                  : call(calls.back(), chance(3) ? Form::custom : Form::function));
      }
    }
    const bool early = chance(4);
    for (const auto& made : calls) {
      items.push_back(output(made, chance(4) ? std::vector{kImage, kImage} : std::vector<Image>{}));
      if (early && &made == &calls.front()) items.push_back(user("between"));
    }
    if (calls.empty() || chance(3)) items.push_back(user(chance(9) ? "\t" : "note"));
  }
  items.push_back(user("end"));
  return items;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(anthropic_messages)

BOOST_AUTO_TEST_CASE(streams_are_decoded_as_recorded) {
  const auto folders = test::stream_folders(kStreams);
  BOOST_TEST(folders.size() >= 60u);
  for (const auto& folder : folders) {
    BOOST_TEST_CONTEXT(folder.filename().string()) {
      const std::string stream = read_file(folder / "stream.sse");
      const Json expected = parse_json(read_file(folder / "expected.json"));

      for (const std::size_t piece : {std::string::npos, std::size_t{1}, std::size_t{7}})
        BOOST_TEST(test::differences(decode(stream, piece), expected) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_stream_may_be_split_at_every_byte) {
  for (const char* name : {"text", "thinking_and_tool_use", "web_search", "unknown_events"}) {
    const std::string stream = stream_text(name);
    const Json expected = parse_json(read_file(kStreams / name / "expected.json"));
    for (std::size_t at = 1; at < stream.size(); ++at) {
      const auto decoder = AnthropicMessages().decoder({});
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

BOOST_AUTO_TEST_CASE(a_stream_cut_at_any_event_is_never_complete) {
  for (const auto& folder : test::stream_folders(kStreams)) {
    BOOST_TEST_CONTEXT(folder.filename().string()) {
      const std::string stream = read_file(folder / "stream.sse");
      const Json expected = parse_json(read_file(folder / "expected.json"));
      const std::size_t end = std::min(stream.find("\"message_stop\""), stream.size());
      for (std::size_t at = 0; at < end; at = std::min(stream.find("\n\n", at + 1), end)) {
        const test::DecodedStream cut = decode(stream.substr(0, at));
        BOOST_TEST((cut.state != WireDecoder::State::complete));
        if (cut.state == WireDecoder::State::failed)
          BOOST_TEST(cut.shown.string_at("kind") == expected.string_at("kind"));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(blocks_go_back_in_the_words_they_came_in) {
  const test::DecodedStream decoded = decode(stream_text("thinking_and_tool_use"));
  std::vector<Item> items = decoded.response.items;
  items.insert(items.begin(), user("go"));
  items.push_back(output("toolu_A"));

  BOOST_TEST(
      messages_of(items) ==
      marked(
          "[" + message_text("user", {text_block("go")}) + "," +
          message_text(
              "assistant",
              {R"({"type":"thinking","thinking":"Look at the test first.",)"
               R"("signature":"EqQBCgIYAhIM1gbcDa9GJwZA2b3h+/=="})",
               text_block("I look."),
               R"({"type":"tool_use","id":"toolu_A","name":"shell","input":{"command":["ls"]}})"}) +
          "," + message_text("user", {result_text("toolu_A")}) + "]"));
  const auto search = decode(stream_text("web_search")).response.items;
  BOOST_REQUIRE(search.size() == 4u);
  BOOST_TEST(search[2].received.find(R"("encrypted_content":"Ev0DCioIAxgC","page_age":null)") !=
             std::string::npos);
  BOOST_TEST(search[3].received ==
             R"({"type":"text","text":"It is 68°F.","citations":[{"type":)"
             R"("web_search_result_location","cited_text":"68°F","url":"https://w.example",)"
             R"("title":"Weather","encrypted_index":"Eo8BCioIAhgB"}]})");
}

BOOST_AUTO_TEST_CASE(cache_reads_and_writes_are_part_of_the_input) {
  const Usage usage = decode(stream_text("cached_input")).response.usage.value();

  BOOST_TEST((usage == Usage{.input_tokens = 2304,
                             .cached_input_tokens = 2000,
                             .output_tokens = 9,
                             .cache_write_input_tokens = 300}));
}

BOOST_AUTO_TEST_CASE(a_paused_turn_is_to_go_on_without_a_word) {
  const Response response = decode(stream_text("pause_turn")).response;

  BOOST_TEST(response.paused);
  BOOST_TEST(!response.incomplete);
  std::vector<Item> items = response.items;
  items.insert(items.begin(), user("go"));
  const Json body = parse_json(body_text(full_settings(), items));
  BOOST_TEST(test::check_messages_request(body) == "");
  BOOST_TEST(body["messages"].items().back().string_at("role") == "assistant");
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_utf8_cut_the_stream) {
  std::string stream = stream_text("text");
  stream.replace(stream.find("Hello"), 1, "\xff");

  BOOST_TEST(decode(stream).shown.string_at("kind") == "cut");
}

BOOST_AUTO_TEST_CASE(a_response_without_end_is_cut_at_64_mebibytes) {
  const auto decoder = AnthropicMessages().decoder({});
  const std::string event =
      R"({"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":")" +
      std::string(1u << 20, 'x') + R"("}})";
  auto state = WireDecoder::State::going_on;
  int events = 0;
  while (state == WireDecoder::State::going_on && events < 100) {
    state = decoder->read({"", event});
    ++events;
  }

  BOOST_TEST((state == WireDecoder::State::failed));
  BOOST_TEST(events == 65);
  BOOST_TEST(decoder->failure().kind == "cut");
}

BOOST_AUTO_TEST_CASE(a_recorded_response_becomes_the_stream_that_brought_it) {
  for (const auto& folder : test::stream_folders(kStreams)) {
    const test::DecodedStream decoded = decode(read_file(folder / "stream.sse"));
    if (decoded.state != WireDecoder::State::complete) continue;
    BOOST_TEST_CONTEXT(folder.filename().string()) {
      const Response& response = decoded.response;
      Json output = Json::array();
      for (const auto& block : response.output) output.push_back(parse_json(block));
      if (response.output.empty())  // then the items say it all
        for (const Item& item : response.items) output.push_back(parse_json(item.received));
      const auto stream =
          response_stream("messages", Json::object({{"id", response.id},
                                                    {"served_model", response.served_model},
                                                    {"output", output},
                                                    {"usage", response.raw_usage},
                                                    {"incomplete", response.incomplete},
                                                    {"stop_reason", response.stop_reason}}));

      const test::DecodedStream again = decode(stream.value());

      BOOST_TEST(write_json(again.shown) == write_json(decoded.shown));
      BOOST_TEST(again.response.paused == response.paused);
      BOOST_REQUIRE(again.response.items.size() == response.items.size());
      for (std::size_t i = 0; i < response.items.size(); ++i)
        BOOST_TEST(again.response.items[i].received == response.items[i].received);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_request_has_all_that_the_schema_asks_for_and_messages_last) {
  const Json body = parse_json(body_text(full_settings(), {user("hello")}));

  BOOST_TEST(test::check_messages_request(body) == "");
  Json rest = body;
  const Json tools = rest["tools"];
  std::erase_if(rest.members(), [](const auto& member) { return member.first == "tools"; });
  BOOST_TEST(
      write_json(rest) ==
      R"({"model":"claude-sonnet-4-5-20250929","max_tokens":32768,"stream":true,)"
      R"("system":[{"type":"text","text":"Be brief.","cache_control":{"type":"ephemeral"}}],)"
      R"("thinking":{"type":"enabled","budget_tokens":12288},)"
      R"("messages":[{"role":"user","content":[{"type":"text","text":"hello",)"
      R"("cache_control":{"type":"ephemeral"}}]}]})");
  BOOST_REQUIRE(tools.items().size() == 4u);
  BOOST_TEST(write_json(tools.items()[0]) ==
             R"({"name":"shell","description":"Runs a command.","input_schema":)"
             R"({"type":"object","properties":{"command":{}}}})");
  const Json patch = tools.items()[1]["input_schema"];
  BOOST_TEST(write_json(patch["required"]) == R"(["input"])");
  BOOST_TEST(patch["properties"]["input"].string_at("description").find("start:") !=
             std::string::npos);
  BOOST_TEST(write_json(tools.items()[2]) ==
             R"({"type":"web_search_20250305","name":"web_search"})");
  BOOST_TEST(write_json(tools.items()[3]["input_schema"]) ==
             R"({"type":"object","properties":{}})");
}

BOOST_AUTO_TEST_CASE(what_a_model_takes_is_told_by_its_name) {
  const std::string adaptive = R"({"type":"adaptive"})";
  const std::string shown = R"({"type":"adaptive","display":"summarized"})";
  const struct {
    const char* model;
    const char* effort;
    std::int64_t max_tokens;
    std::string thinking;
    std::string output_config;
    std::string temperature;
    std::int64_t sent_max_tokens;
  } rows[] = {
      {"claude-3-opus-20240229", "high", 32768, "null", "null", "0.2", 4096},
      {"claude-3-5-haiku-latest", "high", 32768, "null", "null", "0.2", 8192},
      {"claude-3-7-sonnet-20250219", "low", 32768, R"({"type":"enabled","budget_tokens":4096})",
       "null", "null", 32768},
      {"claude-opus-4-20250514", "high", 32768, R"({"type":"enabled","budget_tokens":24000})",
       "null", "null", 32000},
      {"claude-opus-4-1", "medium", 32768, R"({"type":"enabled","budget_tokens":12288})", "null",
       "null", 32000},
      {"claude-sonnet-4-5@20250929", "minimal", 32768, "null", "null", "0.2", 32768},
      {"claude-haiku-4-5-20251001", "", 32768, "null", "null", "0.2", 32768},
      {"claude-haiku-4-5-20251001", "high", 4096, R"({"type":"enabled","budget_tokens":3072})",
       "null", "null", 4096},
      {"claude-haiku-4-5-20251001", "high", 1024, "null", "null", "0.2", 1024},
      {"anthropic.claude-opus-4-6-v1", "medium", 32768, adaptive, R"({"effort":"medium"})", "null",
       32768},
      {"claude-sonnet-4.6", "minimal", 32768, "null", R"({"effort":"low"})", "0.2", 32768},
      {"claude-opus-4-7", "high", 32768, shown, R"({"effort":"high"})", "null", 32768},
      {"claude-opus-4-7", "", 32768, "null", "null", "null", 32768},
      {"claude-sonnet-5", "low", 100000, shown, R"({"effort":"low"})", "null", 100000},
      {"claude-newest", "low", 32768, shown, R"({"effort":"low"})", "null", 32768},
      {"house-model", "low", 32768, R"({"type":"enabled","budget_tokens":4096})", "null", "null",
       32768},
      {"house-model", "", 32768, "null", "null", "0.2", 32768},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.model << " " << row.effort) {
      ModelSettings settings = full_settings();
      settings.model = row.model;
      settings.effort = row.effort;
      settings.max_output_tokens = row.max_tokens;
      const Json body = parse_json(body_text(settings, {user("x")}));
      BOOST_TEST(test::check_messages_request(body) == "");
      BOOST_TEST(write_json(body["thinking"]) == row.thinking);
      BOOST_TEST(write_json(body["output_config"]) == row.output_config);
      BOOST_TEST(write_json(body["temperature"]) == row.temperature);
      BOOST_TEST(body.integer_at("max_tokens") == row.sent_max_tokens);
      BOOST_TEST(body["thinking"].integer_at("budget_tokens") < row.sent_max_tokens);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_set_is_not_sent) {
  ModelSettings settings{.model = "claude-sonnet-4-5", .instructions = " \n"};
  settings.output_schema = OutputSchema{.schema = parse_json(R"({"type":"object"})")};
  const Json body = parse_json(body_text(settings, {user("x")}));

  BOOST_TEST(test::check_messages_request(body) == "");
  std::string names;
  for (const auto& [name, value] : body.members()) names += name + " ";
  BOOST_TEST(names == "model max_tokens stream messages ");
}

BOOST_AUTO_TEST_CASE(a_history_becomes_messages) {
  const auto go = message_text("user", {text_block("go")});
  const struct {
    const char* name;
    std::vector<Item> items;
    std::vector<std::string> messages;
  } rows[] = {
      {"one side in a row is one message",
       {user("docs"), user("go \xff")},
       {message_text("user", {text_block("docs"), text_block("go \xEF\xBF\xBD")})}},
      {"images come behind the text",
       {user("go", {kImage, kImage})},
       {message_text("user", {text_block("go"), kImageJson, kImageJson})}},
      {"an image needs no text", {user("", {kImage})}, {message_text("user", {kImageJson})}},
      {"a response is one message",
       {user("go"), thinking(), assistant("I look."), call("1"), call("2"), output("1"),
        output("2"), assistant("end"), user("more")},
       {go,
        message_text("assistant", {kThinking, text_block("I look."), use_text("1"), use_text("2")}),
        message_text("user", {result_text("1"), result_text("2")}),
        message_text("assistant", {text_block("end")}),
        message_text("user", {text_block("more")})}},
      {"outputs come before texts",
       {user("go"), call("1"), call("2"), output("1"), user("wait"), output("2"), user("more")},
       {go, message_text("assistant", {use_text("1"), use_text("2")}),
        message_text(
            "user", {result_text("1"), result_text("2"), text_block("wait"), text_block("more")})}},
      {"a free-text call",
       {user("go"), call("1", Form::custom), output("1")},
       {go,
        message_text(
            "assistant",
            {R"({"type":"tool_use","id":"1","name":"apply_patch","input":{"input":"*** \"P\""}})"}),
        message_text("user", {result_text("1")})}},
      {"a failed call, one without output, one with images",
       {user("go"),
        call("1"),
        call("2"),
        call("3"),
        {ToolOutput{"1", "no", false}},
        {ToolOutput{"2", " \n"}},
        output("3", {kImage})},
       {go, message_text("assistant", {use_text("1"), use_text("2"), use_text("3")}),
        message_text(
            "user",
            {R"({"type":"tool_result","tool_use_id":"1","is_error":true,"content":"no"})",
             R"({"type":"tool_result","tool_use_id":"2"})",
             R"({"type":"tool_result","tool_use_id":"3","content":[{"type":"text","text":"out 3"},)" +
                 kImageJson + "]}"})}},
      {"blank texts are left out",
       {user("go"), user(" \n"), assistant("\n"), assistant("", R"({"type":"text","text":""})"),
        user("more")},
       {message_text("user", {text_block("go"), text_block("more")})}},
      {"thoughts that led to nothing are left out",
       {user("go"), thinking(), assistant(" "), user("more"), thinking(), call("1"), thinking(),
        output("1")},
       {message_text("user", {text_block("go"), text_block("more")}),
        message_text("assistant", {kThinking, use_text("1")}),
        message_text("user", {result_text("1")})}},
      {"another model's thoughts are left out",
       {user("go"),
        {Reasoning{"foreign"}},
        {ProviderItem{"web_search_call", ""}},
        assistant("a"),
        user("more")},
       {go, message_text("assistant", {text_block("a")}),
        message_text("user", {text_block("more")})}},
      {"an output without its call becomes a text",
       {user("go"), output("9")},
       {message_text("user",
                     {text_block("go"), text_block("Output of the tool call 9:\\nout 9")})}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      std::string expected;
      for (const auto& message : row.messages) expected += (expected.empty() ? "[" : ",") + message;
      const std::string messages = messages_of(row.items);
      BOOST_TEST(messages == write_json(parse_json(marked(expected + "]"))));
    }
  }
}

BOOST_AUTO_TEST_CASE(ids_of_calls_are_made_unique_and_plain) {
  const std::vector<Item> items = {user("go"),
                                   call("functions.shell:0"),
                                   output("functions.shell:0"),
                                   call("c1"),
                                   output("c1"),
                                   received_call("c1"),
                                   call("c1"),
                                   output("c1"),
                                   output("c1"),
                                   call(std::string(65, 'a')),
                                   output(std::string(65, 'a'))};

  const Json messages = parse_json(messages_of(items));  // checks that each has its own id

  BOOST_TEST(messages.items()[1]["content"].items()[0].string_at("id").starts_with("call_"));
  BOOST_TEST(messages.items()[3]["content"].items()[0].string_at("id") == "c1");
  BOOST_TEST(messages.items()[5]["content"].items()[0].string_at("id").starts_with("call_"));
}

BOOST_AUTO_TEST_CASE(what_is_encoded_does_not_depend_on_when) {
  const AnthropicMessages wire;
  const ModelSettings settings = full_settings();
  std::mt19937 random(20260901);
  for (int round = 0; round < 300; ++round) {
    const std::vector<Item> items = random_history(random);
    std::string whole;
    wire.item_writer(settings)->write(items, whole);
    BOOST_REQUIRE(test::check_messages_request(parse_json(body_text(settings, items))) == "");

    std::string grown;
    std::vector<Item> history;
    const auto writer = wire.item_writer(settings);
    while (history.size() < items.size()) {
      const std::size_t more = 1 + random() % 4;
      for (std::size_t i = 0; i < more && history.size() < items.size(); ++i)
        history.push_back(items[history.size()]);
      writer->write(history, grown);
      BOOST_REQUIRE(whole.starts_with(grown));
      BOOST_REQUIRE(is_json("{\"messages\":[" + grown + std::string(writer->tail())));
    }
    BOOST_REQUIRE(grown == whole);
  }
}

BOOST_AUTO_TEST_CASE(each_body_begins_with_the_bytes_of_the_one_before) {
  const AnthropicMessages wire;
  RequestBody body(wire);
  const ModelSettings settings = full_settings();
  std::vector<Item> items = {user("start")};
  std::string before;
  for (int turn = 0; turn < 50; ++turn) {
    const RequestRecord record = body.update({settings, items, 0});
    const std::string bytes(body.bytes());
    BOOST_TEST(record.body_sha256 == sha256_hex(bytes));
    BOOST_TEST(test::check_messages_request(parse_json(bytes)) == "");
    if (turn > 0) {
      BOOST_TEST(record.prefix_bytes + 64 > before.size());  // all but the tail
      BOOST_TEST((bytes.compare(0, record.prefix_bytes, before, 0, record.prefix_bytes) == 0));
    }
    before = bytes;
    const std::string id = "toolu_" + std::to_string(turn);
    items.push_back(thinking());
    items.push_back(received_call(id));
    items.push_back(output(id));
  }
}

BOOST_AUTO_TEST_SUITE_END()
