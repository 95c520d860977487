#include <boost/test/unit_test.hpp>
#include <string>

#include "core/base/json.h"
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

BOOST_AUTO_TEST_CASE(without_a_verification_there_is_no_such_tool) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  CassetteWriter cassette;
  cassette.call("run_tests", Json::object()).next();
  cassette.message("done");
  folder.write_task(cassette, "expect: {changes: any}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(folder.output(0).find("There is no tool \"run_tests\"") != std::string::npos,
             folder.output(0));
}

BOOST_AUTO_TEST_SUITE_END()
