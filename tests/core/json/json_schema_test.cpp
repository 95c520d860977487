#include "core/json/json_schema.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "core/base/error.h"

using namespace sortie;

BOOST_AUTO_TEST_SUITE(json_schema)

namespace {

bool fits(const char* schema, const char* value) {
  return JsonSchema(parse_json(schema)).check(parse_json(value)).empty();
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_values_allowed_are_named_up_to_ten) {
  const auto said = [](const char* schema) {
    return describe(JsonSchema(parse_json(schema)).check(Json("x")));
  };
  BOOST_TEST(said(R"({"enum":["a",1,null]})") == R"(not one of the values allowed ("a", 1, null))");
  BOOST_TEST(said(R"({"enum":[1,2,3,4,5,6,7,8,9,10,11]})") ==
             "not one of the values allowed (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …)");
  BOOST_TEST(said(R"({"const":{"a":[1]}})") == R"(not the value expected ({"a":[1]}))");
}

BOOST_AUTO_TEST_CASE(values_that_fit_and_values_that_do_not) {
  const struct {
    const char* schema;
    const char* good;
    const char* bad;
  } rows[] = {
      {R"({"type":"string"})", R"("a")", "1"},
      {R"({"type":["string","null"]})", "null", "1"},
      {R"({"type":"integer"})", "1.0", "1.5"},
      {R"({"type":"string","nullable":true})", "null", "1"},
      {R"({"const":{"a":[1]}})", R"({"a":[1]})", R"({"a":[2]})"},
      {R"({"enum":["a",1]})", "1", R"("b")"},
      {R"({"exclusiveMinimum":1})", "2", "1"},
      {R"({"minimum":1,"exclusiveMinimum":true})", "2", "1"},
      {R"({"maximum":1})", "1", "2"},
      {R"({"multipleOf":2})", "4", "3"},
      {R"({"multipleOf":1})", "4", "4.5"},
      {R"({"maxLength":2})", R"("éé")", R"("a\u0000b")"},
      {R"({"pattern":"^\\d+$"})", R"("12")", R"("12x")"},
      {R"({"items":{"type":"integer"}})", "[1,2]", R"([1,"a"])"},
      {R"({"prefixItems":[{"type":"string"}],"items":false})", R"(["a"])", R"(["a",1])"},
      {R"({"items":[{"type":"string"}],"additionalItems":false})", R"(["a"])", R"(["a",1])"},
      {R"({"contains":{"const":1}})", "[0,1]", "[0]"},
      {R"({"required":["a"]})", R"({"a":1})", "{}"},
      {R"({"properties":{"a":{}},"additionalProperties":false})", R"({"a":1})", R"({"b":1})"},
      {R"({"patternProperties":{"^a":{"type":"string"}}})", R"({"a":"","b":1})", R"({"ab":1})"},
      {R"({"propertyNames":{"pattern":"^[a-z]+$"}})", R"({"ab":1})", R"({"A":1})"},
      {R"({"dependentRequired":{"a":["b"]}})", R"({"a":1,"b":1})", R"({"a":1})"},
      {R"({"dependentSchemas":{"a":{"required":["b"]}}})", R"({"a":1,"b":1})", R"({"a":1})"},
      {R"({"anyOf":[{"type":"string"},{"type":"null"}]})", "null", "1"},
      {R"({"oneOf":[{"minimum":1},{"minimum":2}]})", "1", "3"},
      {R"({"not":{"type":"string"}})", "1", R"("a")"},
      {R"({"if":{"const":1},"then":true,"else":{"type":"string"}})", R"("a")", "2"},
      {R"({"$ref":"#/$defs/a","maxLength":1,"$defs":{"a":{"type":"string"}}})", R"("a")",
       R"("ab")"},
      {R"({"$ref":"#/$defs/a~1b%25","$defs":{"a/b%":{"type":"string"}}})", R"("a")", "1"},
      {R"({"properties":{"next":{"$ref":"#"}},"additionalProperties":false})",
       R"({"next":{"next":{}}})", R"({"next":{"other":1}})"},
      {R"({"dependentSchemas":{"a":{"required":["b"]},"c":{"required":["d"]}}})",
       R"({"a":1,"b":1})", R"({"c":1})"},
      {R"({"properties":{"a/properties/b":{"type":"string"},
                         "a":{"properties":{"b":{"type":"integer"}}}}})",
       R"({"a":{"b":1}})", R"({"a":{"b":"1"}})"},
      {"true", "1", nullptr},
      {"false", nullptr, "1"},
      {R"({"format":"date","title":"t","x-own":1,"discriminator":{}})", "1", nullptr},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.schema) {
      if (row.good) BOOST_TEST(fits(row.schema, row.good));
      if (row.bad) BOOST_TEST(!fits(row.schema, row.bad));
    }
  }
}

