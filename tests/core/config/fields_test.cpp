#include "core/config/fields.h"

#include <array>
#include <boost/test/unit_test.hpp>
#include <string>

#include "core/json/json_schema.h"

using namespace sortie;
using namespace std::chrono_literals;

namespace {

enum class Mode { fast, slow };

}  // namespace

template <>
inline constexpr auto sortie::kSpelling<Mode> =
    std::to_array<Spelled<Mode>>({{Mode::fast, "fast"}, {Mode::slow, "slow"}});

namespace {

struct Settings {
  std::string name = "none";
  Mode mode = Mode::fast;
  std::int64_t count = 3;
  std::optional<double> heat;
  bool loud = false;
  std::chrono::milliseconds wait = 10min;
  std::uint64_t room = 2ull << 30;
  std::vector<std::string> words = {"a"};
  std::vector<std::string> more = {"x"};
  std::map<std::string, std::string> set;
};

Fields table(Settings& settings) {
  return Fields("settings")
      .require("name", text_value(settings.name, {.pattern = "[a-z]+", .meaning = "letters"}), "N.")
      .add("mode", enum_value(settings.mode, {"warp"}), "M.")
      .add("count", integer_value(settings.count, -5, 100), "C.")
      .add("heat", real_value(settings.heat, 0, 2), "H.")
      .add("loud", boolean_value(settings.loud), "L.")
      .add("wait", duration_value(settings.wait, 1s, 24h), "W.")
      .add("room", size_value(settings.room, 1, 1ull << 40), "R.")
      .add("words", texts_value(settings.words), "Words.")
      .add("more", texts_value(settings.more, Lists::appended), "More.")
      .add("set", text_map_value(settings.set, {.pattern = "[A-Z]+"}), "S.")
      .later({"future"});
}

/// The first line of each finding.
std::string read(const std::string& text, Settings& settings) {
  Diagnostics findings;
  const std::size_t source = findings.add_source("t", text);
  table(settings).read(read_yaml(source, findings), findings);
  std::string lines;
  for (const auto& finding : findings.findings())
    lines += std::to_string(finding.place.line) + ":" + std::to_string(finding.place.column) + " " +
             finding.message + (finding.nearest.empty() ? "" : " (" + finding.nearest + ")") + "\n";
  return lines;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fields)

BOOST_AUTO_TEST_CASE(values_of_each_kind_are_read) {
  Settings settings;

  const std::string findings = read(
      "name: abc\nmode: slow\ncount: -5\nheat: 0.5\nloud: true\nwait: 90s\n"
      "room: 5MB\nwords: [b, '7']\nmore: [x, y]\nset: {A: '1', B: ''}\n",
      settings);

  BOOST_TEST(findings == "");
  BOOST_TEST(settings.name == "abc");
  BOOST_TEST((settings.mode == Mode::slow));
  BOOST_TEST(settings.count == -5);
  BOOST_TEST(settings.heat.value() == 0.5);
  BOOST_TEST(settings.loud);
  BOOST_TEST((settings.wait == 90s));
  BOOST_TEST(settings.room == 5'000'000u);
  BOOST_TEST((settings.words == std::vector<std::string>{"b", "7"}));
  BOOST_TEST((settings.more == std::vector<std::string>{"x", "y"}));
  BOOST_TEST((settings.set == std::map<std::string, std::string>{{"A", "1"}, {"B", ""}}));
}

BOOST_AUTO_TEST_CASE(values_of_each_kind_are_written_as_they_may_be_read) {
  const std::string all =
      R"({"name":"abc","mode":"slow","count":-5,"heat":0.5,"loud":true,"wait":"90s","room":"5MB",)"
      R"("words":["b","7"],"more":["x","y"],"set":{"A":"1","B":""}})";
  Settings settings;
  BOOST_TEST(write_json(table(settings).write()) ==
             R"({"name":"none","mode":"fast","count":3,"heat":null,"loud":false,"wait":"10m",)"
             R"("room":"2GiB","words":["a"],"more":["x"],"set":{}})");

  BOOST_TEST(read(all, settings) == "");

  BOOST_TEST(write_json(table(settings).write()) == all);
}

BOOST_AUTO_TEST_CASE(a_key_is_left_out_where_there_is_nothing_to_write) {
  std::string text;
  std::vector<std::string> list;
  Fields inner("inner");
  inner.add("text", where_given(text_value(text)), "T.");
  Fields fields("outer");
  fields.add("list", where_given(texts_value(list)), "L.")
      .add("inner", where_given(mapping_value(std::move(inner))), "I.");
  BOOST_TEST(write_json(fields.write()) == "{}");

  text = "x";
  list = {"y"};

  BOOST_TEST(write_json(fields.write()) == R"({"list":["y"],"inner":{"text":"x"}})");
}

BOOST_AUTO_TEST_CASE(wrong_values_are_findings_and_leave_the_default) {
  const struct {
    const char* text;
    const char* finding;
  } rows[] = {
      {"mode: slo", "1:7 'mode': expected fast or slow, got 'slo' (slow)\n"},
      {"mode: warp", "1:7 mode 'warp' is not supported yet\n"},
      {"mode: [fast]", "1:7 'mode': expected fast or slow, got a list\n"},
      {"mode:", "1:1 'mode' needs a value\n"},
      {"mode: null", "1:1 'mode' needs a value\n"},
      {"mode: ''", "1:7 'mode': expected fast or slow, got ''\n"},
      {"count: 101", "1:8 'count': expected a whole number from -5 to 100, got 101\n"},
      {"count: 99999999999999999999",
       "1:8 'count': expected a whole number from -5 to 100, got 99999999999999999999\n"},
      {"count: 010", "1:8 'count' has a leading zero; write 10\n"},
      {"count: -00", "1:8 'count' has a leading zero; write 0\n"},
      {"count: 0x10", "1:8 'count': expected a whole number from -5 to 100, got '0x10'\n"},
      {"count: 1e1", "1:8 'count': expected a whole number from -5 to 100, got '1e1'\n"},
      {"count: 1_0", "1:8 'count': expected a whole number from -5 to 100, got '1_0'\n"},
      {"count: 1.0", "1:8 'count': expected a whole number from -5 to 100, got '1.0'\n"},
      {"count: '5'", "1:8 'count': expected a whole number from -5 to 100, got text in quotes\n"},
      {"count: many", "1:8 'count': expected a whole number from -5 to 100, got 'many'\n"},
      {"count: {a: 1}", "1:8 'count': expected a whole number from -5 to 100, got a mapping\n"},
      {"heat: 3", "1:7 'heat': expected a number from 0 to 2, got '3'\n"},
      {"heat: .nan", "1:7 'heat': expected a number from 0 to 2, got '.nan'\n"},
      {"heat: 1e999", "1:7 'heat': expected a number from 0 to 2, got '1e999'\n"},
      {"loud: yes", "1:7 'loud': expected true or false, got 'yes'\n"},
      {"loud: on", "1:7 'loud': expected true or false, got 'on'\n"},
      {"loud: True", "1:7 'loud': expected true or false, got 'True'\n"},
      {"loud: \"true\"", "1:7 'loud': expected true or false, got text in quotes\n"},
      {"loud: 1", "1:7 'loud': expected true or false, got '1'\n"},
      {"wait: 30", "1:7 'wait' needs a unit: expected a duration such as 500ms, 30s, 10m or 2h\n"},
      {"wait: 1.5h", "1:7 'wait': expected a duration such as 500ms, 30s, 10m or 2h, got '1.5h'\n"},
      {"wait: -1s", "1:7 'wait': expected a duration such as 500ms, 30s, 10m or 2h, got '-1s'\n"},
      {"wait: 10 m", "1:7 'wait': expected a duration such as 500ms, 30s, 10m or 2h, got '10 m'\n"},
      {"wait: 99999999999999999h",
       "1:7 'wait': expected a duration such as 500ms, 30s, 10m or 2h, got '99999999999999999h'\n"},
      {"wait: 25h", "1:7 'wait': expected a value from 1s to 24h, got 25h\n"},
      {"room: 0B", "1:7 'room': expected a value from 1B to 1TiB, got 0B\n"},
      {"room: 5", "1:7 'room' needs a unit: expected a size such as 10KiB, 5MB or 2GiB\n"},
      {"room: 5mb", "1:7 'room': expected a size such as 10KiB, 5MB or 2GiB, got '5mb'\n"},
      {"room: 9999999999TiB",
       "1:7 'room': expected a size such as 10KiB, 5MB or 2GiB, got '9999999999TiB'\n"},
      {"words: a b", "1:8 'words': expected a list, got 'a b'\n"},
      {"words: [a, [b]]", "1:12 'words': expected text, got a list\n"},
      {"words: [a, ~]", "1:12 'words': expected text, got nothing\n"},
      {"words: ['']", "1:9 'words' must not be empty\n"},
      {"set: {a: 1}", "1:7 'name': expected text of the form [A-Z]+, got 'a'\n"},
      {"set: {A: }", "1:7 'A' needs a value\n"},
      {"set: [A]", "1:6 'set': expected a mapping, got a list\n"},
      {"future: x", "1:1 'future' is not supported yet\n"},
      {"Mode: fast", "1:1 unknown key 'Mode' in settings (mode)\n"},
      {"zzzzzzzz: 1", "1:1 unknown key 'zzzzzzzz' in settings\n"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      Settings settings;
      BOOST_TEST(read(std::string(row.text) + "\nname: a\n", settings) == row.finding);
      BOOST_TEST((settings.mode == Mode::fast));
      BOOST_TEST(settings.count == 3);
      BOOST_TEST((settings.wait == 10min));
      BOOST_TEST(settings.room == 2ull << 30);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_missing_key_and_a_wrong_shape_are_findings) {
  Settings settings;
  BOOST_TEST(read("mode: fast\n", settings) == "1:1 key 'name' is missing in settings\n");
  BOOST_TEST(read("- name\n", settings) ==
             "1:1 settings: expected a mapping of keys, got a list\n");
  BOOST_TEST(read("name: Ab\n", settings) == "1:7 'name': expected letters, got 'Ab'\n");
}

BOOST_AUTO_TEST_CASE(the_schema_has_types_ranges_defaults_and_no_other_keys) {
  Settings settings;
  settings.words.clear();

  const Json schema = file_schema(table(settings), "settings");

  BOOST_TEST(write_json(schema["properties"]["count"]) ==
             R"({"description":"C.","type":"integer","minimum":-5,"maximum":100,"default":3})");
  BOOST_TEST(
      write_json(schema["properties"]["wait"]) ==
      R"({"description":"W.","type":"string","pattern":"^[0-9]+(ms|s|m|h)$","default":"10m"})");
  BOOST_TEST(schema["properties"]["room"]["default"].text() == "2GiB");
  BOOST_TEST(schema["properties"].find("future") == nullptr);
  BOOST_TEST(write_json(schema["required"]) == R"(["name"])");
  BOOST_TEST(schema["additionalProperties"].boolean(true) == false);
  BOOST_TEST(schema["$schema"].text() == "https://json-schema.org/draft/2020-12/schema");

  const JsonSchema compiled(schema);
  BOOST_TEST(compiled.check(parse_json(R"({"name":"a","mode":"slow","room":"1MiB"})")).empty());
  BOOST_TEST(!compiled.check(parse_json(R"({"name":"a","mode":"warp"})")).empty());
  BOOST_TEST(!compiled.check(parse_json(R"({"name":"a","other":1})")).empty());
}

BOOST_AUTO_TEST_CASE(quantities_are_written_as_they_are_read) {
  BOOST_TEST(duration_text(90s) == "90s");
  BOOST_TEST(duration_text(2h) == "2h");
  BOOST_TEST(duration_text(1500ms) == "1500ms");
  BOOST_TEST(duration_text(0ms) == "0ms");
  BOOST_TEST(size_text(10u << 10) == "10KiB");
  BOOST_TEST(size_text(5'000'000) == "5MB");
  BOOST_TEST(size_text(1) == "1B");
  BOOST_TEST(size_text(0) == "0B");
  for (const char* text : {"10KiB", "5MB", "64MiB", "3TB", "7B"})
    BOOST_TEST(size_text(parse_size(text).value()) == text);
}

BOOST_AUTO_TEST_SUITE_END()
