#include "core/net/http_reader.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

namespace {

struct Outcome {
  HttpReader::State state = HttpReader::State::head;
  int status = 0;
  std::string body{};
  bool keeps = false;
  std::string left{};  ///< bytes after the response
  bool operator==(const Outcome&) const = default;
};

Outcome read(const std::string& bytes, std::size_t piece, bool ended) {
  HttpReader reader(4096);
  Outcome outcome;
  using State = HttpReader::State;
  const auto open = [&] { return reader.state() == State::head || reader.state() == State::body; };
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    std::string_view rest = std::string_view(bytes).substr(at, piece);
    while (!rest.empty() && open()) outcome.body += reader.next(rest);
    outcome.left += rest;
  }
  if (ended) reader.at_end();
  outcome.state = reader.state();
  outcome.status = reader.head().status;
  outcome.keeps = reader.keeps_connection();
  return outcome;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(http_reader)

BOOST_AUTO_TEST_CASE(responses_are_read_wherever_they_are_split) {
  using State = HttpReader::State;
  const struct {
    const char* name;
    std::string bytes;
    Outcome outcome;
  } rows[] = {
      {"length",
       "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
       {State::done, 200, "abc", true}},
      {"length, more behind it",
       "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nabc",
       {State::done, 200, "a", true, "bc"}},
      {"cut in the body",
       "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc",
       {State::broken, 200, "abc", false}},
      {"chunks",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: "
       "u\r\n\r\n",
       {State::done, 200, "abcde", true}},
      {"cut between chunks",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
       {State::broken, 200, "abc", false}},
      {"a chunk longer than it says",
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
       {State::broken, 200, "a", false, ""}},
      {"until the end", "HTTP/1.0 200 OK\r\n\r\nabc", {State::done, 200, "abc", false}},
      {"close is heard",
       "HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 0\r\n\r\n",
       {State::done, 200, "", false}},
      {"interim responses are skipped",
       "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n",
       {State::done, 204, "", true}},
      {"bare LF, no reason", "HTTP/1.1 200\nContent-Length: 1\n\na", {State::done, 200, "a", true}},
      {"a header over two lines",
       "HTTP/1.1 200 OK\r\nA: b\r\n c\r\nContent-Length: 1\r\n\r\na",
       {State::done, 200, "a", true}},
      {"the same length twice",
       "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
       {State::done, 200, "a", true}},
      {"chunks, whatever the length says",
       "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n 1 \r\na\r\n0\n\n",
       {State::done, 200, "a", true}},
      {"nothing", "", {State::broken, 0, "", false}},
      {"cut in the head", "HTTP/1.1 200 OK\r\nA: b", {State::broken, 200, "", false}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      for (const std::size_t piece :
           {std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{100000}}) {
        Outcome seen = read(row.bytes, piece, true);
        if (row.outcome.state == State::broken) seen.left.clear();
        BOOST_TEST((seen == row.outcome), "pieces of " << piece);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_http_is_broken_and_says_why) {
  for (const std::string text :
       {"SSH-2.0-x\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 2000 OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "HTTP/1.1 200 OK\r\nA b: c\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 101 Go\r\n\r\n",
        "HTTP/1.1 200 OK\r\nA: b\rC: d\r\n\r\n", "HTTP/1.1 200 OK\r\n a: b\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"}) {
    BOOST_TEST_CONTEXT(text) {
      HttpReader reader(4096);
      std::string_view rest = text;
      while (!rest.empty() && reader.state() != HttpReader::State::broken) reader.next(rest);
      BOOST_TEST((reader.state() == HttpReader::State::broken));
      BOOST_TEST(!reader.problem().empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_head_past_the_limit_is_broken_and_one_below_is_taken) {
  const std::string begin = "HTTP/1.1 200 OK\r\nX: ";
  BOOST_TEST((read(begin + std::string(4000, 'x') + "\r\n\r\n", 100000, false).status == 200));
  BOOST_TEST(
      (read(begin + std::string(5000, 'x'), 1000, false).state == HttpReader::State::broken));
}

BOOST_AUTO_TEST_SUITE_END()
