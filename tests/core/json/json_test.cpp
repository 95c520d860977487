#include "core/json/json.h"

#include <boost/test/unit_test.hpp>
#include <string>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(json)

BOOST_AUTO_TEST_CASE(what_is_read_is_written_back_as_it_was) {
  const std::string text =
      R"({"b":1.50,"a":[true,false,null,-0,1e300,12345678901234567890],"é":"\u0001\"\\x","o":{}})";

  BOOST_TEST(write_json(parse_json(text)) == text);
}

BOOST_AUTO_TEST_CASE(malformed_texts_are_refused_with_their_offset) {
  const struct {
    const char* name;
    std::string text;
    std::size_t offset;
  } rows[] = {
      {"empty", "", 0},
      {"two values", "1 2", 2},
      {"a NUL byte behind the root", std::string("[1]\0[2]", 7), 3},
      {"no end", "{\"a\":1", 6},
      {"single quotes", "{'a':1}", 1},
      {"trailing comma", "[1,]", 3},
      {"bare word", "[nul]", 4},
      {"NaN", "NaN", 0},
      {"leading zero", "[01]", 2},
      {"lone surrogate", "\"\\ud800\"", 1},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      BOOST_CHECK_EXCEPTION(parse_json(row.text), JsonError, [&](const JsonError& error) {
        BOOST_TEST(error.offset() == row.offset);
        return true;
      });
    }
  }
  BOOST_CHECK_THROW(parse_json("\"\xff\""), JsonError);
  BOOST_CHECK_THROW(parse_json("{\"a\":1,\"a\":2}"), JsonError);
}

BOOST_AUTO_TEST_CASE(duplicates_are_found_in_large_objects_too) {
  std::string text = "{";
  for (int i = 0; i < 40; ++i) text += "\"k" + std::to_string(i) + "\":0,";

  BOOST_CHECK_NO_THROW(parse_json(text + "\"k40\":0}"));
  BOOST_CHECK_THROW(parse_json(text + "\"k3\":0}"), JsonError);
  BOOST_CHECK_THROW(parse_json(text + "\"k39\":0}"), JsonError);
}

BOOST_AUTO_TEST_CASE(depth_is_limited_and_a_million_brackets_do_no_harm) {
  BOOST_CHECK_NO_THROW(parse_json(std::string(128, '[') + std::string(128, ']')));
  BOOST_CHECK_THROW(parse_json(std::string(129, '[') + std::string(129, ']')), JsonError);
  BOOST_CHECK_THROW(parse_json(std::string(1'000'000, '[')), JsonError);
}

BOOST_AUTO_TEST_CASE(integers_are_read_where_they_are_exact) {
  const struct {
    const char* text;
    std::optional<std::int64_t> value;
  } rows[] = {
      {"0", 0},
      {"-7", -7},
      {"1.0", 1},
      {"1e3", 1000},
      {"9223372036854775807", 9223372036854775807},
      {"9223372036854775808", std::nullopt},
      {"0.5", std::nullopt},
      {"\"1\"", std::nullopt},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) { BOOST_TEST((parse_json(row.text).integer() == row.value)); }
  }
}

BOOST_AUTO_TEST_CASE(bytes_that_are_not_utf8_are_repaired_when_written) {
  BOOST_TEST(write_json(Json(std::string("a\xff\x62"))) == "\"a\xEF\xBF\xBD\x62\"");
}

