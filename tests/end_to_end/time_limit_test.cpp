// The end of a run's time in the midst of a tool.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <list>
#include <optional>
#include <string>

#include "core/files/files.h"
#include "core/json/json.h"
#include "core/record/transcript_reader.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace fs = std::filesystem;

namespace {

/// A run that hangs in one tool, which nothing but the end of the time ends.
struct Hanging {
  Hanging(const std::string& called, const Json& arguments) : tool(called) {
    folder.write("work/server.py", read_file(SORTIE_SOURCE_DIR "/tests/data/mcp/server.py"));
    folder.write("work/hang.sh", "#!/bin/sh\nexec sleep " + marker() + "\n");
    fs::permissions(folder.path("work/hang.sh"), fs::perms(0755));
    folder.commit_workspace();
    folder.write("functions.json",
                 R"([{"name": "hang", "description": "Hangs.", "run": ["./hang.sh"]}])");
    folder.write("policy.yaml",
                 "version: 1\nextends: auto\nbounds: {mcp: [./hang.sh, python3 server.py]}\n"
                 "limits: {command_timeout: 24h}\n");
    // Two calls: the second one is not begun.
    folder.write_task(
        CassetteWriter().call(tool, arguments).shell({"touch", "begun"}).next().message("done"),
        "policy: policy.yaml\nexpect: {changes: any}\nverify: [./hang.sh]\n"
        "budget: {time: 5s}\ntools:\n  functions: functions.json\n"
        "  enable: [default, exec_command, run_tests, hang, mcp__one__echo]\n  mcp:\n"
        "    one: {command: [python3, server.py, hang_call], tool_timeout: 24h}\n");
  }
  /// On the command lines of all that hangs.
  static std::string marker() { return "31557602." + std::to_string(::getpid()); }

  std::string tool;
  RunFolder folder;
  std::optional<Program> program;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(time_limit)

BOOST_AUTO_TEST_CASE(no_tool_outlives_the_time_of_its_run) {
  const std::string hang = "trap '' TERM; setsid ./hang.sh & ./hang.sh";
  std::list<Hanging> runs;
  runs.emplace_back("hang", Json::object());
  runs.emplace_back("run_tests", Json::object());
  runs.emplace_back("mcp__one__echo", Json::object({{"text", "hello"}}));
  runs.emplace_back("exec_command", Json::object({{"cmd", hang}, {"yield_time_ms", 30'000}}));
  runs.emplace_back("shell", Json::object({{"command", Json::array({"sh", "-c", hang})}}));
  // Side by side: each takes its time.
  for (Hanging& run : runs) run.program.emplace(run.folder.start());

  for (Hanging& run : runs) BOOST_TEST_CONTEXT(run.tool) {
      const ProgramEnd end = run.program->finish();
      const RunFolder& folder = run.folder;
      BOOST_TEST(end.status == 4, end.errors);
      BOOST_TEST(folder.result().string_at("status") == "budget");
      const auto exhausted = folder.records("budget.exhausted");
      BOOST_REQUIRE(exhausted.size() == 1U);
      BOOST_TEST(exhausted[0].string_at("which") == "time");
      const auto outputs = folder.records("tool.output");
      BOOST_REQUIRE(outputs.size() == 2U);
      BOOST_TEST(outputs[0].string_at("tool") == run.tool);
      BOOST_TEST(!outputs[0]["success"].boolean(true));
      BOOST_TEST(outputs[1].string_at("verdict") == "budget");
      const VerifyResult record = verify_run(folder.out());
      BOOST_TEST(record.ok, record.problem);
      BOOST_TEST(record.finished);
    }
  BOOST_TEST(processes_with(Hanging::marker()).empty());
}

BOOST_AUTO_TEST_SUITE_END()
