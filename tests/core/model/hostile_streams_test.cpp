#include <boost/test/unit_test.hpp>
#include <functional>

#include "core/provider/wires.h"

using namespace sortie;

namespace {

/// The nth event of a stream that goes on and on.
using Events = std::function<std::string(int)>;

std::string repeated(std::string_view part, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text.append(i == 0 ? "" : ",").append(part);
  return text;
}

/// Feeds a decoder until it gives up; how many events that took.
struct Fed {
  std::unique_ptr<WireDecoder> decoder;
  WireDecoder::State state = WireDecoder::State::going_on;
  int events = 0;

  Fed(const char* wire, const Events& events_of, int most) : decoder(make_wire(wire)->decoder({})) {
    while (state == WireDecoder::State::going_on && events < most)
      state = decoder->read({"", events_of(events++)});
  }
};

Usage usage_of(const char* wire, const std::string& event) {
  const auto decoder = make_wire(wire)->decoder({});
  decoder->read({"", event});
  if (wire == std::string("messages")) decoder->read({"", R"({"type":"message_stop"})"});
  decoder->finish();
  return decoder->take().usage.value_or(Usage{});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(hostile_streams)

BOOST_AUTO_TEST_CASE(what_grows_beyond_any_response_is_cut) {
  const std::string blob(4u << 20, 'x');
  const struct {
    const char* name;
    const char* wire;
    Events events;
  } rows[] = {
      {"items", "responses",
       [&](int n) {
         return R"({"type":"response.output_item.done","output_index":)" + std::to_string(n) +
                R"(,"item":{"type":"reasoning","encrypted_content":")" + blob + R"("}})";
       }},
      {"many items at once", "responses",
       [](int) {
         return R"({"type":"response.completed","response":{"output":[)" + repeated("{}", 5000) +
                "]}}";
       }},
      {"values", "responses",
       [](int) {
         return R"({"type":"response.completed","response":{"usage":[)" + repeated("0", 1'100'000) +
                "]}}";
       }},
      {"calls", "chat",
       [](int n) {
         const auto id = [n](int i) { return std::to_string(n) + "-" + std::to_string(i); };
         std::string calls;
         for (int i = 0; i < 100; ++i)
           calls += (i == 0 ? "" : ",") + (R"({"id":")" + id(i)) + R"("})";
         return R"({"choices":[{"index":0,"delta":{"tool_calls":[)" + calls + "]}}]}";
       }},
      {"starts of blocks", "messages",
       [&](int n) {
         return R"({"type":"content_block_start","index":)" + std::to_string(n) +
                R"(,"content_block":{"type":"text","text":")" + blob + R"("}})";
       }},
      {"empty blocks", "messages",
       [](int n) {
         return R"({"type":"content_block_delta","index":)" + std::to_string(n) +
                R"(,"delta":{"type":"text_delta","text":""}})";
       }},
      {"usage", "messages",
       [&](int n) {
         return R"({"type":"message_delta","usage":{"a)" + std::to_string(n) + R"(":")" + blob +
                R"("}})";
       }},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.wire << ": " << row.name) {
      const Fed fed(row.wire, row.events, 5000);
      BOOST_TEST((fed.state == WireDecoder::State::failed));
      BOOST_TEST(fed.decoder->failure().kind == "cut");
      BOOST_TEST(fed.decoder->failure().transient);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_item_behind_the_last_index_there_is_makes_the_stream_a_cut_one) {
  const auto decoder = make_wire("responses")->decoder({});
  for (
      const char* event :
      {R"({"type":"response.output_item.done","output_index":9223372036854775807,"item":{"type":"x"}})",
       R"({"type":"response.output_item.done","item":{"type":"message","content":"hi"}})",
       R"({"type":"response.completed","response":{}})"})
    decoder->read({"", event});
  BOOST_TEST(decoder->failure().kind == "cut");
}

BOOST_AUTO_TEST_CASE(counts_of_tokens_are_never_negative_and_their_sums_never_overflow) {
  const auto stream = [](const std::string& wire, const std::string& count) {
    if (wire == "responses")
      return R"({"type":"response.completed","response":{"usage":{"input_tokens":)" + count +
             R"(,"input_tokens_details":{"cached_tokens":)" + count + R"(},"output_tokens":)" +
             count + "}}}";
    if (wire == "chat")
      return R"({"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{)"
             R"("prompt_tokens":)" +
             count + R"(,"prompt_tokens_details":{"cached_tokens":)" + count +
             R"(},"completion_tokens":)" + count + "}}";
    return R"({"type":"message_start","message":{"usage":{"input_tokens":)" + count +
           R"(,"cache_read_input_tokens":)" + count + R"(,"cache_creation_input_tokens":)" + count +
           R"(,"output_tokens":)" + count + "}}}";
  };
  for (const char* wire : {"responses", "chat", "messages"})
    for (const char* count : {"-5", "-9223372036854775808", "9223372036854775807", "1e18", "1.5"})
      BOOST_TEST_CONTEXT(wire << " " << count) {
        const Usage usage = usage_of(wire, stream(wire, count));
        for (const std::int64_t tokens : {usage.input_tokens, usage.cached_input_tokens,
                                          usage.output_tokens, usage.cache_write_input_tokens}) {
          BOOST_TEST(tokens >= 0);
          BOOST_TEST(tokens <= 3'000'000'000'000);
        }
        BOOST_TEST((usage.output_tokens > 0) ==
                   (std::string(count).find_first_of("98") == 0 || std::string(count) == "1e18"));
      }
}

BOOST_AUTO_TEST_SUITE_END()
