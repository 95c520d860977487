// Tools of a task's own, run by the whole program.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(functions)

namespace {

const char* const kPolicy =
    "version: 1\n"
    "extends: [strict]\n"
    "bounds: {mcp: [./tools/*]}\n"
    "tools:\n  - allow: [words, slow, writes]\n"
    "commands:\n  - allow: {script: './tools/*'}\n";

const char* const kManifest = R"([
  {"name": "words", "description": "Says what it got.",
   "parameters": {"type": "object", "properties": {"one": {"type": "string"},
                  "all": {"type": "array", "items": {"type": "string"}}}, "required": ["one"]},
   "run": ["./tools/words.sh", "{{one}}", "--", "{{all...}}"], "stdin": "json"},
  {"name": "slow", "description": "Takes long.", "run": ["./tools/slow.sh"], "timeout": "300ms"},
  {"name": "writes", "description": "Writes.", "run": ["./tools/writes.sh"], "read_only": true}
])";

/// A workspace with three programs, and a manifest that makes tools of them.
struct Scene : RunFolder {
  explicit Scene(const std::string& policy = kPolicy) {
    program("words.sh", "printf '<%s>' \"$@\"; echo; cat\n");
    program("slow.sh", "echo begun; sleep 600\n");
    program("writes.sh", "if echo x > made.txt; then echo written; else echo refused; fi\n");
    commit_workspace();
    write("functions.json", kManifest);
    write("policy.yaml", policy);
  }
  void program(const std::string& name, const std::string& script) const {
    write("work/tools/" + name, "#!/bin/sh\n" + script);
    fs::permissions(path("work/tools/" + name), fs::perms(0755));
  }
  void write_task(const CassetteWriter& cassette, const std::string& more = {}) const {
    RunFolder::write_task(cassette, "policy: policy.yaml\nexpect: {changes: any}\n" +
                                        std::string("tools:\n  functions: functions.json\n") +
                                        more);
  }
};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_function_gets_its_arguments_without_a_shell_and_is_held_whoever_runs_it) {
  const std::string hostile = "$(touch made) 'a' \"b\" ; * \\n";
  CassetteWriter cassette;
  cassette
      .call("words",
            Json::object(
                {{"one", hostile}, {"all", Json::array({"-x", "c d"})}, {"more", "is not known"}}))
      .call("slow", Json::object())
      .call("writes", Json::object())
      .call("words", Json::object({{"one", "--option"}}))
      .call("words", Json::object({{"one", true}}))
      .next();
  cassette.message("done");
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT("by " << caller.name) {
      const Scene scene;
      scene.write_task(cassette);

      const ProgramEnd end = scene.run_as(caller);

      BOOST_TEST(end.status == 0, end.errors);
      const std::string words = scene.output(0);
      BOOST_TEST(holds(words, "<" + hostile + "><--><-x><c d>\n"), words);
      BOOST_TEST(holds(words, "{\"one\":"), words);
      const auto outputs = scene.records("tool.output");
      BOOST_REQUIRE(outputs.size() == 5u);
      BOOST_TEST(holds(outputs[0].string_at("shown"), "unknown arguments were ignored: more"));
      BOOST_TEST(holds(outputs[1].string_at("shown"), "Killed after 0.3 s: command_timeout\n"));
      BOOST_TEST(!outputs[1]["success"].boolean(true));
      BOOST_TEST(holds(scene.output(2), "refused"));
      BOOST_TEST(holds(scene.output(3), "would take it for an option"));
      BOOST_TEST(holds(scene.output(4), "Invalid arguments for words: /one"));
      BOOST_TEST(!outputs[4]["success"].boolean(true));
      BOOST_TEST(scene.artifact("changes.diff") == "");
      BOOST_TEST(scene.result()["counts"].integer_at("tool_calls") == 5);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_policy_says_which_functions_there_are_and_what_they_may_run) {
  CassetteWriter cassette;
  cassette.call("words", Json::object({{"one", "a"}})).next();
  cassette.message("done");
  const std::string tools = "tools:\n  - allow: words\n";
  const std::string bounds = "bounds: {mcp: [./tools/*]}\n";
  const struct {
    std::string policy;
    int status;
    const char* told;
  } rows[] = {
      {"version: 1\nextends: [strict]\n", 2,
       "functions.json:2:3: error: the program ./tools/words.sh of the function words is beyond "
       "the policy's bounds (bounds.mcp (the default) is [])"},
      {"version: 1\nextends: [strict]\n" + bounds, 0, "./tools/words.sh"},
      {"version: 1\nextends: [strict]\n" + bounds + tools, 0, "./tools/words.sh"},
      {"version: 1\nextends: [strict]\n" + bounds + tools +
           "commands:\n  - allow: {script: './tools/*'}\n  - deny: [./tools/words.sh, a]\n",
       0, "a rule denies it"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.policy) {
      const Scene scene(row.policy);
      scene.write_task(cassette);
      const ProgramEnd end = scene.run();
      BOOST_TEST(end.status == row.status, end.errors);
      const std::string told = row.status == 0 ? scene.output(0) : end.errors;
      BOOST_TEST(holds(told, row.told), told);
      if (row.status == 0) BOOST_TEST(holds(told, "Denied"), told);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_program_that_the_agent_has_changed_is_no_function_any_more) {
  const Scene scene;
  CassetteWriter cassette;
  cassette
      .patch(
          "*** Begin Patch\n*** Update File: tools/words.sh\n@@\n #!/bin/sh\n+echo mine\n"
          "*** End Patch\n")
      .next();
  cassette.call("words", Json::object({{"one", "a"}})).next();
  cassette.message("done");
  scene.write_task(cassette);

  const ProgramEnd end = scene.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(scene.output(0).starts_with("Success."), scene.output(0));
  BOOST_TEST(scene.output(1).starts_with("Denied"), scene.output(1));
}

BOOST_AUTO_TEST_CASE(a_list_of_tools_leaves_out_functions_that_it_does_not_name) {
  const Scene scene;
  CassetteWriter cassette;
  cassette.call("words", Json::object({{"one", "a"}})).call("slow", Json::object()).next();
  cassette.message("done");
  scene.write_task(cassette, "  enable: [shell, slow]\n");

  const ProgramEnd end = scene.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(end.errors, "tools.enable leaves out the function words"), end.errors);
  BOOST_TEST(scene.output(0).starts_with("Unknown tool \"words\"."), scene.output(0));
  BOOST_TEST(holds(scene.records("tool.output").at(1).string_at("shown"), "Killed after 0.3 s"));
}

BOOST_AUTO_TEST_SUITE_END()
