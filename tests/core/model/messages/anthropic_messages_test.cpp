#include "core/model/messages/anthropic_messages.h"

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

BOOST_AUTO_TEST_SUITE_END()
