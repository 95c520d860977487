#include "core/secrets/redact.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

using namespace sortie;

namespace {

constexpr const char* kKey = "sk-Te5t/K+y_0123456789";

const Redactor& redactor() {
  static const Redactor one(
      std::vector<Secret>{{"API_KEY", kKey}, {"QUOTED", "pa\"ss word\\1"}, {"TINY", "abc"}});
  return one;
}

/// The same text through a stream in chunks of this size.
std::string streamed(const Redactor& by, std::string_view text, std::size_t chunk) {
  StreamRedactor stream(by);
  std::string shown;
  for (; !text.empty(); text.remove_prefix(std::min(chunk, text.size())))
    shown += stream.feed(text.substr(0, chunk));
  return shown + stream.finish();
}

/// A text of parts of secrets, tokens and what stands around them, drawn by the seed.
std::string drawn_text(unsigned seed, std::size_t least) {
  static const std::vector<std::string> kParts = {kKey,
                                                  "sk-Te5t\\u002fK+y_0123456789",
                                                  "sk-Te5t%2FK%2By_0123456789",
                                                  "sk-",
                                                  "s\nk-Te5t/K+y_",
                                                  "pa\\\"ss word\\\\1",
                                                  "pa\"ss word\\1",
                                                  "pa",
                                                  "p",
                                                  "cGEic3Mgd29yZFwx",
                                                  "c2stVGU1dC9LK3lfMDEyMzQ1Njc4OQ==",
                                                  "ghp_0123456789abcdefghijklmnopqrstuvwxyzA",
                                                  "ghp_",
                                                  "AKIAABCDEFGHIJKLMNOP",
                                                  "lin",
                                                  "-----BEGIN ",
                                                  "abc",
                                                  " ",
                                                  "\n",
                                                  "\t",
                                                  "\"",
                                                  "\\",
                                                  "%",
                                                  "&",
                                                  "=",
                                                  "\xc3\xa9",
                                                  std::string("\0", 1),
                                                  "a line of output\n",
                                                  std::string(40, 'x'),
                                                  std::string(300, ' ')};
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < least) text += kParts[random() % kParts.size()];
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(redact)

// Long pieces are searched by a filter of beginnings (start_filter.h), short ones byte by byte.
BOOST_AUTO_TEST_CASE(long_pieces_hold_the_same_secrets_as_short_ones) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const std::string text = drawn_text(seed, 20'000);
    StreamRedactor pieces(redactor(), Audience::tools);
    std::string shown;
    for (std::size_t at = 0; at < text.size(); at += 1000)
      shown += pieces.feed(std::string_view(text).substr(at, 1000));
    shown += pieces.finish();

    BOOST_TEST_CONTEXT("seed " << seed) {
      BOOST_REQUIRE(redactor().text(text, Audience::tools) == shown);
      BOOST_REQUIRE(shown.find("[REDACTED:API_KEY]") != std::string::npos);
      BOOST_REQUIRE(shown.find(kKey) == std::string::npos);
    }
  }
}

