#include "core/net/sse.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

using namespace sortie;

namespace {

using Events = std::vector<std::pair<std::string, std::string>>;

Events parse(const std::vector<std::string>& chunks, std::size_t max = SseParser::kMaxEventBytes) {
  Events events;
  SseParser parser(max);
  for (const std::string& chunk : chunks) {
    // A copy that goes away: the parser must not look at a chunk after its feed.
    const std::string passing(chunk);
    parser.feed(passing,
                [&events](const SseEvent& event) { events.emplace_back(event.name, event.data); });
  }
  return events;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sse)

BOOST_AUTO_TEST_CASE(a_stream_says_where_and_when_to_go_on) {
  using Wait = std::optional<std::chrono::milliseconds>;
  const struct {
    const char* name;
    std::string stream;
    std::string id;
    Wait retry;
  } rows[] = {
      {"nothing said", "data: 1\n\n", "", {}},
      {"an id", "id: a-1\ndata: 1\n\n", "a-1", {}},
      {"an id without data counts", "id: a\n\n", "a", {}},
      {"the id of an event that was cut off does not", "id: a\ndata\n\nid: b\ndata: 2\n", "a", {}},
      {"an id holds on", "id: a\ndata\n\ndata\n\n", "a", {}},
      {"an empty id takes it back", "id: a\ndata\n\nid\ndata\n\n", "", {}},
      {"an id with NUL is none", std::string("id: a\n\nid: b\0\n\n", 15), "a", {}},
      {"retry", "retry: 500\n\n", "", Wait(500)},
      {"retry counts at once", "retry: 500\n", "", Wait(500)},
      {"the last retry", "retry: 1\nretry:2\n\n", "", Wait(2)},
      {"retry is digits alone", "retry: 5s\nretry: -1\nretry\n\n", "", {}},
      {"a retry without end", "retry: 99999999999999999999999\n\n", "", Wait(1'000'000'000'000)},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      for (std::size_t at = 0; at <= row.stream.size(); ++at) {
        SseParser parser;
        for (const std::string& part : {row.stream.substr(0, at), row.stream.substr(at)})
          parser.feed(part, [](const SseEvent&) {});
        BOOST_TEST(parser.last_event_id() == row.id);
        BOOST_TEST((parser.retry() == row.retry));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(streams_are_cut_into_their_events_wherever_they_are_split) {
  const struct {
    const char* name;
    std::string stream;
    Events events;
  } rows[] = {
      {"one event", "event: a\ndata: b\n\n", {{"a", "b"}}},
      {"LF, CR and CRLF",
       "data: 1\n\ndata: 2\r\rdata: 3\r\n\r\n",
       {{"", "1"}, {"", "2"}, {"", "3"}}},
      {"several data lines", "data: 1\ndata:2\ndata:  3\n\n", {{"", "1\n2\n 3"}}},
      {"several data lines with CRLF", "data: 1\r\ndata: 2\r\n\r\n", {{"", "1\n2"}}},
      {"no blank after the colon", "data:x\n\n", {{"", "x"}}},
      {"colons in the data", "data: a:b: c\n\n", {{"", "a:b: c"}}},
      {"a comment", ": keep-alive\n\ndata: 1\n:x\n\n", {{"", "1"}}},
      {"unknown fields, id and retry", "id: 7\nretry: 10\nfoo: bar\nbaz\ndata: 1\n\n", {{"", "1"}}},
      {"an event without data is none", "event: a\n\ndata: 1\n\n", {{"", "1"}}},
      {"empty data is an event", "data\n\ndata:\n\n", {{"", ""}, {"", ""}}},
      {"two empty data lines", "data\ndata\n\n", {{"", "\n"}}},
      {"an event that is cut off is none", "data: 1\n\ndata: 2\n", {{"", "1"}}},
      {"no final newline", "data: 1", {}},
      {"byte order mark",
       "\xEF\xBB\xBF"
       "data: 1\n\n",
       {{"", "1"}}},
      {"half a byte order mark",
       "\xEF\xBB"
       "data: 1\ndata: 2\n\n",
       {{"", "2"}}},
      {"a mark further on is text",
       "data: 1\n\n\xEF\xBB\xBF"
       "data: 2\n\n",
       {{"", "1"}}},
      {"NUL and bytes that are no UTF-8",
       std::string("data: \0\xff\n\n", 10),
       {{"", std::string("\0\xff", 2)}}},
      {"the last name counts, and only once",
       "event: a\nevent: b\ndata: 1\n\ndata: 2\n\n",
       {{"b", "1"}, {"", "2"}}},
      {"many blank lines", "\n\r\n\r\rdata: 1\n\n\n\n", {{"", "1"}}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST((parse({row.stream}) == row.events));
      std::vector<std::string> bytes;
      for (const char c : row.stream) bytes.emplace_back(1, c);
      BOOST_TEST((parse(bytes) == row.events), "split at every byte");
      for (std::size_t at = 0; at <= row.stream.size(); ++at)
        BOOST_TEST((parse({row.stream.substr(0, at), row.stream.substr(at)}) == row.events),
                   "split at byte " << at);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_event_past_the_limit_is_refused_however_it_comes) {
  const std::string fits = "data: " + std::string(50, 'x') + "\n\n";
  const std::string one_line = "data: " + std::string(80, 'x');
  std::string many_lines;
  for (int i = 0; i < 20; ++i) many_lines += "data: 12345678\n";

  BOOST_TEST(parse({fits, fits, fits}, 64).size() == 3u);
  BOOST_CHECK_THROW(parse({one_line}, 64), SseError);
  BOOST_CHECK_THROW(parse({one_line.substr(0, 40), one_line.substr(40)}, 64), SseError);
  BOOST_CHECK_THROW(parse({many_lines}, 64), SseError);
}

BOOST_AUTO_TEST_CASE(an_event_of_ten_megabytes_comes_whole) {
  const std::string data(10u << 20, 'x');
  const std::string stream = "data: " + data + "\n\n";
  std::vector<std::string> chunks;
  for (std::size_t at = 0; at < stream.size(); at += 32768)
    chunks.push_back(stream.substr(at, 32768));

  const Events events = parse(chunks);

  BOOST_REQUIRE(events.size() == 1u);
  BOOST_TEST((events[0].second == data));
}

BOOST_AUTO_TEST_SUITE_END()
