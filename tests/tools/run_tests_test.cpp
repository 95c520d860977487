#include "tools/plain_tools.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(run_tests)

BOOST_AUTO_TEST_CASE(it_asks_for_nothing_but_the_tool_itself) {
  const RunTests tool([](std::stop_token) { return RunTests::Outcome{}; });

  BOOST_TEST(tool.actions(Json::object()).empty());
  BOOST_TEST(tool.spec().name == "run_tests");
  BOOST_TEST(tool.spec().parameters["properties"].members().empty());
}

BOOST_AUTO_TEST_CASE(the_model_is_told_whether_they_passed_and_what_they_printed) {
  for (const bool passed : {true, false}) {
    RunTests tool([passed](std::stop_token) {
      return RunTests::Outcome{
          .passed = passed,
          .text = "`make test` ended with exit code 2 (0.1 s).\nOutput:\n1 failed\n",
          .exit = ExitStatus{.code = passed ? 0 : 2}};
    });

    const ToolResult result = tool.run(Json::object(), {});

    BOOST_TEST(result.success == passed);
    BOOST_TEST(result.head == (passed ? "Passed.\n" : "Failed.\n"));
    BOOST_TEST(result.text.find("1 failed") != std::string::npos);
    BOOST_REQUIRE(result.exit.has_value());
    BOOST_TEST(result.exit->code == (passed ? 0 : 2));
  }
}

BOOST_AUTO_TEST_SUITE_END()