// By each of the bytes that a filter looks at: plain, and behind all that may stand in between.
BOOST_AUTO_TEST_CASE(a_secret_is_found_wherever_it_begins_in_a_long_piece) {
  const std::string escaped = "pa\\\"ss word\\\\1";
  const std::string coded = "%73k-Te5t/K+y_0123456789";
  for (std::size_t at = 20'000; at < 20'070; ++at)
    for (const std::string& secret : {std::string(kKey), escaped, coded}) {
      std::string text(20'200, '.');
      text.replace(at, secret.size(), secret);
      const auto found = redactor().find_all(text);

      BOOST_REQUIRE(found.size() == 1);
      BOOST_TEST(found.front().begin == at);
      BOOST_TEST(found.front().end == at + secret.size());
      text.resize(at + secret.size());
      BOOST_TEST(redactor().find_all(text).size() == 1);
    }
}

BOOST_AUTO_TEST_CASE(a_pause_shows_all_but_what_may_begin_a_secret) {
  Redactor by(std::vector<Secret>{{"API_KEY", kKey}});
  by.add_pattern("ACME", "ACME-[0-9]{4}");
  StreamRedactor stream(by, Audience::tools);

  BOOST_TEST(stream.feed("Continue? ") == "");  // patterns look at whole lines
  BOOST_TEST(stream.pause() == "Continue? ");
  BOOST_TEST(stream.feed("no ACME-1234 sk-Te5t") == "");
  BOOST_TEST(stream.pause() == "no [REDACTED:ACME] ");
  BOOST_TEST(stream.pause() == "");  // however long it waits: that is a known value's beginning
  BOOST_TEST(stream.held_back() == 7u);
  BOOST_TEST(stream.feed("/K+y_0123456789\nx") == "[REDACTED:API_KEY]\n");
  BOOST_TEST(stream.held_back() == 1u);
  BOOST_TEST(stream.finish() == "x");
  BOOST_TEST(stream.held_back() == 0u);
}

BOOST_AUTO_TEST_CASE(what_a_pause_has_shown_is_remembered_and_the_rest_of_a_secret_replaced) {
  const std::string body(36, 'a');
  const struct {
    const char* name;
    std::vector<std::string> parts;  ///< with a pause behind each
    std::vector<std::string> shown;
  } rows[] = {
      {"a prefix of a token", {"npm_", body + "\n"}, {"npm_", "[REDACTED:npm-token]\n"}},
      {"a prefix that goes on otherwise", {"npm_", "install\n"}, {"npm_", "install\n"}},
      {"a part of a prefix", {"your task", " is\n"}, {"your task", " is\n"}},
      {"a dash", {"-", "-more-", "\n"}, {"-", "-more-", "\n"}},
      {"few bytes of a body", {"npm_ab?", "\n"}, {"npm_ab?", "\n"}},
      {"a body, and nothing comes", {"npm_abcde", "", "f\n"}, {"", "npm_abcde", "f\n"}},
      {"a body that becomes a token",
       {"is npm_abcde", "", body.substr(5) + "\n"},
       {"is ", "npm_abcde", "[REDACTED:npm-token]\n"}},
      {"a body that comes in two parts",
       {"npm_abcde", body.substr(5) + "\n"},
       {"", "[REDACTED:npm-token]\n"}},
      {"a whole token", {"npm_" + body, "", "\n"}, {"", "[REDACTED:npm-token]", "\n"}},
      {"a few bytes of a known value",
       {"? sk-", "Te5t/K+y_0123456789."},
       {"? sk-", "[REDACTED:API_KEY]."}},
      {"letter by letter", {"s", "k", "-", "T", "", "e.\n"}, {"s", "k", "-", "", "", "Te.\n"}},
      {"a match of a pattern", {"ACME-12", "34\n"}, {"ACME-12", "[REDACTED:ACME]\n"}},
      {"a match that grows", {"ACME-1234", "567\n"}, {"[REDACTED:ACME]", "567\n"}},
  };
  Redactor by(std::vector<Secret>{{"API_KEY", kKey}});
  by.add_pattern("ACME", "ACME-[0-9]{4}");
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      StreamRedactor stream(by, Audience::tools);
      for (std::size_t i = 0; i < row.parts.size(); ++i) {
        std::string shown = stream.feed(row.parts[i]);
        shown += stream.pause();
        BOOST_TEST(shown == row.shown[i], "part " << i << ": '" << shown << "'");
      }
      BOOST_TEST(stream.finish() == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(with_pauses_anywhere_no_known_value_is_seen_and_nothing_else_is_lost) {
  const std::string text = "a sk-Te5 sk-Te5t/K+y_0123456789 npm_x -----BEGIN sk-\nask: 6b2dVGU ";
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    StreamRedactor stream(redactor(), Audience::tools);
    std::string shown;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t size = 1 + random() % 9;
      shown += stream.feed(text.substr(at, size));
      at += size;
      if (random() % 2 == 0) shown += stream.pause();
    }
    shown += stream.finish();
    BOOST_TEST(shown.find("sk-Te5t") == std::string::npos, shown);
    // At most the first bytes of the value stand before the mark.
    const std::size_t mark = shown.find("[REDACTED:API_KEY]");
    BOOST_REQUIRE(mark != std::string::npos);
    const std::string before = shown.substr(0, mark);
    BOOST_TEST((before == "a sk-Te5 " || before == "a sk-Te5 s" || before == "a sk-Te5 sk" ||
                before == "a sk-Te5 sk-"),
               before);
    BOOST_TEST(shown.substr(mark + 18) == " npm_x -----BEGIN sk-\nask: 6b2dVGU ");
  }
}

BOOST_AUTO_TEST_CASE(every_coding_of_a_known_secret_is_replaced) {
  // Made by base64(1), basenc(1), xxd(1), Python's urllib and json; the bytes before and behind
  // shift the base64 groups, so up to one character on each side belongs to both and stays.
  const struct {
    const char* name;
    std::string text;
    std::string expected;
  } rows[] = {
      {"plain", "key=sk-Te5t/K+y_0123456789.", "key=[REDACTED:API_KEY]."},
      {"twice", "sk-Te5t/K+y_0123456789sk-Te5t/K+y_0123456789",
       "[REDACTED:API_KEY][REDACTED:API_KEY]"},
      {"base64", "c2stVGU1dC9LK3lfMDEyMzQ1Njc4OQ==", "[REDACTED:API_KEY]Q=="},
      {"base64 behind one byte", "eHNrLVRlNXQvSyt5XzAxMjM0NTY3ODk=", "eH[REDACTED:API_KEY]k="},
      {"base64 behind two bytes", "eHhzay1UZTV0L0sreV8wMTIzNDU2Nzg5", "eHh[REDACTED:API_KEY]"},
      {"base64, wrapped", "c2stVGU1dC9LK3\nlfMDEyMzQ1Nj\r\nc4OQ==", "[REDACTED:API_KEY]Q=="},
      {"base64, wrapped in YAML", "key: |\n    c2stVGU1dC9LK3\n    lfMDEyMzQ1Nj\r\n\t  c4OQ==\n",
       "key: |\n    [REDACTED:API_KEY]Q==\n"},
      {"base64, wrapped behind its first bytes",
       "k: c\n  2\n  stVGU1dC9LK3lfMDEyMzQ1Njc4OQ==", "k: [REDACTED:API_KEY]Q=="},
      {"base64, wrapped with an empty line",
       "c2stVGU1dC9LK3\n  \nlfMDEyMzQ1Njc4OQ==", "c2stVGU1dC9LK3\n  \nlfMDEyMzQ1Njc4OQ=="},
      {"base64 with a blank in a line",
       "c2stVGU1dC9LK3 lfMDEyMzQ1Njc4OQ==", "c2stVGU1dC9LK3 lfMDEyMzQ1Njc4OQ=="},
      {"hex, wrapped in YAML", "- 736b2d546535742f4b2b79\n  5f30313233343536373839",
       "- [REDACTED:API_KEY]"},
      {"all percent-coded", "%73%6b%2d%54%65%35%74%2f%4b%2b%79%5f%30%31%32%33%34%35%36%37%38%39",
       "[REDACTED:API_KEY]"},
      {"all as \\x",
       R"('\x73\x6B\x2D\x54\x65\x35\x74\x2F\x4B\x2B\x79\x5F\x30\x31\x32\x33\x34\x35\x36\x37\x38\x39')",
       "'[REDACTED:API_KEY]'"},
      {"all as \\u", R"(\u0070\u0061\u0022\u0073\u0073\u0020\u0077\u006f\u0072\u0064\u005c\u0031)",
       "[REDACTED:QUOTED]"},
      {"all as \\u in JSON's text",
       R"(\\u0070\\u0061\\u0022\\u0073\\u0073\\u0020\\u0077\\u006F\\u0072\\u0064\\u005C\\u0031)",
       "[REDACTED:QUOTED]"},
      {"all as numbers of HTML",
       "&#112;&#97;&#34;&#115;&#115;&#32;&#119;&#111;&#114;&#100;&#92;&#49;", "[REDACTED:QUOTED]"},
      {"all as hex numbers of HTML",
       "&#x70;&#x61;&#x22;&#x73;&#x73;&#x20;&#x77;&#x6f;&#x72;&#x64;&#x5c;&#x31;",
       "[REDACTED:QUOTED]"},
      {"hex", "736b2d546535742f4b2b795f30313233343536373839", "[REDACTED:API_KEY]"},
      {"upper-case hex", "x736B2D546535742F4B2B795F30313233343536373839x", "x[REDACTED:API_KEY]x"},
      {"URL", "?k=sk-Te5t%2FK%2By_0123456789&", "?k=[REDACTED:API_KEY]&"},
      {"URL, lower-case digits", "sk-Te5t%2fK%2by_0123456789", "[REDACTED:API_KEY]"},
      {"URL, slash kept", "sk-Te5t/K%2By_0123456789", "[REDACTED:API_KEY]"},
      {"form", "pa%22ss+word%5C1", "[REDACTED:QUOTED]"},
      {"URL with blank", "pa%22ss%20word%5C1", "[REDACTED:QUOTED]"},
      {"JSON", R"({"a":"pa\"ss word\\1"})", R"({"a":"[REDACTED:QUOTED]"})"},
      {"too short to be looked for", "abc", "abc"},
      {"a part only", "sk-Te5t/K+y_012345678", "sk-Te5t/K+y_012345678"},
      {"begun twice", "sk-Tesk-Te5t/K+y_0123456789", "sk-Te[REDACTED:API_KEY]"},
      {"nothing", "", ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_TEST(redactor().text(row.text) == row.expected);
      for (const std::size_t chunk : {1u, 2u, 3u, 7u})
        BOOST_TEST(streamed(redactor(), row.text, chunk) == row.expected);
    }
  }
}

