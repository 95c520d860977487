#include "tools/commands/function_tool.h"

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"
#include "tests/fakes/fake_launcher.h"
#include "tests/fakes/memory_files.h"

using namespace sortie;
using namespace std::chrono_literals;
using Words = std::vector<std::string>;

BOOST_AUTO_TEST_SUITE(function_tool)

namespace {

struct Fixture {
  Fixture() {
    function.name = "todos";
    function.description = "Finds them.";
    function.parameters =
        parse_json(R"({"type": "object", "properties": {"path": {"type": "string"}}})");
    function.run = {"./tools/todo.py", "{{path}}"};
    options.workspace = "/w";
    options.shown_output = 1000;
  }
  FunctionTool tool() { return FunctionTool(function, {launcher, files, redactor}, options); }
  ToolResult run(const char* arguments = R"({"path": "src"})") {
    return tool().run(parse_json(arguments), {});
  }
  void prints(const std::string& output, ExitStatus exit = {}) {
    launcher.answer = [=](const Command&) { return FakeLauncher::Answer{output, exit}; };
  }

  TaskFunction function;
  FakeLauncher launcher;
  MemoryFiles files;
  Redactor redactor{{{"KEY", "s3cr3t-value"}}};
  ShellOptions options;
};

}  // namespace

BOOST_AUTO_TEST_CASE(the_model_sees_what_the_manifest_says) {
  Fixture fixture;
  const FunctionTool tool = fixture.tool();
  BOOST_TEST(tool.spec().name == "todos");
  BOOST_TEST(tool.spec().description == "Finds them.");
  BOOST_TEST((tool.spec().parameters == fixture.function.parameters));
}

BOOST_AUTO_TEST_CASE(a_call_is_decided_on_as_the_command_that_is_run) {
  Fixture fixture;
  fixture.prints("two\n");
  const auto actions = fixture.tool().actions(parse_json(R"({"path": "a b"})"));
  BOOST_REQUIRE(actions.size() == 1u);
  const auto& command = std::get<RunCommand>(actions[0]);
  BOOST_TEST(command.argv == (Words{"./tools/todo.py", "a b"}), boost::test_tools::per_element());
  BOOST_TEST(command.workdir == "/w");

  const ToolResult result = fixture.run(R"({"path": "a b"})");
  BOOST_TEST(result.success);
  BOOST_TEST(result.head == "Exit code: 0\nWall time: 0.0 seconds\nOutput:\n");
  BOOST_TEST(result.collected->shown == "two\n");
  BOOST_REQUIRE(fixture.launcher.started.size() == 1u);
  const Command& started = fixture.launcher.started[0];
  BOOST_TEST(started.argv == command.argv, boost::test_tools::per_element());
  BOOST_TEST(started.workdir == "/w");
  BOOST_TEST(started.environment.at("PAGER") == "cat");
  BOOST_TEST((started.input == CommandInput::none));
  BOOST_TEST(!started.read_only);
}

BOOST_AUTO_TEST_CASE(the_shorter_time_limit_holds) {
  Fixture fixture;
  fixture.options.command_timeout = 10s;
  const std::pair<std::chrono::milliseconds, std::chrono::milliseconds> rows[] = {
      {0ms, 10s}, {3s, 3s}, {60s, 10s}};
  for (const auto& [own, held] : rows) {
    fixture.function.timeout = own;
    fixture.run();
    BOOST_TEST((fixture.launcher.started.back().timeout == held));
  }
}

BOOST_AUTO_TEST_CASE(one_that_only_reads_gets_no_right_to_write) {
  Fixture fixture;
  fixture.function.read_only = true;
  fixture.run();
  BOOST_TEST(fixture.launcher.started.back().read_only);
}

BOOST_AUTO_TEST_CASE(a_program_that_fails_is_no_success_and_its_output_is_told) {
  Fixture fixture;
  fixture.prints("no such folder s3cr3t-value\n", {.code = 3});
  const ToolResult result = fixture.run();
  BOOST_TEST(!result.success);
  BOOST_TEST(result.exit->code == 3);
  BOOST_TEST(result.head.starts_with("Exit code: 3\n"));
  BOOST_TEST(result.collected->shown == "no such folder [REDACTED:KEY]\n");
}

BOOST_AUTO_TEST_CASE(what_would_be_an_option_is_refused_before_anything_is_decided) {
  Fixture fixture;
  BOOST_CHECK_THROW(fixture.tool().actions(parse_json(R"({"path": "--exec=x"})")), ToolError);
}

BOOST_AUTO_TEST_CASE(a_script_of_the_manifest_is_run_as_it_was_read) {
  Fixture fixture;
  fixture.options.folders = {"/usr/bin"};
  fixture.options.environment = {{"BASH_ENV", "evil"}};
  fixture.function.run = {"sh", "-c", "ls | wc -l"};
  fixture.run();
  const Command& started = fixture.launcher.started.back();
  BOOST_TEST(started.argv.back() == "ls | wc -l");
  BOOST_TEST(started.argv.size() > 3u);
  BOOST_TEST(started.environment.count("BASH_ENV") == 0u);
}

BOOST_AUTO_TEST_CASE(a_result_that_is_declared_json_has_to_be_json) {
  const struct {
    const char* printed;
    ExitStatus exit;
    bool success;
    const char* head;
    const char* shown;
  } rows[] = {
      {"{\"todos\": [\n 1.50, \"\\u00e9\\u001b[31m\" ]}\n",
       {},
       true,
       "Exit code: 0\n",
       "{\"todos\":[1.50,\"é\\u001B[31m\"]}"},
      {"[\"s3cr3t-value\"]", {}, true, "Exit code: 0\n", "[\"[REDACTED:KEY]\"]"},
      {"{\"a\": 1",
       {},
       false,
       "The function declares JSON output, but stdout is not valid JSON: ",
       "{\"a\": 1"},
      {"", {}, false, "The function declares JSON output, but stdout is not valid JSON: ", ""},
      {"{} {}",
       {},
       false,
       "The function declares JSON output, but stdout is not valid JSON: ",
       "{} {}"},
      {"{\"a\":1,\"a\":2}",
       {},
       false,
       "The function declares JSON output, but stdout is not valid JSON: duplicate",
       "{\"a\":1,\"a\":2}"},
      {"{\"failed\": 2}", {.code = 1}, false, "Exit code: 1\n", "{\"failed\":2}"},
      {"Traceback \x1b[1m…\n", {.code = 1}, false, "Exit code: 1\n", "Traceback …\n"},
      {"{}", {.ending = Ending::timed_out}, false, "Killed after ", "{}"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.printed) {
      Fixture fixture;
      fixture.function.output = TaskFunction::Output::json;
      fixture.prints(row.printed, row.exit);
      const ToolResult result = fixture.run();
      BOOST_TEST(fixture.launcher.started.back().errors_apart);
      BOOST_TEST(result.success == row.success);
      BOOST_TEST(result.head.starts_with(row.head), result.head);
      BOOST_TEST(result.collected->shown == row.shown);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
