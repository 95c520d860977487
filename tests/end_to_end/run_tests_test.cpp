#include <boost/test/unit_test.hpp>
#include <string>

#include "core/json/json.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

BOOST_AUTO_TEST_SUITE(run_tests)

// Allowed under deny-by-default by no rule of the policy; the commands are the operator's.
BOOST_AUTO_TEST_CASE(the_model_runs_the_tasks_verification_and_mends_what_fails) {
  const RunFolder folder;
  folder.write("work/answer.txt", "41\n");
  folder.commit_workspace();
  folder.write("policy.yaml", "version: 1\ntools:\n  - allow: [apply_patch]\n");
  CassetteWriter cassette;
  cassette.call("run_tests", Json::object()).next();
  cassette.patch("*** Begin Patch\n*** Update File: answer.txt\n@@\n-41\n+42\n*** End Patch\n")
      .next();
  cassette.call("run_tests", Json::object()).next();
  cassette.message("done");
  folder.write_task(cassette,
                    "policy: policy.yaml\nverify: [echo looking, grep -x 42 answer.txt]\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  const std::string failed = folder.output(0);
  BOOST_TEST(failed.find("`echo looking` ended with exit code 0") != std::string::npos, failed);
  BOOST_TEST(failed.find("`grep -x 42 answer.txt` ended with exit code 1") != std::string::npos,
             failed);
  BOOST_TEST(folder.output(2).find("Output:\n42\n") != std::string::npos);
  const auto outputs = folder.records("tool.output");
  BOOST_REQUIRE(outputs.size() == 3u);
  BOOST_TEST(!outputs[0]["success"].boolean(true));
  BOOST_TEST(outputs[2]["success"].boolean());
  int asked = 0;
  for (const auto& record : folder.records("verification.completed"))
    asked += record.string_at("phase") == "run_tests" ? 1 : 0;
  BOOST_TEST(asked == 4);
  const Json result = folder.result();
  BOOST_TEST(result["verified"].boolean());
  BOOST_TEST(result["verification"].integer_at("rounds") == 1);
  BOOST_TEST(result["denials"].items().empty());
}

// The commands are the operator's own, and run at the end in any case.
BOOST_AUTO_TEST_CASE(no_policy_takes_it_away_but_by_its_name) {
  const struct {
    const char* rules;
    bool allowed;
  } rows[] = {
      {"tools: []\ncommands: []\n", true},
      {"tools:\n  - deny: '*'\ncommands:\n  - deny: [grep]\n    why: by no means\n", true},
      {"tools:\n  - forbid: ['*_*', '*']\n", true},
      {"tools:\n  - deny: '*'\nsandbox: {mode: read-only}\n", true},
      {"tools:\n  - deny: [run_tests]\n    why: not in this job\n", false},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.rules) {
      const RunFolder folder;
      folder.write("work/answer.txt", "42\n");
      folder.commit_workspace();
      folder.write("policy.yaml", std::string("version: 1\n") + row.rules);
      CassetteWriter cassette;
      cassette.call("run_tests", Json::object()).next();
      cassette.message("done");
      folder.write_task(cassette,
                        "policy: policy.yaml\nverify: [grep -x 42 answer.txt]\n"
                        "expect: {changes: any}\n");

      const ProgramEnd end = folder.run();

      BOOST_TEST(end.status == 0, end.errors);
      const std::string output = folder.output(0);
      const Json approval = folder.records("approval").at(0);
      BOOST_TEST(approval.string_at("decision") == (row.allowed ? "allow" : "deny"));
      if (row.allowed)
        BOOST_TEST(
            output.find("`grep -x 42 answer.txt` ended with exit code 0") != std::string::npos,
            output);
      else
        BOOST_TEST(output.find("not in this job") != std::string::npos, output);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_read_only_stage_runs_it_without_a_right_to_write) {
  const RunFolder folder;
  folder.write("work/answer.txt", "42\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  cassette.call("run_tests", Json::object()).next();
  cassette.message("looked");
  cassette.call("run_tests", Json::object()).next();
  cassette.message("planned");
  cassette.call("run_tests", Json::object()).next();
  cassette.message("done");
  cassette.save(folder.path("cassette.jsonl"));
  folder.write("task.yaml",
               "version: 1\nworkspace: {path: work}\npolicy: auto\n"
               "model: {provider: replay, cassette: cassette.jsonl}\nstages:\n"
               "  - {name: look, prompt: Look., sandbox: read-only}\n"
               "  - {name: plan, prompt: Plan., tools: [read_file]}\n"
               "  - {name: work, prompt: Work.}\n"
               "verify: ['echo x > made.txt && cat made.txt']\nexpect: {changes: any}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(folder.output(0).find("Read-only file system") != std::string::npos, folder.output(0));
  // A stage has the tools that it names.
  BOOST_TEST(folder.records("approval").at(1).string_at("decision") == "deny");
  BOOST_TEST(folder.output(2).find("Output:\nx\n") != std::string::npos, folder.output(2));
  const auto outputs = folder.records("tool.output");
  BOOST_TEST(!outputs.at(0)["success"].boolean(true));
  BOOST_TEST(outputs.at(2)["success"].boolean());
}

BOOST_AUTO_TEST_CASE(it_counts_as_no_round_however_often_it_fails) {
  const RunFolder folder;
  folder.write("work/answer.txt", "41\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  for (int i = 0; i < 5; ++i) cassette.call("run_tests", Json::object()).next();
  cassette.message("as good as done");
  cassette.patch("*** Begin Patch\n*** Update File: answer.txt\n@@\n-41\n+42\n*** End Patch\n")
      .next();
  cassette.message("done");
  folder.write_task(cassette,
                    "policy: auto\nverify: {commands: [grep -x 42 answer.txt], rounds: 2}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  const Json result = folder.result();
  BOOST_TEST(result["verified"].boolean());
  BOOST_TEST(result["verification"].integer_at("rounds") == 2);
  for (std::size_t i = 0; i < 5; ++i)
    BOOST_TEST(folder.output(i).find("ended with exit code 1") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(its_commands_are_bounded_in_time_and_output) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  folder.write("policy.yaml", "version: 1\nextends: auto\nlimits: {output: 1MiB}\n");
  CassetteWriter cassette;
  cassette.call("run_tests", Json::object()).next();
  cassette.shell({"touch", "first"}).call("run_tests", Json::object()).next();
  cassette.shell({"touch", "second"}).call("run_tests", Json::object()).next();
  cassette.shell({"touch", "third"}).next();
  cassette.message("done");
  folder.write_task(cassette,
                    "policy: policy.yaml\nexpect: {changes: any}\n"
                    "context: {shown_output: 4KiB}\nverify:\n  commands:\n"
                    "    - 'test -e first || seq 1 100000'\n"
                    "    - {run: [sh, -c, 'test -e first || exec sleep 600'], timeout: 500ms}\n"
                    "    - 'test -e second || exec yes'\n"
                    "    - 'test -e third || { echo out; echo err >&2; exit 7; }'\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  const auto outputs = folder.records("tool.output");
  BOOST_REQUIRE(outputs.size() == 6u);
  const std::string slow = outputs[0].string_at("output");
  BOOST_TEST(slow.find("was killed at its time limit, after 0.") != std::string::npos, slow);
  BOOST_TEST(slow.find("\n1\n2\n") != std::string::npos);
  BOOST_TEST(slow.find("left out") != std::string::npos);
  BOOST_TEST(slow.find("\n100000\n") != std::string::npos);
  BOOST_TEST(slow.size() < 8u << 10);
  const std::string loud = outputs[2].string_at("output");
  BOOST_TEST(loud.find("`test -e second || exec yes` was killed: output") != std::string::npos,
             loud.substr(0, 400));
  BOOST_TEST(loud.size() < 8u << 10);
  const std::string failed = outputs[4].string_at("output");
  BOOST_TEST(failed.find("ended with exit code 7") != std::string::npos, failed);
  BOOST_TEST(failed.find("out\nerr\n") != std::string::npos, failed);
  BOOST_TEST(outputs[4]["exit"].integer_at("code") == 7);
}

BOOST_AUTO_TEST_CASE(without_a_verification_there_is_no_such_tool) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  CassetteWriter cassette;
  cassette.call("run_tests", Json::object()).next();
  cassette.message("done");
  folder.write_task(cassette, "expect: {changes: any}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(folder.output(0).find("Unknown tool \"run_tests\"") != std::string::npos,
             folder.output(0));
}

BOOST_AUTO_TEST_SUITE_END()
