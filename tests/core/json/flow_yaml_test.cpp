#include "core/json/flow_yaml.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(flow_yaml_of_json)

BOOST_AUTO_TEST_CASE(lists_of_several_objects_are_one_with_each_entry_once) {
  struct Row {
    std::vector<const char*> objects;
    const char* yaml;
  };
  const Row rows[] = {
      {{}, ""},
      {{R"({"commands":[{"allow":["make"]}]})", R"({"commands":[{"allow":["npm"]}]})",
        R"({"commands":[{"allow":["make"]}]})"},
       "commands: [{allow: [make]}, {allow: [npm]}]"},
      {{R"({"paths":{"write":[".","a"]}})", R"({"network":{"allow":["x:443"]}})",
        R"({"paths":{"write":[".","b"],"read":["/c"]}})"},
       "paths: {write: [\".\", a, b], read: [/c]}\nnetwork: {allow: [\"x:443\"]}"},
      {{R"({"a":1})", R"({"a":[2]})", R"({"a":{"b":3}})", "null", "[4]"}, "a: 1"},
  };
  for (const Row& row : rows) {
    std::vector<Json> objects;
    for (const char* text : row.objects) objects.push_back(parse_json(text));
    BOOST_TEST(flow_yaml_lines(joined_lists(objects)) == row.yaml);
  }
}

BOOST_AUTO_TEST_CASE(a_list_is_named_by_its_keys) {
  const auto names =
      names_of_lists(parse_json(R"({"commands":[{"allow":["x"]}],"a":1,"network":{"allow":[]}})"));
  BOOST_TEST((names == std::vector<std::string>{"commands", "network.allow"}));
}

BOOST_AUTO_TEST_SUITE_END()