BOOST_AUTO_TEST_CASE(url_alphabet_base64_is_found) {
  const Redactor one(std::vector<Secret>{{"K", "\xfb\xff\xfe\xfb\xff\xfe"}});

  BOOST_TEST(one.text("-__--__-") == "[REDACTED:K]");
  BOOST_TEST(one.text("+//++//+") == "[REDACTED:K]");
}

BOOST_AUTO_TEST_CASE(overlapping_secrets_become_one_part_named_after_the_longest) {
  const Redactor one(std::vector<Secret>{{"A", "abcdefgh"}, {"B", "efghijklmn"}});

  BOOST_TEST(one.text("-abcdefghijklmn-") == "-[REDACTED:B]-");
  BOOST_TEST(streamed(one, "-abcdefghijklmn-", 1) == "-[REDACTED:B]-");
}

BOOST_AUTO_TEST_CASE(a_secret_of_several_lines_is_found_as_it_stands) {
  const Redactor one(std::vector<Secret>{{"PEM", "-----BEGIN\nabc\ndef\n-----END"}});

  BOOST_TEST(one.text("x-----BEGIN\nabc\ndef\n-----ENDx") == "x[REDACTED:PEM]x");
}

BOOST_AUTO_TEST_CASE(chunk_borders_make_no_difference) {
  // Texts over three letters hit, overlap and nearly hit all the time.
  const Redactor one(std::vector<Secret>{{"X", "aababb"}, {"Y", "abbaab"}, {"Z", "bbbbbbb"}});
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    std::string text;
    while (text.size() < 200) text += "aab\n"[random() % 4];

    const std::string whole = one.text(text);

    BOOST_TEST(streamed(one, text, 1 + random() % 9) == whole);
    BOOST_TEST(one.find(whole) == "");
  }
}

