#include "core/json/plain_json.h"

#include <boost/test/unit_test.hpp>
#include <random>
#include <string>

#include "core/text/text.h"
#include "tests/fuzz/json_reference.h"

using namespace sortie;

namespace {

std::optional<Json> plain(std::string_view text) { return parse_plain_json(text, 128, 1000); }

std::string of_members(int count, std::string_view last) {
  std::string text = "{";
  for (int i = 0; i < count; ++i) text += "\"k" + std::to_string(i) + "\":0,";
  return text + "\"" + std::string(last) + "\":0}";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(plain_json)

BOOST_AUTO_TEST_CASE(texts_are_read_as_rapidjson_reads_them) {
  const std::string long_text(100, 'x');
  const std::string rows[] = {
      "null",
      " \t\r\n[ 1 , 2 ] \n",
      R"({"b":1.50,"a":[true,false,null,-0,-0.0,12345678901234567890],"o":{},"l":[]})",
      R"(["\"\\\/\b\f\n\r\t","\u0000\u001f\u00e9\u20AC\uD83D\uDE00"])",
      "[\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\x7F\"]",
      "{\"" + long_text + "\":\"" + long_text + "\\n" + long_text + "\"}",
      of_members(15, "k"),
      of_members(16, "k"),
      of_members(17, "k"),
      of_members(300, "k"),
      std::string(128, '[') + std::string(128, ']'),
      "[[{\"a\":[1]},{\"a\":[2,{\"b\":3}]}],{\"c\":[[4]]}]",
  };
  for (const std::string& text : rows) {
    BOOST_TEST_CONTEXT(text) {
      const auto read = plain(text);
      BOOST_TEST((read && read == JsonReference::read(text)));
      BOOST_TEST(is_plain_json(text));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_wrong_or_unusual_is_left_to_the_other_reader) {
  const std::string rows[] = {
      "", " ", "{", "[", "\"", "\"a", "[1", "[1,", "[1,]", "[,1]", "{\"a\"", "{\"a\":", "{\"a\":1",
      "{\"a\":1,}", "{,}", "{a:1}", "{'a':1}", "[1 2]", "1 2", "nul", "nulll", "tru", "NaN", "-", "+1",
      ".5", "1.", "-.5", "01", "-01", "0x1", "1e3", "1E3", "1.5e1", std::string(400, '9'),
      "\"\n\"", "\"\t\"", std::string("\"\0\"", 3), std::string("[1]\0", 4), "\"\\x\"", "\"\\",
      "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\ud800\\u0041\"", "\"\\udc00\"",
      "\"\\ud800\\\"", of_members(3, "k1"), of_members(15, "k14"), of_members(16, "k3"),
      of_members(17, "k16"), of_members(300, "k3"), std::string(129, '[') + std::string(129, ']'),
      std::string(100'000, '['), "[[1]"};
  for (const std::string& text : rows) {
    BOOST_TEST_CONTEXT(text.substr(0, 40)) { BOOST_TEST(!plain(text).has_value()); }
  }
  BOOST_TEST(is_plain_json(of_members(3, "k1")));  // names may repeat there
}

BOOST_AUTO_TEST_CASE(limits_are_kept) {
  BOOST_TEST(parse_plain_json("[[1,2]]", 2, 4).has_value());
  BOOST_TEST(!parse_plain_json("[[1,2]]", 1, 4).has_value());
  BOOST_TEST(!parse_plain_json("[[1,2]]", 2, 3).has_value());
}

BOOST_AUTO_TEST_CASE(changed_texts_are_read_as_rapidjson_reads_them) {
  const std::string text =
      R"({"seq":601,"ts":"2026","a":[1,-0.5,true,false,null],"b":{"c":"\"\\\u00e9\ud83d\ude00"},)"
      R"("output":"","d":[{"e":"f","g":12},{"e":"h","g":13}]})";
  const std::string_view kBytes = "{}[]\",:\\u0123dDe.-tn \n\x01";
  std::mt19937 random(1);
  int read = 0;
  for (int round = 0; round < 200'000; ++round) {
    std::string changed = text;
    const int changes = 1 + static_cast<int>(random() % 3);
    for (int i = 0; i < changes; ++i) {
      const std::size_t at = random() % changed.size();
      if (random() % 3 == 0)
        changed.erase(at, 1);
      else
        changed[at] = kBytes[random() % kBytes.size()];
    }
    const auto found = plain(changed);
    read += found.has_value();
    if (found && found != JsonReference::read(changed)) BOOST_ERROR("read otherwise: " + changed);
    if (found && !is_plain_json(changed)) BOOST_ERROR("not taken as JSON: " + changed);
    if (is_plain_json(changed) && !is_json(changed)) BOOST_ERROR("no JSON: " + changed);
  }
  BOOST_TEST(read > 1000);
}

BOOST_AUTO_TEST_SUITE_END()
