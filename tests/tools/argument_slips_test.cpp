#include <boost/test/unit_test.hpp>

#include "tests/tools/runner_bench.h"
#include "tools/argument_slips.h"

using namespace sortie;
using namespace sortie::test;

BOOST_AUTO_TEST_SUITE(argument_slips)

namespace {

constexpr const char* kParameters = R"({
  "type": "object", "required": ["path"], "additionalProperties": false,
  "properties": {
    "path": {"type": "string"}, "limit": {"type": "integer", "minimum": 1},
    "ratio": {"type": "number"}, "tty": {"type": "boolean"},
    "command": {"type": ["array", "string"], "items": {"type": "string"}},
    "plan": {"type": "array"}, "either": {"type": ["string", "null"]}}})";

struct Slip {
  const char* given;
  const char* taken;  ///< the same as given: it is no slip, or has more than one meaning
};

}  // namespace

BOOST_AUTO_TEST_CASE(values_are_taken_as_meant_where_one_meaning_is_possible) {
  const Slip rows[] = {
      {R"({"path":"a","limit":null})", R"({"path":"a"})"},
      {R"({"path":null})", R"({"path":null})"},
      {R"({"path":"a","either":null})", R"({"path":"a","either":null})"},
      {R"({"limit":"20"})", R"({"limit":20})"},
      {R"({"limit":" 20 "})", R"({"limit":20})"},
      {R"({"ratio":"0.5"})", R"({"ratio":0.5})"},
      {R"({"limit":"twenty"})", R"({"limit":"twenty"})"},
      {R"({"limit":"20 lines"})", R"({"limit":"20 lines"})"},
      {R"({"tty":"true"})", R"({"tty":true})"},
      {R"({"tty":"False"})", R"({"tty":false})"},
      {R"({"tty":"yes"})", R"({"tty":"yes"})"},
      {R"({"tty":1})", R"({"tty":1})"},
      {R"({"path":12})", R"({"path":"12"})"},
      {R"({"path":true})", R"({"path":true})"},
      {R"({"path":"12"})", R"({"path":"12"})"},
      {R"({"path":"[\"a\"]"})", R"({"path":"[\"a\"]"})"},
      {R"({"command":"[\"ls\",\"-l\"]"})", R"({"command":["ls","-l"]})"},
      {R"({"command":"[ -f x ] && ls"})", R"({"command":"[ -f x ] && ls"})"},
      {R"({"command":"[1]"})", R"({"command":"[1]"})"},
      {R"({"plan":"[{\"step\":\"a\"}]"})", R"({"plan":[{"step":"a"}]})"},
      {R"({"unknown":"20"})", R"({"unknown":"20"})"},
  };
  const Json parameters = parse_json(kParameters);
  for (const Slip& row : rows) {
    Json arguments = parse_json(row.given);
    const auto corrected = correct_values(arguments, parameters);
    BOOST_TEST(write_json(arguments) == row.taken);
    BOOST_TEST(corrected.empty() == (std::string(row.given) == row.taken), row.given);
  }
}

BOOST_AUTO_TEST_CASE(names_of_other_tools_are_taken_where_ours_is_absent) {
  const Json parameters = parse_json(kParameters);
  const Slip rows[] = {
      {R"({"file_path":"a"})", R"({"path":"a"})"},
      {R"({"path":"a","file_path":"b"})", R"({"path":"a","file_path":"b"})"},
      {R"({"file_path":"a","file":"b"})", R"({"path":"a","file":"b"})"},
      {R"({"start_line":1})", R"({"start_line":1})"},
      {R"({"steps":[]})", R"({"plan":[]})"},
      {R"({"mood":"good"})", R"({"mood":"good"})"},
  };
  for (const Slip& row : rows) {
    Json arguments = parse_json(row.given);
    correct_names(arguments, parameters);
    BOOST_TEST(write_json(arguments) == row.taken);
  }
}

BOOST_FIXTURE_TEST_CASE(a_corrected_call_runs_and_says_what_was_corrected, RunnerBench) {
  const auto argv = call("shell", R"({"command":"[\"ls\",\"-l\"]","timeout_ms":"500"})");
  BOOST_REQUIRE(argv.output.success);
  BOOST_TEST((launcher.started.at(0).argv == std::vector<std::string>{"ls", "-l"}));
  BOOST_TEST(argv.output.text.ends_with("Note: corrected arguments: command was taken as an array; "
                                        "timeout_ms was taken as a number"),
             argv.output.text);

  const auto plan = call("update_plan", R"({"explanation":null,"steps":[)"
                                        R"({"step":"a","status":"pending"}]})");
  BOOST_TEST(
      plan.output.text ==
      "Plan updated\nNote: corrected arguments: steps was taken as plan; null for explanation "
      "was taken as absent");
}

BOOST_FIXTURE_TEST_CASE(what_can_not_be_corrected_names_the_wrong_member, RunnerBench) {
  const auto result = call("shell", R"({"comand":["ls"],"timeout_ms":"soon"})");
  BOOST_TEST(!result.output.success);
  BOOST_TEST(result.output.text.find("missing property 'command'") != std::string::npos,
             result.output.text);
  BOOST_TEST(result.output.text.find("unknown arguments: comand") != std::string::npos);
  BOOST_TEST(launcher.started.empty());
}

BOOST_AUTO_TEST_SUITE_END()