BOOST_AUTO_TEST_CASE(findings_name_the_place_and_what_is_missing_or_unknown) {
  const JsonSchema schema(parse_json(R"({"type":"object","required":["plan"],
      "properties":{"plan":{"type":"array","items":{"type":"object","required":["a/b"],
      "properties":{"a/b":{"type":"string"}},"additionalProperties":false}}}})"));

  const auto check = [&](const char* value) { return describe(schema.check(parse_json(value))); };

  BOOST_TEST(check("{}") == "missing property 'plan'");
  BOOST_TEST(check(R"({"plan":[{"a/b":""},{}]})") == "/plan/1: missing property 'a/b'");
  BOOST_TEST(check(R"({"plan":[{"a/b":1}]})") ==
             "/plan/0/a~1b: wrong type: expected string, got number");
  BOOST_TEST(check(R"({"plan":[{"a/b":"","step":2}]})") == "/plan/0: unknown property 'step'");
}

BOOST_AUTO_TEST_CASE(a_limit_is_told_as_it_is_written) {
  const struct {
    const char* schema;
    const char* value;
    const char* told;
  } rows[] = {
      {R"({"maximum":16})", "17", "more than 16"},
      {R"({"minimum":1})", "0", "less than 1"},
      {R"({"minimum":0.25})", "0", "less than 0.25"},
      {R"({"exclusiveMaximum":100})", "100", "not less than 100"},
      {R"({"exclusiveMinimum":10})", "10", "not more than 10"},
      {R"({"type":"integer","multipleOf":10})", "7", "not a multiple of 10"},
  };
  for (const auto& row : rows)
    BOOST_TEST(describe(JsonSchema(parse_json(row.schema)).check(parse_json(row.value))) ==
               row.told);
}

BOOST_AUTO_TEST_CASE(schemas_that_can_not_be_checked_are_refused) {
  const char* const rows[] = {
      R"({"unevaluatedProperties":false})",
      R"({"properties":{"a":{"minContains":2}}})",
      R"({"typ":"string"})",
      R"({"$ref":"#"})",
      R"({"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"$ref":"#"}]}}})",
      R"({"$ref":"#/$defs/none"})",
      R"({"$ref":"other.json"})",
      R"-({"pattern":"(?=a)"})-",
      R"-({"patternProperties":{"(?=a)":{}}})-",
      R"({"items":3})",
      R"({"type":"strin"})",
      "1",
  };
  for (const char* row : rows) {
    BOOST_TEST_CONTEXT(row) { BOOST_CHECK_THROW(JsonSchema(parse_json(row)), InputError); }
  }
}

BOOST_AUTO_TEST_CASE(a_schema_inside_a_document_is_found_by_its_pointer) {
  const Json document = parse_json(R"({"openapi":"3.1.0","components":{"schemas":{
      "Node":{"type":"object","properties":{"kids":{"type":"array",
              "items":{"$ref":"#/components/schemas/Node"}},
              "name":{"$ref":"#/components/schemas/Name","nullable":true}}},
      "Name":{"type":"string","maxLength":3},
      "Unused":{"unevaluatedItems":false}}}})");

  const JsonSchema schema(document, "/components/schemas/Node");

  BOOST_TEST(schema.check(parse_json(R"({"kids":[{"name":null},{"name":"abc"}]})")).empty());
  BOOST_TEST(!schema.check(parse_json(R"({"kids":[{"name":"abcd"}]})")).empty());
}