BOOST_AUTO_TEST_CASE(long_texts_that_are_left_out_are_checked) {
  const auto without = [](const std::string& text) {
    return write_json(parse_json_without_long_texts(text));
  };
  const std::string filling(70'000, 'x');
  const auto with = [&](const std::string& text) {
    return R"({"a":[")" + filling + text + R"("],"b":"short","c":2})";
  };

  BOOST_TEST(without(with("")) == R"({"a":[""],"b":"short","c":2})");
  BOOST_TEST(without(with(R"(\" \\)")) == R"({"a":[""],"b":"short","c":2})");
  BOOST_TEST(without(R"({"a":"b","c":{"d":1}})") == R"({"a":"b","c":{"d":1}})");
  // A name is no text.
  const std::string named = "{\"" + filling + "1\" :1,\"" + filling + "2\":2}";
  BOOST_TEST((parse_json_without_long_texts(named) == parse_json(named)));
  for (const std::string wrong : {"\xff", "\n", R"(\x)", R"(\ud800)", R"(\u12)"}) {
    BOOST_TEST_CONTEXT(wrong) {
      BOOST_CHECK_THROW(parse_json(with(wrong)), JsonError);
      BOOST_CHECK_THROW(without(with(wrong)), JsonError);
    }
  }
  const std::string whole = with("");
  for (const std::size_t cut : {std::size_t{1}, std::size_t{20}, std::size_t{60'000}})
    BOOST_CHECK_THROW(without(whole.substr(0, whole.size() - cut)), JsonError);
  BOOST_CHECK_THROW(without(whole + "x"), JsonError);
}

BOOST_AUTO_TEST_CASE(a_text_that_is_nearly_all_is_read_as_any_other) {
  std::string text;
  for (int i = 0; i < 20'000; ++i) text += "line " + std::to_string(i) + " \"é\"\n";
  const Json::Member before[] = {{"a", Json::array({"b", Json()})}};

  for (const Json& value : {Json(text), Json::array({"a", text, "b"}),
                            Json::object({before[0], {"text", text}, {"end", "é"}}),
                            Json::object({{"one", text}, {"other", text}})}) {
    const std::string written = write_json(value);
    BOOST_TEST((parse_json(written) == value));
    BOOST_TEST(write_json(parse_json(written)) == written);
  }
}

BOOST_AUTO_TEST_CASE(values_are_copied_moved_and_replaced_whatever_their_type) {
  const std::string texts[] = {"null",           "true",
                               "12.50",          "\"a text that is longer than a few bytes\"",
                               "[1,[],\"two\"]", "{\"a\":{\"b\":[null]},\"c\":\"\"}"};
  for (const std::string& from : texts)
    for (const std::string& to : texts) {
      BOOST_TEST_CONTEXT(from << " over " << to) {
        const Json value = parse_json(from);
        Json copied = parse_json(to);
        copied = value;
        BOOST_TEST((copied == value));
        Json moved = parse_json(to);
        moved = std::move(copied);
        BOOST_TEST(write_json(moved) == from);
        BOOST_TEST((moved == parse_json(to)) == (from == to));
      }
    }
}

BOOST_AUTO_TEST_CASE(a_part_of_a_value_replaces_it) {
  Json value = parse_json(R"({"a":[{"b":"kept"}]})");
  value = std::move(value.find("a")->items()[0]);
  BOOST_TEST(write_json(value) == R"({"b":"kept"})");
  value = std::move(*value.find("b"));
  BOOST_TEST(value.text() == "kept");
}

BOOST_AUTO_TEST_CASE(what_a_value_has_not_is_empty_and_takes_nothing) {
  Json number = 1;
  number.items().push_back("lost");
  number.members().emplace_back("lost", 1);
  BOOST_TEST(number.items().empty());
  BOOST_TEST(number.members().empty());
  BOOST_TEST(write_json(number) == "1");
  BOOST_TEST(Json::array().text().empty());
}

BOOST_AUTO_TEST_CASE(absent_members_read_as_null) {
  const Json value = parse_json(R"({"a":{"b":"c"}})");

  BOOST_TEST(value["a"]["b"].text() == "c");
  BOOST_TEST(value["x"]["y"].is_null());
  BOOST_TEST(value.string_at("a", "no") == "no");
  BOOST_TEST(value.integer_at("a", 5) == 5);
}

BOOST_AUTO_TEST_CASE(no_raw_control_character_is_read_wherever_it_stands) {
  for (const std::size_t length : {10u, 200u, 6'000u})
    for (unsigned char byte = 1; byte < 0x20; ++byte)
      for (std::size_t at = 0; at < 40; ++at) {
        std::string text(length + at, 'x');
        text[at] = static_cast<char>(byte);
        const std::string in_text = R"({"a\n":")" + text + R"("})";
        BOOST_TEST_CONTEXT("byte " << int(byte) << " at " << at << " of " << text.size()) {
          BOOST_CHECK_THROW(parse_json(in_text), JsonError);
          BOOST_CHECK_THROW(parse_json_without_long_texts(in_text), JsonError);
          BOOST_TEST(!is_json(in_text));
        }
      }
  BOOST_TEST(parse_json("{\t\"a\"\r\n:1}")["a"].text() == "1");
}

BOOST_AUTO_TEST_SUITE_END()