BOOST_AUTO_TEST_CASE(a_stream_is_held_back_no_longer_than_needed) {
  StreamRedactor stream(redactor());

  BOOST_TEST(stream.feed("some text!") == "some text!");
  BOOST_TEST(stream.feed("sk-Te5t/") == "");
  BOOST_TEST(stream.feed("else!") == "sk-Te5t/else!");
}

BOOST_AUTO_TEST_CASE(json_is_redacted_in_strings_names_and_numbers) {
  const Redactor one(std::vector<Secret>{{"PIN", "12345678"}});
  const Json value = parse_json(R"({"a12345678":["x12345678",12345678,1,null,true]})");

  BOOST_TEST(write_json(one.json(value)) ==
             R"({"a[REDACTED:PIN]":["x[REDACTED:PIN]","[REDACTED:PIN]",1,null,true]})");
}

BOOST_AUTO_TEST_CASE(a_secret_added_later_is_found_whole_where_an_earlier_one_ends_in_it) {
  Redactor redactor;
  redactor.add({"SUFFIX", "cdefgh"});
  redactor.add({"LONGER", "abcdefghij"});
  redactor.add({"WHOLE", "abcdefgh"});

  BOOST_TEST(redactor.text("abcdefgh!") == "[REDACTED:WHOLE]!");
}

