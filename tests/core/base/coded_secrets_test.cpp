#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <random>

#include "core/secrets/redact.h"

using namespace sortie;

namespace {

constexpr const char* kMark = "[REDACTED:K]";

std::string printed(const char* format, unsigned number) {
  char text[32];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

/// The bytes of a character in UTF-8, each by a format.
std::string by_bytes(const std::string& character, const char* format) {
  std::string text;
  for (const char c : character) text += printed(format, static_cast<unsigned char>(c));
  return text;
}

unsigned number_of(const std::string& character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0);
  if (character.size() == 2) return (byte(0) & 0x1Fu) << 6 | (byte(1) & 0x3Fu);
  return (byte(0) & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
}

/// How one character of a value is printed.
struct Coding {
  const char* name;
  std::function<std::string(const std::string& character)> of;
};

const std::vector<Coding>& codings() {
  const auto bytes = [](const char* format) {
    return [=](const std::string& character) { return by_bytes(character, format); };
  };
  const auto number = [](const char* format) {
    return [=](const std::string& character) { return printed(format, number_of(character)); };
  };
  static const std::vector<Coding> all = {{"percent", bytes("%%%02X")},
                                          {"percent, lower case", bytes("%%%02x")},
                                          {"percent twice", bytes("%%25%02X")},
                                          {"percent three times", bytes("%%2525%02x")},
                                          {"quoted-printable", bytes("=%02X")},
                                          {"hex escape", bytes("\\x%02x")},
                                          {"hex escape in JSON", bytes("\\\\x%02X")},
                                          {"octal escape", bytes("\\%03o")},
                                          {"octal escape in JSON", bytes("\\\\%03o")},
                                          {"JSON", number("\\u%04x")},
                                          {"JSON, upper case", number("\\u%04X")},
                                          {"JSON in JSON", number("\\\\u%04x")},
                                          {"JSON, percent-coded", number("%%5Cu%04x")},
                                          {"JavaScript", number("\\u{%x}")},
                                          {"Python, C", number("\\U%08x")},
                                          {"escape()", number("%%u%04X")},
                                          {"HTML", number("&#%u;")},
                                          {"HTML, leading zeros", number("&#%07u;")},
                                          {"HTML, hex", number("&#x%x;")},
                                          {"HTML, hex, upper case", number("&#X%04X;")},
                                          {"HTML twice", number("&amp;#%u;")},
                                          {"HTML in JSON", number("\\u0026#%u;")},
                                          {"HTML, the sign coded", number("&#38;#%u;")}};
  return all;
}

std::vector<std::string> characters_of(const std::string& value) {
  std::vector<std::string> list;
  for (const char c : value) {
    if ((c & 0xC0) != 0x80) list.emplace_back();
    list.back() += c;
  }
  return list;
}

std::string random_value(std::mt19937& random, bool ascii) {
  static const std::vector<std::string> kOdd = {"\"", "'", "+", "/", "=", "&", "%", "\\", "<",
                                                "$",  "-", "_", "!", ":", "@", "#", "`"};
  std::string value;
  while (value.size() < 14 || random() % 8 != 0) {
    if (random() % 4 == 0)
      value += kOdd[random() % kOdd.size()];
    else if (!ascii && random() % 5 == 0)
      value += random() % 2 == 0 ? "\u00e4" : "\u20ac";
    else
      value += "abcdefghijklmnopqrstuvwxyzABCDEFXYZ0123456789"[random() % 45];
  }
  return value;
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
  return text;
}

std::string streamed(const Redactor& by, std::string_view text, std::mt19937& random) {
  StreamRedactor stream(by);
  std::string shown;
  while (!text.empty()) {
    const std::size_t size = std::min<std::size_t>(1 + random() % 17, text.size());
    shown += stream.feed(text.substr(0, size));
    text.remove_prefix(size);
  }
  return shown + stream.finish();
}

void check(const std::string& value, const std::string& coded, std::mt19937& random) {
  const Redactor redactor(std::vector<Secret>{{"K", value}});
  const std::string text = "some text <" + coded + "> and more\n";
  const std::string expected = std::string("some text <") + kMark + "> and more\n";
  BOOST_TEST(redactor.text(text) == expected,
             value << " as " << coded << " gave " << redactor.text(text));
  BOOST_TEST(streamed(redactor, text, random) == expected,
             "in chunks: " << value << " as " << coded);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(coded_secrets)

BOOST_AUTO_TEST_CASE(a_value_is_found_with_all_or_some_of_its_characters_coded) {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    const std::string value = random_value(random, round % 2 == 0);
    for (const Coding& coding : codings()) {
      BOOST_TEST_CONTEXT(coding.name) {
        std::string all;
        std::string some;
        for (const std::string& character : characters_of(value)) {
          all += coding.of(character);
          // A sign that stands as it is may be one of a coding with what follows: it is coded too.
          const bool sign = std::string("\\%&=").find(character) != std::string::npos;
          some += sign || random() % 2 == 0 ? coding.of(character) : character;
        }
        check(value, all, random);
        check(value, some, random);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_value_is_found_with_each_character_coded_in_a_way_of_its_own) {
  std::mt19937 random(12);
  for (int round = 0; round < 200; ++round) {
    const std::string value = random_value(random, false);
    std::string coded;
    for (const std::string& character : characters_of(value))
      coded += codings()[random() % codings().size()].of(character);
    check(value, coded, random);
  }
}

BOOST_AUTO_TEST_CASE(a_value_is_found_in_the_quoting_of_many_languages) {
  const std::string value = "pa\"ss'w+rd/\u00e4=x1`$9";
  // Printed by Python's html, json, repr, quopri, urllib and csv, bash's printf %q, sqlite's
  // quote().
  const struct {
    const char* name;
    std::string text;
  } rows[] = {
      {"html.escape", "pa&quot;ss&#x27;w+rd/\u00e4=x1`$9"},
      {"PHP", "pa&quot;ss&#039;w+rd/\u00e4=x1`$9"},
      {"Go", "pa&#34;ss&#39;w&#43;rd/\u00e4=x1`$9"},
      {"leading zeros", "pa&#0034;ss&#0000039;w+rd/\u00e4=x1&#0096;$9"},
      {"names", "pa&quot;ss&apos;w&plus;rd&sol;\u00e4&equals;x1&grave;&dollar;9"},
      {"json.dumps", R"(pa\"ss'w+rd/\u00e4=x1`$9)"},
      {"json.dumps twice", R"(pa\\\"ss'w+rd/\\u00e4=x1`$9)"},
      {"JSON that fears HTML", R"(pa\u0022ss\u0027w\u002Brd\/\u00E4\u003dx1\u0060$9)"},
      {"repr", R"(pa"ss\'w+rd/)"
               "\u00e4=x1`$9"},
      {"ascii", R"(pa"ss\'w+rd/\xe4=x1`$9)"},
      {"repr of bytes", R"(pa"ss\'w+rd/\xc3\xa4=x1`$9)"},
      {"printf %q in a C locale", R"(pa"ss\'w+rd/\303\244=x1`$9)"},
      {"printf %q", R"(pa\"ss\'w+rd/)"
                    "\u00e4"
                    R"(=x1\`\$9)"},
      {"a word in single quotes", R"(pa"ss'\''w+rd/)"
                                  "\u00e4=x1`$9"},
      {"a word in both quotes", R"(pa"ss'"'"'w+rd/)"
                                "\u00e4=x1`$9"},
      {"CSV", "pa\"\"ss'w+rd/\u00e4=x1`$9"},
      {"SQL, YAML", "pa\"ss''w+rd/\u00e4=x1`$9"},
      {"quoted-printable", "pa\"ss'w+rd/=C3=A4=3Dx1`$9"},
      {"quoted-printable, wrapped", "pa\"ss'w+r=\nd/=C3=A4=\r\n=3Dx1`$9"},
      {"quote", "pa%22ss%27w%2Brd/%C3%A4%3Dx1%60%249"},
      {"quote twice", "pa%2522ss%2527w%252Brd/%25C3%25A4%253Dx1%2560%25249"},
      {"mixed letter case", "pa%22ss%27w%2brd%2F%c3%A4%3dx1%60%249"},
      {"on two lines", "pa\"ss'w+\nrd/\u00e4=x1`$9"},
      {"on two lines of a YAML list", "pa\"ss'w+\r\n    rd/\u00e4=x1`$9"},
      {"on two lines of a comment", "pa\"ss'w+\n# rd/\u00e4=x1`$9"},
      {"on two lines of C", "pa\\\"ss'w+\"\n  \"rd/\u00e4=x1`$9"},
      {"joined", "pa\\\"ss'w+\" + \"rd/\u00e4=x1`$9"},
      {"continued by a backslash", "pa\"ss'w+\\\nrd/\u00e4=x1`$9"},
      {"on two lines of a JSON string", R"(pa\"ss'w+\nrd/)"
                                        "\u00e4=x1`$9"},
      {"letter by letter", replaced("p a \" s s ' w + r d / X = x 1 ` $ 9", "X", "\xc3 \xa4")},
  };
  std::mt19937 random(13);
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) { check(value, row.text, random); }
  }
}

BOOST_AUTO_TEST_CASE(base64_and_hex_are_found_however_they_are_wrapped_and_parted) {
  const std::string value = "sk-Te5t/K+y_0123456789abcdefXYZw";  // 32 bytes
  const std::string base64 = "c2stVGU1dC9LK3lfMDEyMzQ1Njc4OWFiY2RlZlhZWnc=";
  const std::string head = base64.substr(0, 17);
  const std::string tail = base64.substr(17, 25);  // what the value alone decides
  const std::string hex =
      "736b2d546535742f4b2b795f30313233343536373839616263646566"
      "58595a77";
  std::string parted[4];
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    const std::string byte = hex.substr(i, 2);
    const std::string separators[] = {" ", ":", ", 0x", "-"};
    for (std::size_t k = 0; k < 4; ++k) parted[k] += (i == 0 ? "" : separators[k]) + byte;
  }
  const Redactor redactor(std::vector<Secret>{{"K", value}});
  std::mt19937 random(14);
  std::vector<std::string> texts = {"<" + hex + ">",
                                    "<" + hex.substr(0, 31) + "\n" + hex.substr(31)};
  for (const char* between :
       {"\n",       "\r\n",        "\n    ",  "\\n",   "\\\\n",  "\\r\\n",    "\n# ",    "\n | ",
        "\n> ",     "\n// ",       "\n * ",   "\" \"", "\"\n\"", "\",\n  \"", "\" + \"", "' +\n  '",
        "\\n\" \"", "\\n\"\n  \"", "\" . \"", "=\n",   "%0A",    "&#10;"})
    texts.push_back("<" + head + between + tail);
  for (const std::string& text : parted) texts.push_back("<" + text);
  for (const std::string& text : texts) {
    const std::string shown = redactor.text(text);
    BOOST_TEST(shown.starts_with(std::string("<") + kMark), text << " gave " << shown);
    BOOST_TEST(shown.size() < 20u, text << " gave " << shown);
    BOOST_TEST(streamed(redactor, text, random) == shown);
  }
}

BOOST_AUTO_TEST_CASE(a_dump_of_a_value_is_replaced_with_its_text_at_the_side) {
  const Redactor redactor(std::vector<Secret>{{"K", "sk-Te5t/K+y_0123456789"}});
  const std::string dumps[] = {
      // xxd, hexdump -C, od -An -tx1, od -c
      "00000000: 736b 2d54 6535 742f 4b2b 795f 3031 3233  sk-Te5t/K+y_0123\n"
      "00000010: 3435 3637 3839 0a                        456789.\n",
      "00000000  73 6b 2d 54 65 35 74 2f  4b 2b 79 5f 30 31 32 33  |sk-Te5t/K+y_0123|\n"
      "00000010  34 35 36 37 38 39 0a                              |456789.|\n00000017\n",
      " 73 6b 2d 54 65 35 74 2f 4b 2b 79 5f 30 31 32 33\n 34 35 36 37 38 39 0a\n",
      "0000000   s   k   -   T   e   5   t   /   K   +   y   _   0   1   2   3\n"
      "0000020   4   5   6   7   8   9  \\n\n0000027\n",
  };
  std::mt19937 random(15);
  for (const std::string& dump : dumps) {
    const std::string shown = redactor.text(dump);
    BOOST_TEST(shown.find(kMark) != std::string::npos, shown);
    for (const char* part : {"6789", "sk-", "0123", "36 37", "3637", "6   7"})
      BOOST_TEST(shown.find(part) == std::string::npos, part << " in " << shown);
    BOOST_TEST(streamed(redactor, dump, random) == shown);
  }
}

BOOST_AUTO_TEST_CASE(what_is_near_a_value_stays) {
  const Redactor redactor(
      std::vector<Secret>{{"K", "sk-Te5t/K+y_0123456789"}, {"SHORT", "q1w2e3"}});
  for (const std::string text :
       {"sk-Te5t/K+y_012345678", "sk-Te5t/\n\nK+y_0123456789", "sk-Te5t and K+y_0123456789",
        "q1w\n2e3", "q1w, 2e3", "sk-Te5t/ K+y_0123456789", "%73%6", "a=\n\nb && c == d \\",
        "&#x73;k-Te5t", "\\u", "&", "%", "=", "\\"}) {
    BOOST_TEST(redactor.text(text) == text);
    std::mt19937 random(16);
    BOOST_TEST(streamed(redactor, text, random) == text);
  }
}

BOOST_AUTO_TEST_SUITE_END()