BOOST_AUTO_TEST_CASE(a_nested_quantifier_costs_no_more_than_its_text) {
  const JsonSchema schema(parse_json(R"-({"pattern":"^(a+)+$"})-"));

  BOOST_TEST(!schema.check(Json(std::string(100'000, 'a') + "b")).empty());
}

BOOST_AUTO_TEST_CASE(a_schema_that_multiplies_with_each_level_is_not_followed_to_its_end) {
  const auto nested = [](int levels, const std::string& innermost) {
    std::string text = innermost;
    for (int i = 0; i < levels; ++i) text = R"({"x":)" + text + "}";
    return parse_json(text);
  };
  const struct {
    const char* schema;
    const char* innermost;  ///< for which all branches have to be followed
  } rows[] = {
      {R"({"$ref":"#/$defs/a","$defs":{"a":{"type":["object","integer"],"anyOf":[
          {"properties":{"x":{"$ref":"#/$defs/a"}}},{"properties":{"x":{"$ref":"#/$defs/a"}}}]}}})",
       R"("no")"},
      {R"({"$ref":"#/$defs/a","$defs":{"a":{"type":["object","integer"],"allOf":[
          {"properties":{"x":{"$ref":"#/$defs/a"}}},{"properties":{"x":{"$ref":"#/$defs/a"}}}]}}})",
       "1"},
      {R"({"type":["object","integer"],"oneOf":[{"properties":{"x":{"$ref":"#"}}},
          {"properties":{"x":{"$ref":"#"}},"minProperties":1}]})",
       R"("no")"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.schema) {
      const JsonSchema schema(parse_json(row.schema));
      BOOST_TEST(describe(schema.check(nested(100, row.innermost))).find("in reasonable time") !=
                 std::string::npos);
      BOOST_TEST(!schema.check(nested(3, R"("no")")).empty());
    }
  }
  // Nor one that does so without going round.
  std::string chain = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < 60; ++i) {
    const std::string next = R"({"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"}";
    chain += "\"d" + std::to_string(i) + R"(":{"anyOf":[)" + next + "," + next + "]},";
  }
  const JsonSchema schema(parse_json(chain + R"("d60":{"type":"integer"}}})"));
  BOOST_TEST(describe(schema.check(Json("no"))).find("in reasonable time") != std::string::npos);
  BOOST_TEST(schema.check(parse_json("1")).empty());
}

BOOST_AUTO_TEST_CASE(a_schema_of_any_json_fits_a_large_value) {
  const JsonSchema schema(parse_json(R"({"$defs":{"any":{"anyOf":[{"type":"string"},
      {"type":"array","items":{"$ref":"#/$defs/any"}},
      {"type":"object","additionalProperties":{"$ref":"#/$defs/any"}}]}},"$ref":"#/$defs/any"})"));
  std::string text = "[";
  for (int i = 0; i < 20'000; ++i) text += R"({"a":["b",{"c":"d"}]},)";
  BOOST_TEST(schema.check(parse_json(text + R"("end"])")).empty());
}

BOOST_AUTO_TEST_CASE(long_lists_are_searched_for_items_that_are_the_same) {
  const JsonSchema unique(parse_json(R"({"items":{"type":"integer"},"uniqueItems":true})"));
  const auto list = [](int length, const std::string& last) {
    std::string text = "[0";
    for (int i = 1; i < length; ++i) text += "," + std::to_string(i);
    return parse_json(text + "," + last + "]");
  };

  BOOST_TEST(describe(unique.check(list(100'000, "-1"))) == "");
  BOOST_TEST(describe(unique.check(list(100'000, "70.0"))) == "items 70 and 100000 are the same");
}

BOOST_AUTO_TEST_CASE(what_fits_no_branch_is_explained_by_the_branch_of_its_type) {
  const JsonSchema schema(parse_json(R"({"properties":{"a":{"anyOf":[{"type":"null"},
      {"type":"object","required":["b"],"properties":{"c":{"type":"string"}}}]},
      "d":{"oneOf":[{"minimum":3},{"multipleOf":2}]}}})"));
  const auto check = [&](const char* value) { return describe(schema.check(parse_json(value))); };

  BOOST_TEST(check(R"({"a":{"c":1}})") ==
             "/a: missing property 'b'; /a/c: wrong type: expected string, got number");
  BOOST_TEST(check(R"({"a":1})") ==
             "/a: wrong type: expected null, got number; /a: wrong type: expected object, got "
             "number");
  BOOST_TEST(check(R"({"d":1})") ==
             "/d: fits none of the 2 schemas of oneOf; /d: less than 3; /d: not a multiple of 2");
  BOOST_TEST(check(R"({"d":4})") == "/d: fits more than one of the schemas of oneOf");
}

BOOST_AUTO_TEST_CASE(long_chains_of_references_are_refused) {
  std::string chain = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < 2'000; ++i)
    chain += "\"d" + std::to_string(i) + R"(":{"$ref":"#/$defs/d)" + std::to_string(i + 1) + "\"},";
  const Json schema = parse_json(chain + R"("d2000":{"type":"integer"}}})");

  BOOST_CHECK_THROW(JsonSchema{schema}, InputError);
}

BOOST_AUTO_TEST_SUITE_END()
