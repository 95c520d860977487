#include "core/http1/body_reader.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

namespace {

using Kind = BodyFraming::Kind;

struct Outcome {
  std::string content;
  std::string rest;  ///< not used
  bool done = false;
  bool malformed = false;
};

/// Feeds the text in pieces of that many bytes, each with what was left of the one before.
Outcome read(const BodyFraming& framing, const std::string& text, std::size_t piece) {
  BodyReader reader(framing);
  Outcome outcome;
  std::string held;
  for (std::size_t at = 0; at < text.size(); at += piece) {
    held += text.substr(at, piece);
    held.erase(0, reader.feed(held, outcome.content));
  }
  outcome.rest = held;
  outcome.done = reader.is_done();
  outcome.malformed = reader.is_malformed();
  return outcome;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(body_reader)

BOOST_AUTO_TEST_CASE(a_body_is_found_however_it_arrives) {
  const struct {
    const char* name;
    BodyFraming framing;
    std::string text;
    std::string content;
    std::string rest;
  } rows[] = {
      {"none", {Kind::none}, "GET", "", "GET"},
      {"empty", {Kind::length, 0}, "GET", "", "GET"},
      {"length", {Kind::length, 5}, "helloGET", "hello", "GET"},
      {"no chunk", {Kind::chunked}, "0\r\n\r\nGET", "", "GET"},
      {"chunks", {Kind::chunked}, "5\r\nhello\r\n1\r\n!\r\n0\r\n\r\nGET", "hello!", "GET"},
      {"hexadecimal", {Kind::chunked}, "0A\r\n0123456789\r\n000\r\n\r\n", "0123456789", ""},
      {"extensions", {Kind::chunked}, "2;a=b;c=\"d\"\r\nhi\r\n0 ;x\r\n\r\n", "hi", ""},
      {"line ends inside", {Kind::chunked}, "4\r\n\r\n\r\n\r\n0\r\n\r\n", "\r\n\r\n", ""},
      {"trailer", {Kind::chunked}, "1\r\nx\r\n0\r\nA: b\r\nC: d\r\n\r\nGET", "x", "GET"},
  };
  for (const auto& row : rows) {
    for (const std::size_t piece : {std::size_t{1}, std::size_t{2}, std::size_t{1000}}) {
      BOOST_TEST_CONTEXT(row.name << " in pieces of " << piece) {
        const Outcome outcome = read(row.framing, row.text, piece);
        BOOST_TEST(outcome.done);
        BOOST_TEST(outcome.content == row.content);
        BOOST_TEST(outcome.rest == row.rest);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(chunks_that_could_mislead_are_malformed) {
  for (const std::string text :
       {"x\r\n", "\r\n", "-1\r\nx", "+1\r\nx", "0x1\r\nx", "1 \r\nx", " 1\r\nx", "1\nx", "1\rx",
        "1\r\nxx\r\n", "1\r\nx\n", "1\r\nxy", ";a\r\n", "1234567890abcdef\r\n", "1\t\r\n",
        "0\r\nA: b\n\r\n", "0\r\n\n", "1;a\nb\r\nx\r\n"}) {
    BOOST_TEST_CONTEXT(text) {
      BOOST_TEST(read({Kind::chunked}, text, 1000).malformed);
      BOOST_TEST(read({Kind::chunked}, text, 1).malformed);
    }
  }
  BOOST_TEST(read({Kind::chunked}, "1;" + std::string(5000, 'a'), 100).malformed);
  std::string trailer = "0\r\n";
  for (int i = 0; i < 5000; ++i) trailer += "A: b\r\n";
  BOOST_TEST(read({Kind::chunked}, trailer, 1000).malformed);
}

BOOST_AUTO_TEST_CASE(only_a_body_without_a_length_ends_with_the_connection) {
  std::string content;
  BodyReader until_close({Kind::until_close});
  until_close.feed("all of it", content);
  BOOST_TEST(!until_close.is_done());
  BOOST_TEST(until_close.finish());
  BOOST_TEST(content == "all of it");

  BodyReader length({Kind::length, 5});
  length.feed("hell", content);
  BOOST_TEST(!length.finish());
  BodyReader chunked({Kind::chunked});
  chunked.feed("4\r\nhell", content);
  BOOST_TEST(!chunked.finish());
}

BOOST_AUTO_TEST_CASE(content_is_framed_for_who_gets_it) {
  std::string out;
  append_framed({Kind::chunked}, "0123456789abcdefg", out);
  append_framed({Kind::chunked}, "", out);
  append_body_end({Kind::chunked}, out);
  BOOST_TEST(out == "11\r\n0123456789abcdefg\r\n0\r\n\r\n");
  out.clear();
  append_framed({Kind::length, 2}, "hi", out);
  append_body_end({Kind::length, 2}, out);
  BOOST_TEST(out == "hi");
}

BOOST_AUTO_TEST_SUITE_END()
