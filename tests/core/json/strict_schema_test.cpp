#include "core/json/strict_schema.h"

#include <boost/test/unit_test.hpp>
#include <set>
#include <string>

#include "core/files/files.h"
#include "core/json/json_schema.h"
#include "core/text/text.h"

using namespace sortie;

namespace {

/// Findings as a list of [path, message].
Json to_json(const std::vector<SchemaFinding>& findings) {
  Json list = Json::array();
  for (const auto& [path, message] : findings) list.push_back(Json::array({path, message}));
  return list;
}

Json text() { return Json::object({{"type", "string"}}); }

/// An object with these properties that fits strict mode.
Json object_of(Json properties) {
  Json required = Json::array();
  for (const auto& [name, schema] : properties.members()) required.push_back(name);
  return Json::object({{"type", "object"},
                       {"properties", std::move(properties)},
                       {"required", std::move(required)},
                       {"additionalProperties", false}});
}

Json enum_of(std::size_t values, std::size_t length) {
  Json list = Json::array();
  for (std::size_t i = 0; i < values; ++i) {
    std::string value = std::to_string(i);
    value.resize(std::max(length, value.size()), 'x');
    list.push_back(value);
  }
  return Json::object({{"type", "string"}, {"enum", std::move(list)}});
}

std::string first_message(const Json& schema) {
  const auto findings = strict_mode_findings(schema);
  return findings.empty() ? "" : findings.front().message;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(strict_schema)

BOOST_AUTO_TEST_CASE(each_schema_of_the_table_has_the_findings_it_should) {
  const std::string table = read_file(SORTIE_SOURCE_DIR "/tests/data/strict_schemas.jsonl");
  std::set<std::string> names;
  for (const auto line : split_lines(table)) {
    const Json row = parse_json(line);
    const std::string name = row.string_at("name");
    BOOST_TEST_CONTEXT(name) {
      BOOST_TEST(names.insert(name).second);
      BOOST_CHECK_NO_THROW(JsonSchema{row["schema"]});  // all of them can be checked

      const auto findings = strict_mode_findings(row["schema"]);

      BOOST_TEST(write_json(to_json(findings)) == write_json(row["findings"]));
    }
  }
  BOOST_TEST(names.size() >= 60);
}

BOOST_AUTO_TEST_CASE(limits_hold_up_to_their_last_value) {
  const auto properties = [](std::size_t count) {
    Json all = Json::object();
    for (std::size_t i = 0; i < count; ++i) all.members().emplace_back(std::to_string(i), text());
    return object_of(std::move(all));
  };
  const auto enums = [](std::size_t count, std::size_t values, std::size_t length) {
    Json all = Json::object();
    for (std::size_t i = 0; i < count; ++i)
      all.members().emplace_back(std::to_string(i), enum_of(values, length));
    return object_of(std::move(all));
  };
  const auto named = [](std::size_t length) {
    return object_of(Json::object({{std::string(length, 'n'), text()}}));
  };
  const struct {
    const char* name;
    Json schema;
    std::string finding;
  } rows[] = {
      {"properties", properties(5'000), ""},
      {"too many properties", properties(5'001), "5001 properties; at most 5000 are allowed"},
      {"enum values", enums(4, 250, 1), ""},
      {"too many enum values", enums(5, 201, 1), "1005 enum values; at most 1000 are allowed"},
      {"characters of a name", named(120'000), ""},
      {"too many characters", named(120'001),
       "120001 characters in names, enum values and constants; at most 120000 are allowed"},
      {"a large enum", enums(1, 300, 50), ""},
      {"a large enum of long values", enums(1, 300, 51),
       "15300 characters in an enum of more than 250 values; at most 15000 are allowed"},
      {"a small enum of long values", enums(1, 250, 400), ""},
      {"letters of two bytes",
       object_of(Json::object({{std::string(120'000, 'n').replace(0, 1, "\xC3\xA9"), text()}})),
       ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) { BOOST_TEST(first_message(row.schema) == row.finding); }
  }
}

BOOST_AUTO_TEST_CASE(a_chain_of_references_is_not_followed_for_ever) {
  Json definitions = Json::object();
  const int length = 20'000;
  for (int i = 0; i < length; ++i)
    definitions.members().emplace_back(
        std::to_string(i), Json::object({{"$ref", "#/$defs/" + std::to_string(i + 1)}}));
  definitions.members().emplace_back(std::to_string(length), text());
  Json schema = object_of(Json::object({{"a", Json::object({{"$ref", "#/$defs/0"}})}}));
  schema.set("$defs", std::move(definitions));

  BOOST_TEST(first_message(schema).ends_with("levels of objects; at most 10 are allowed"));
}

BOOST_AUTO_TEST_CASE(the_line_for_people_names_the_first_three) {
  std::vector<SchemaFinding> findings = {{"", "a"}, {"/b", "b"}, {"/c", "c"}};
  BOOST_TEST(describe_strict_findings({}) == "");
  BOOST_TEST(describe_strict_findings(findings) == "#: a; #/b: b; #/c: c");
  findings.push_back({"/d", "d"});
  BOOST_TEST(describe_strict_findings(findings) == "#: a; #/b: b; #/c: c; and 1 more");
}

BOOST_AUTO_TEST_SUITE_END()