BOOST_AUTO_TEST_CASE(a_secret_added_under_way_is_found_from_the_next_chunk_on) {
  const struct {
    const char* name;
    std::vector<std::string> before;  ///< chunks fed before "NEW" is known
    std::vector<std::string> after;
    std::string shown;
  } rows[] = {
      {"behind it", {"a "}, {"new-value-1", " b"}, "a [REDACTED:NEW] b"},
      {"in the first chunk after it", {}, {"new-value-1"}, "[REDACTED:NEW]"},
      {"over two chunks", {"x"}, {"new-va", "lue-1!"}, "x[REDACTED:NEW]!"},
      {"coded", {"x"}, {"bmV3LXZhbH", "VlLTE="}, "x[REDACTED:NEW]E="},
      {"held back as what could be the old one",
       {"old-"},
       {"value-1 new-value-1"},
       "[REDACTED:OLD] [REDACTED:NEW]"},
      {"held back and begun as the new one", {"z old-value-12345"}, {"6"}, "z [REDACTED:TAIL]"},
      {"begun to be shown: too late", {"new-"}, {"value-1"}, "new-value-1"},
      {"a part found before stays", {"old-value-12"}, {"x"}, "[REDACTED:OLD]2x"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Redactor one(std::vector<Secret>{{"OLD", "old-value-1"}, {"LONG", "old-value-12345zzzzzz"}});
      StreamRedactor stream(one);
      std::string shown;

      for (const auto& chunk : row.before) shown += stream.feed(chunk);
      one.add_all({{"NEW", "new-value-1"}, {"TAIL", "old-value-123456"}});
      for (const auto& chunk : row.after) shown += stream.feed(chunk);
      shown += stream.finish();

      BOOST_TEST(shown == row.shown);
    }
  }
}

BOOST_AUTO_TEST_CASE(secrets_are_added_while_other_threads_redact) {
  Redactor one(std::vector<Secret>{{"FIRST", "first-value"}});
  std::atomic<bool> done = false;
  std::atomic<int> failures = 0;
  const auto look = [&](auto redact) {
    return [&, redact] {
      while (!done)
        if (redact() != "-[REDACTED:FIRST]-") ++failures;
    };
  };
  std::vector<std::thread> threads;
  threads.emplace_back(look([&] { return one.text("-first-value-"); }));
  threads.emplace_back(look([&] { return one.json(Json("-first-value-")).text(); }));
  threads.emplace_back(look([&] { return streamed(one, "-first-value-", 5); }));
  threads.emplace_back(look([&] { return "-[REDACTED:" + one.find("-first-value-") + "]-"; }));

  int unknown = 0;
  for (int i = 0; i < 100; ++i) {
    const std::string value = "later-value-" + std::to_string(i);
    if (i % 10 == 9)
      one.add_pattern("LATER", value);
    else
      one.add({"LATER", value});
    unknown += one.text(value) != "[REDACTED:LATER]";
  }
  done = true;
  for (auto& thread : threads) thread.join();

  BOOST_TEST(failures == 0);
  BOOST_TEST(unknown == 0);
}

BOOST_AUTO_TEST_CASE(the_secret_found_is_named) {
  BOOST_TEST(redactor().find("x sk-Te5t/K+y_0123456789") == "API_KEY");
  BOOST_TEST(redactor().find("x") == "");
  BOOST_TEST(Redactor().find("anything") == "");
}

BOOST_AUTO_TEST_CASE(a_secret_is_found_anywhere_in_a_long_text) {
  const std::string token = "ghp_0123456789abcdefghijklmnopqrstuvwxyzA";
  const std::string plain(200'000, ' ');
  for (std::size_t before : {0u, 65'490u, 65'500u, 65'536u, 131'072u, 199'950u}) {
    for (const std::string& secret : std::vector<std::string>{kKey, token}) {
      BOOST_TEST_CONTEXT(secret << " at " << before) {
        std::string text = plain;
        text.replace(before, secret.size(), secret);
        const auto found = redactor().find_all(text, Audience::tools);
        BOOST_REQUIRE(found.size() == 1u);
        BOOST_TEST(found[0].begin == before);
        BOOST_TEST(found[0].end == before + secret.size());
      }
    }
  }
  BOOST_TEST(redactor().find(plain, Audience::tools) == "");
  BOOST_TEST(redactor().find(plain + token, Audience::tools) != "");
}

BOOST_AUTO_TEST_SUITE_END()
