#include "core/config/json_tree.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(json_tree)

namespace {

struct Read {
  explicit Read(const std::string& text, int max_depth = 8) {
    const std::size_t source = findings.add_source("f.json", text);
    json = read_json(source, findings, max_depth);
  }
  Diagnostics findings;
  PlacedJson json;
};

std::string place(const YamlNode& node) {
  return std::to_string(node.place.line) + ":" + std::to_string(node.place.column) + "+" +
         std::to_string(node.place.length);
}

}  // namespace

BOOST_AUTO_TEST_CASE(each_node_has_its_place_and_its_decoded_text) {
  const Read read(
      "[\n"
      "  {\"näme\": \"a\\\"b\\u00e9\", \"n\": -1.5e3,\n"
      "\t\"deep\" : [true , null]}\n"
      "]\n");
  BOOST_TEST(read.findings.render() == "");
  const YamlNode& root = read.json.tree;
  BOOST_TEST(place(root) == "1:1+1");
  const YamlNode& object = root.items.at(0);
  BOOST_TEST(object.is_mapping());
  BOOST_TEST(place(object) == "2:3+35");
  BOOST_TEST(place(object.members.at(0).key) == "2:4+6");
  BOOST_TEST(object.members.at(0).key.text == "näme");
  BOOST_TEST(place(object.members.at(0).value) == "2:12+12");
  BOOST_TEST(object.members.at(0).value.text == "a\"bé");
  BOOST_TEST(!object.members.at(0).value.plain);
  BOOST_TEST(object.find("n")->text == "-1.5e3");
  BOOST_TEST(object.find("n")->plain);
  BOOST_TEST(place(*object.find("n")) == "2:31+6");
  const YamlNode& deep = *object.find("deep");
  BOOST_TEST(place(deep) == "3:11+13");
  BOOST_TEST(deep.items.at(0).text == "true");
  BOOST_TEST((deep.items.at(1).kind == YamlNode::Kind::null));
  BOOST_TEST(place(deep.items.at(1)) == "3:19+4");
}

BOOST_AUTO_TEST_CASE(below_its_depth_the_tree_is_empty_and_the_value_whole) {
  const Read read(R"([{"a": {"b": [1, {"c": "\u0000"}]}}, 2])", 2);
  BOOST_TEST(read.findings.render() == "");
  const YamlNode& a = read.json.tree.items.at(0).members.at(0).value;
  BOOST_TEST(a.is_mapping());
  BOOST_TEST(a.members.empty());
  BOOST_TEST(place(read.json.tree.items.at(1)) == "1:38+1");
  BOOST_TEST(write_json(read.json.value) == R"([{"a":{"b":[1,{"c":"\u0000"}]}},2])");
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_said_at_its_place) {
  const struct {
    const char* text;
    const char* begins;
  } rows[] = {
      {"[1,\n 2", "f.json:2:3: error: "},
      {"", "f.json:1:1: error: "},
      {"[] x", "f.json:1:4: error: "},
      {"{\"a\": 1,\n \"a\": 2}", "f.json:2:"},
      {"[\"a\\u0000b\"]", "f.json:1:2: error: a NUL character in a text"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      const Read read(row.text);
      const std::string said = read.findings.render();
      BOOST_TEST(said.starts_with(row.begins), said);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
