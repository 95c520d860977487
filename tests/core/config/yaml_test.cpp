#include "core/config/yaml.h"

#include <boost/test/unit_test.hpp>
#include <string>

using namespace sortie;

namespace {

struct Read {
  Diagnostics findings;
  YamlNode root;
  explicit Read(const std::string& text) {
    const std::size_t source = findings.add_source("t", text);
    root = read_yaml(source, findings);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(yaml)

BOOST_AUTO_TEST_CASE(the_tree_keeps_text_quotes_and_places) {
  const Read read(
      "\xEF\xBB\xBF# comment\r\n"
      "n: 5\r\n"
      "é: ['a ''b', \"c\\n\", ~]\r\n"
      "block: |\r\n  x\r\n  y\r\n");

  BOOST_TEST(read.findings.render() == "");
  BOOST_REQUIRE(read.root.is_mapping());
  const YamlNode& number = *read.root.find("n");
  BOOST_TEST(number.text == "5");
  BOOST_TEST(number.plain);
  BOOST_TEST((number.place == TextPlace{.line = 2, .column = 4, .length = 1}));
  const YamlNode& list = *read.root.find("é");
  BOOST_REQUIRE(list.items.size() == 3u);
  BOOST_TEST((list.place == TextPlace{.line = 3, .column = 4, .length = 1}));
  BOOST_TEST(list.items[0].text == "a 'b");
  BOOST_TEST(!list.items[0].plain);
  BOOST_TEST((list.items[0].place == TextPlace{.line = 3, .column = 5, .length = 7}));
  BOOST_TEST(list.items[1].text == "c\n");
  BOOST_TEST((list.items[2].kind == YamlNode::Kind::null));
  BOOST_TEST(read.root.find("block")->text == "x\ny\n");
  BOOST_TEST(flow_text(list) == "[\"a 'b\", \"c\n\", null]");
}

BOOST_AUTO_TEST_CASE(a_text_without_a_document_is_null) {
  for (const char* text : {"", "\n\n", "# only\n# comments\n", "---\n", "~"}) {
    BOOST_TEST_CONTEXT(text) {
      const Read read(text);
      BOOST_TEST(read.findings.render() == "");
      BOOST_TEST((read.root.kind == YamlNode::Kind::null));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_can_be_read_in_two_ways_is_refused_at_its_place) {
  const struct {
    const char* name;
    std::string text;
    const char* finding;  // the first line of the rendering
  } rows[] = {
      {"alias", "a: &x 1\nb: *x\n", "t:1:4: error: anchors are not supported; write the value out"},
      {"anchor of a list", "a: &x [1]\n",
       "t:1:4: error: anchors are not supported; write the value out"},
      {"anchor that contains itself", "&x [1, *x]\n",
       "t:1:1: error: anchors are not supported; write the value out"},
      {"undefined alias", "a: *x\n",
       "t:1:4: error: can't be read as YAML: the referenced anchor is not defined"},
      {"merge key", "<<: {a: b}\n",
       "t:1:1: error: merge keys are not supported; write the keys out"},
      {"tag", "a: !!str 1\n", "t:1:4: error: tags are not supported; leave it out"},
      {"bare tag", "a: ! 1\n", "t:1:4: error: tags are not supported; leave it out"},
      {"tag of a list", "a: !x [1]\n", "t:1:4: error: tags are not supported; leave it out"},
      {"tag of a mapping", "a: !x\n  b: 1\n", "t:1:4: error: tags are not supported; leave it out"},
      {"second document", "a: 1\n---\nb: 1\n",
       "t:2:1: error: a second document: expected a single one"},
      {"empty second document", "---\n---\n",
       "t:2:1: error: a second document: expected a single one"},
      {"compound key", "? [a]\n: b\n", "t:1:3: error: a key must be a word"},
      {"null key", "~: b\n", "t:1:1: error: a key must be a word"},
      {"double quote without end", "a: \"b\nc: d\n", "t:1:4: error: the closing quote is missing"},
      {"single quote without end", "a: 'b''\n", "t:1:4: error: the closing quote is missing"},
      {"escaped quote at the end", "a: \"b\\\"\n", "t:1:4: error: the closing quote is missing"},
      {"text behind a quote", "a: [\"b\"c]\n",
       "t:1:8: error: unexpected text behind the closing quote"},
      {"tab as indentation", "a:\n\t- b\n", "t:2:1: error: a tab as indentation; use spaces"},
      {"tab before a key", "a:\n \tb: 1\n", "t:2:2: error: a tab as indentation; use spaces"},
      {"tab in a flow list", "a: [b,\n\tc]\n", "t:2:1: error: a tab as indentation; use spaces"},
      {"list without end", "a: [b\n",
       "t:1:4: error: '[' is not closed: expected ']' before the end of the file"},
      {"mapping without end", "a: [1]\nb: {c: [x, y]\nd: 1\n",
       "t:2:4: error: '{' is not closed: expected '}' before line 3, column 1"},
      {"list without end in a list", "a: [b, [c, d]\n\ne: f\n",
       "t:1:4: error: '[' is not closed: expected ']' before line 3, column 1"},
      {"mapping closed by a bracket", "a:\n- [b, {c: d]\n",
       "t:2:12: error: ']' closes nothing here: the last bracket that is open, if any, is no '['"},
      {"brackets in texts are no brackets", "a: b [c\nd: |\n  [ {\ne: '['\nf: [ '{', \"[\"\n",
       "t:5:4: error: '[' is not closed: expected ']' before the end of the file"},
      {"quote that ends at the next text", "a: \"b\nc: \"d\"\n",
       "t:1:4: error: the closing quote is missing, or there is text behind it"},
      {"bracket too many", "a: b\n]\n",
       "t:2:1: error: ']' closes nothing here: the last bracket that is open, if any, is no '['"},
      {"NUL", std::string("a: b\0c\n", 7), "t:1:5: error: control character U+0000"},
      {"escaped NUL", "a: \"b\\0\"\n", "t:1:4: error: a NUL character in a value"},
      {"escape sequence", "a: \x1b[1m\n", "t:1:4: error: control character U+001B"},
      {"lone CR", "a: b\rc: d\n", "t:1:5: error: control character U+000D"},
      {"DEL", "a: \x7f\n", "t:1:4: error: control character U+007F"},
      {"not UTF-8", "a: b\nc: \xff\n", "t: error: not UTF-8, first in line 2"},
      {"UTF-16",
       std::string("\xFF\xFE"
                   "a\0",
                   4),
       "t: error: not UTF-8, first in line 1"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string rendered = Read(row.text).findings.render();
      BOOST_TEST(rendered.substr(0, rendered.find('\n')) == row.finding);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_duplicate_key_names_both_places) {
  const Read read("a: 1\nb: {x: 1, \"x\": 2}\na: 2\n");

  BOOST_TEST(read.findings.render() ==
             "t:2:11: error: duplicate key 'x'\n"
             "    2 | b: {x: 1, \"x\": 2}\n"
             "      |           ^~~\n"
             "t:2:5: note: the first 'x' is here\n"
             "    2 | b: {x: 1, \"x\": 2}\n"
             "      |     ^\n"
             "t:3:1: error: duplicate key 'a'\n"
             "    3 | a: 2\n"
             "      | ^\n"
             "t:1:1: note: the first 'a' is here\n"
             "    1 | a: 1\n"
             "      | ^");
  BOOST_TEST(read.root.find("a")->text == "1");
}

BOOST_AUTO_TEST_CASE(size_depth_and_number_are_limited) {
  const auto brackets = [](int n) { return std::string(n, '[') + std::string(n, ']'); };
  std::string many = "[";
  for (int i = 0; i < kMaxYamlEvents; ++i) many += "a,";
  const struct {
    const char* name;
    std::string text;
    std::string finding;
  } rows[] = {
      {"64 levels", brackets(64), ""},
      {"65 levels", brackets(65), "t:1:65: error: nested deeper than 64 levels"},
      {"a million brackets", brackets(500'000), "t:1:65: error: nested deeper than 64 levels"},
      {"many values", many + "]", "t:1:200000: error: more than 100000 values in one file"},
      {"1 MiB", "a: " + std::string(kMaxYamlBytes - 3, 'b'), ""},
      {"more than 1 MiB", std::string(kMaxYamlBytes + 1, 'a'),
       "t: error: larger than 1048576 bytes"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const std::string rendered = Read(row.text).findings.render();
      BOOST_TEST(rendered.substr(0, rendered.find('\n')) == row.finding);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
