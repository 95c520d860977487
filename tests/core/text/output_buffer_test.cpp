#include "core/text/output_buffer.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "core/text/terminal_text.h"

using namespace sortie;

BOOST_AUTO_TEST_SUITE(output_buffer)

namespace {

std::string cleaned(std::string_view bytes, std::size_t chunk) {
  TerminalText text;
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += chunk) out += text.feed(bytes.substr(i, chunk));
  return out + text.finish();
}

}  // namespace

BOOST_AUTO_TEST_CASE(terminal_output_becomes_plain_text_however_it_is_cut) {
  const struct {
    const char* name;
    std::string bytes;
    std::string text;
  } rows[] = {
      {"plain", "a\tb\nc", "a\tb\nc"},
      {"colour", "\x1b[1;31mred\x1b[0m\n", "red\n"},
      {"title ended by BEL", "\x1b]0;title\ax\n", "x\n"},
      {"link ended by ST", "\x1b]8;;http://a\x1b\\text\x1b]8;;\x1b\\\n", "text\n"},
      {"device control", "\x1bPq#0\x1b\\x", "x"},
      {"charset", "\x1b(Bx\x1b=y", "xy"},
      {"sequence that does not end hides no line", "\x1b]0;abc\nnext\n", "\nnext\n"},
      {"progress bar", "10%\r50%\r100%\n", "100%\n"},
      {"CRLF", "a\r\nb\r\n", "a\nb\n"},
      {"CR at the end", "a\r", "a"},
      {"two CR", "a\r\r\nb", "a\nb"},
      {"CR, colour, text", "10%\r\x1b[K\x1b[32m99%\n", "99%\n"},
      {"backspace", "ab\b\bcd\n", "cd\n"},
      {"backspace over a character of two bytes", "aé\bb", "ab"},
      {"backspace at the beginning", "\ba\n\b\bb", "a\nb"},
      {"control characters", std::string("a\0b\x01\x7f", 5), "ab"},
      {"control characters of two bytes", "a\xC2\x85\x62\xC2\x9C", "ab"},
      {"colour by a control character of two bytes", "a\xC2\x9B\x31;31mred\xC2\x9B\x6d §\n",
       "ared §\n"},
      {"title ended by ST of two bytes", "\xC2\x9D\x30;title\xC2\x9Cx\n", "x\n"},
      {"string of two bytes that does not end hides nothing", "\xC2\x90q\nx\n", "q\nx\n"},
      {"CSI of two bytes that does not end", "\xC2\x9B\x31\xC2\x9B\nx", "\nx"},
      {"bad bytes", "a\xff\xc3\n", "a\xEF\xBF\xBD\xEF\xBF\xBD\n"},
      {"split character", "€€€", "€€€"},
  };
  for (const auto& row : rows) {
    for (const std::size_t chunk : {1u, 2u, 3u, 100u}) {
      BOOST_TEST_CONTEXT(row.name << ", in chunks of " << chunk) {
        BOOST_TEST(cleaned(row.bytes, chunk) == row.text);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_line_without_end_is_not_held_for_ever) {
  TerminalText text;
  std::size_t bytes = 0;
  for (int i = 0; i < 100; ++i) bytes += text.feed(std::string(10'000, 'x')).size();

  BOOST_TEST(bytes > 900'000u);
  BOOST_TEST(bytes + text.finish().size() == 1'000'000u);
}

BOOST_AUTO_TEST_CASE(what_fits_is_shown_whole) {
  HeadTail output(20);
  output.feed("0123456789\n");
  output.feed("abcdefgh\n");

  BOOST_TEST(!output.cut());
  BOOST_TEST(output.render() == "0123456789\nabcdefgh\n");
  BOOST_TEST(output.total_lines() == 2u);
}

BOOST_AUTO_TEST_CASE(head_and_tail_are_cut_at_line_ends_and_the_rest_is_counted) {
  for (const std::size_t chunk : {1u, 7u, 4096u}) {
    std::string all;
    for (int i = 0; i < 1000; ++i) all += "line " + std::to_string(i) + "\n";
    HeadTail output(40);
    for (std::size_t i = 0; i < all.size(); i += chunk)
      output.feed(std::string_view(all).substr(i, chunk));

    BOOST_TEST(output.render() ==
               "line 0\nline 1\n… 996 lines (8 KiB) left out …\nline 998\nline 999\n");
    BOOST_TEST(output.render("/o").find("left out; the whole output is in /o …\n") !=
               std::string::npos);
    BOOST_TEST(output.total_lines() == 1000u);
    BOOST_TEST(output.left_out_bytes() == all.size() - 14 - 18);
  }
}

BOOST_AUTO_TEST_CASE(a_long_line_is_cut_between_characters) {
  std::string all;
  for (int i = 0; i < 100; ++i) all += "€";
  HeadTail output(20);
  output.feed(all);

  BOOST_TEST(output.render() == "€€€\n… 282 bytes left out …\n€€€");
}

BOOST_AUTO_TEST_CASE(fifty_megabytes_are_kept_in_bounded_memory) {
  OutputBuffer buffer(10'000, 100'000);
  for (int i = 0; i < 5000; ++i) buffer.feed(std::string(9'999, 'x') + "\n");

  const CollectedOutput output = buffer.finish();

  BOOST_TEST(output.total_bytes == 50'000'000u);
  BOOST_TEST(output.total_lines == 5000u);
  BOOST_TEST(output.shown.size() <= 10'100u);
  BOOST_TEST(output.recorded.size() <= 100'100u);
}

BOOST_AUTO_TEST_CASE(a_smaller_limit_shows_what_a_smaller_buffer_would_have) {
  for (const int lines : {3, 10, 18, 40, 1000}) {
    HeadTail large(200);
    HeadTail small(40);
    for (int i = 0; i < lines; ++i) {
      const std::string line = "line " + std::to_string(i) + "\n";
      large.feed(line);
      small.feed(line);
    }
    BOOST_TEST_CONTEXT(lines << " lines") {
      BOOST_TEST(large.narrowed(40).render() == small.render());
      BOOST_TEST(large.narrowed(40).left_out_bytes() == small.left_out_bytes());
      BOOST_TEST(large.narrowed(40).total_lines() == small.total_lines());
      BOOST_TEST(large.narrowed(4000).render() == large.render());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_pause_shows_the_line_so_far_and_keeps_half_a_character) {
  TerminalText text;
  BOOST_TEST(text.feed("a\n>>> \xe2\x82") == "a\n");
  BOOST_TEST(text.pause() == ">>> ");
  BOOST_TEST(text.feed("\xac\r\nnext") == "€\n");
  BOOST_TEST(text.pause() == "next");
  BOOST_TEST(text.feed("\rnew\n\xff") == "new\n");
  BOOST_TEST(text.pause() == "\xef\xbf\xbd");  // no character begins so
  BOOST_TEST(text.finish() == "");
}

BOOST_AUTO_TEST_CASE(where_nothing_comes_between_two_pauses_nothing_stays_hidden) {
  const struct {
    const char* name;
    const char* bytes;
    const char* first;
    const char* second;
    const char* rest;  ///< of "1mx\n" behind it
  } rows[] = {
      {"half a character", "a\xe2\x82", "a", "\xef\xbf\xbd", "1mx\n"},
      {"a colour", "a\x1b[3", "a", "", "1mx\n"},
      {"an escape", "a\x1b", "a", "", "1mx\n"},
      {"a colour of two bytes", "a\xc2\x9b\x33", "a", "", "1mx\n"},
      {"a title without its end", "a\x1b]0;t\xc3\xa9Password: ", "a",
       "0;t\xc3\xa9Password: ", "1mx\n"},
      {"nothing", "a\x1b[0m", "a", "", "1mx\n"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      TerminalText text;
      BOOST_TEST(text.feed(row.bytes) == "");
      BOOST_TEST(text.pause() == row.first);
      BOOST_TEST(text.feed("") == "");
      BOOST_TEST(text.pause() == row.second);
      BOOST_TEST(text.pause() == "");
      BOOST_TEST(text.feed("1mx\n") == row.rest);
    }
  }
  TerminalText split;  // a pause in between changes nothing
  std::string all;
  for (const char* part : {"a\x1b[3", "1mb\xc2\x9b\x33", "1mc\n"}) {
    all += split.feed(part);
    all += split.pause();
  }
  BOOST_TEST(all == "abc\n");
}

BOOST_AUTO_TEST_CASE(sizes_in_words) {
  BOOST_TEST(size_in_words(1) == "1 byte");
  BOOST_TEST(size_in_words(1023) == "1023 bytes");
  BOOST_TEST(size_in_words(312 * 1024 + 5) == "312 KiB");
  BOOST_TEST(size_in_words(3u << 19) == "1.5 MiB");
}

BOOST_AUTO_TEST_SUITE_END()
