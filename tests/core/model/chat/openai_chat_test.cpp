#include "core/model/chat/openai_chat.h"

#include <boost/test/unit_test.hpp>
#include <random>
#include "core/files/files.h"
#include "core/model/chat/chat_delta.h"
#include "core/model/leaked_calls.h"
#include "core/provider/http_model.h"
#include "core/provider/request_body.h"
#include "core/text/text.h"
#include "tests/core/model/chat/chat_history.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_http.h"
#include "tests/support/decoded_stream.h"
#include "tests/support/openai_schema.h"
#include "tests/support/stream_list.h"

using namespace sortie;
using namespace sortie::chat_history;

BOOST_AUTO_TEST_SUITE(openai_chat)

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

BOOST_AUTO_TEST_SUITE_END()
