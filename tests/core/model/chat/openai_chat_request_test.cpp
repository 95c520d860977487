#include <boost/test/unit_test.hpp>
#include <random>

#include "core/provider/http_model.h"
#include "core/provider/request_body.h"
#include "core/text/text.h"
#include "tests/core/model/chat/chat_history.h"
#include "tests/support/decoded_stream.h"
#include "tests/support/openai_schema.h"

using namespace sortie;
using namespace sortie::chat_history;

BOOST_AUTO_TEST_SUITE(openai_chat_request)

BOOST_AUTO_TEST_CASE(arguments_that_are_no_object_go_back_as_one) {
  for (const char* arguments : {"{\"command\":", "[1]", "ls"}) {
    const Json messages =
        parse_json(messages_of({user("go"), {ToolCall{"c1", "shell", arguments}}, output("c1")}));
    const Json& function = messages.items().at(1)["tool_calls"].items().at(0)["function"];
    BOOST_TEST(function.string_at("arguments") == write_json(Json::object({{"input", arguments}})));
  }
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
