#include <boost/test/unit_test.hpp>
#include <random>
#include <set>
#include "core/files/files.h"
#include "core/json/json_schema.h"
#include "core/provider/cassette.h"
#include "core/provider/request_body.h"
#include "tests/core/model/messages/messages_history.h"
#include "tests/support/decoded_stream.h"
#include "tests/support/messages_request.h"

using namespace sortie;
using namespace sortie::messages_history;

BOOST_AUTO_TEST_SUITE(anthropic_request)

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
      {"claude-sonnet-4.6", "none", 32768, "null", R"({"effort":"low"})", "0.2", 32768},
      {"claude-sonnet-4.6", "xhigh", 32768, adaptive, R"({"effort":"high"})", "null", 32768},
      {"claude-opus-4-7", "xhigh", 32768, shown, R"({"effort":"xhigh"})", "null", 32768},
      {"claude-opus-4-7", "max", 32768, shown, R"({"effort":"max"})", "null", 32768},
      {"claude-sonnet-4-5", "none", 32768, "null", "null", "0.2", 32768},
      {"claude-sonnet-4-5", "xhigh", 100000, R"({"type":"enabled","budget_tokens":49152})", "null",
       "null", 100000},
      {"claude-sonnet-4-5", "max", 32768, R"({"type":"enabled","budget_tokens":24576})", "null",
       "null", 32768},
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
