// The results of tests in outputs that pytest, go, cargo, node and bats have really printed
// (tests/data/test_output), and what is made of outputs that were cut, forged or mixed.

#include "ci/test_output/read_results.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/files/files.h"

using namespace sortie;

namespace {

using Kind = TestResults::Kind;

std::string recorded(const std::string& name) {
  return read_file(std::string(SORTIE_SOURCE_DIR) + "/tests/data/test_output/" + name + ".txt",
                    1u << 20);
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  BOOST_REQUIRE_MESSAGE(at != std::string::npos, what);
  return text.replace(at, what.size(), by);
}

std::string names_of(const TestResults& results, bool passed) {
  std::string names;
  for (const auto& [name, test_passed] : results.tests)
    if (test_passed == passed) names += (names.empty() ? "" : "; ") + name;
  return names;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(test_results)

BOOST_AUTO_TEST_CASE(what_programs_print_is_read_by_name) {
  const struct {
    const char* file;
    const char* format;
    const char* failed;
    const char* passed;  ///< "": counted only
    std::int64_t passes;
  } rows[] = {
      {"pytest", "pytest",
       "error at test_a.py::test_err; test_a.py::test_bad; test_a.py::test_param[a - b]", "", 3},
      {"pytest-q", "pytest",
       "error at test_a.py::test_err; test_a.py::test_bad; test_a.py::test_param[a - b]", "", 3},
      {"pytest-v", "pytest",
       "error at test_a.py::test_err; test_a.py::test_bad; test_a.py::test_param[a - b]",
       "test_a.py::TestC::test_m; test_a.py::test_good; test_a.py::test_param[c]", 3},
      {"pytest-junit", "JUnit",
       "pytest > test_a > test_bad; pytest > test_a > test_err; pytest > test_a > test_param[a - b]",
       "pytest > test_a > test_good; pytest > test_a > test_param[c]; pytest > test_a.TestC > test_m",
       3},
      {"node-tap", "TAP", "bad; outer; outer > inner bad", "good; outer > inner good", 2},
      {"node-junit", "JUnit", " > test > bad; outer > test > inner bad",
       " > test > good; outer > test > inner good", 2},
      {"bats-tap", "TAP", "bad", "good", 1},
      {"bats-junit", "JUnit", "a.bats > a.bats > bad", "a.bats > a.bats > good", 1},
      {"go-v", "go test -v",
       "example.com/m TestBad; example.com/m TestSub; example.com/m TestSub/two_x",
       "example.com/m TestGood; example.com/m TestSub/one; example.com/m/sub TestOther", 3},
      {"go-json", "go test -json",
       "example.com/m TestBad; example.com/m TestSub; example.com/m TestSub/two_x",
       "example.com/m TestGood; example.com/m TestSub/one; example.com/m/sub TestOther", 3},
      {"cargo", "cargo test", "unittests src/lib.rs m: tests::bad",
       "Doc-tests m: src/lib.rs - f (line 1); tests/it.rs it: it_works; "
       "unittests src/lib.rs m: tests::good; unittests src/lib.rs m: tests::panics - should panic",
       4},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.file) {
      const TestResults results = read_test_results(recorded(row.file));

      BOOST_TEST((results.kind == Kind::complete), results.problem);
      BOOST_TEST(results.format == row.format);
      BOOST_TEST(names_of(results, false) == row.failed);
      BOOST_TEST(names_of(results, true) == row.passed);
      BOOST_TEST(results.passes == row.passes);
      BOOST_TEST(results.names_passes == (*row.passed != '\0'));
      BOOST_TEST(new_failures(results, results) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(an_output_that_does_not_fit_together_is_not_relied_on) {
  const auto cut = [](const std::string& text) { return text.substr(0, text.size() * 3 / 5); };
  const struct {
    const char* name;
    std::string output;
    Kind kind;
  } rows[] = {
      {"nothing", "", Kind::unknown},
      {"other words", "3 warnings\nall fine\n", Kind::unknown},
      {"go without names", recorded("go-without-v"), Kind::unknown},
      {"a build that failed", recorded("go-v-build"), Kind::unknown},
      {"pytest -x", recorded("pytest-x"), Kind::incomplete},
      {"an error while collecting", recorded("pytest-crash"), Kind::incomplete},
      {"a test that panics", recorded("go-v-panic"), Kind::incomplete},
      {"the same as JSON", recorded("go-json-panic"), Kind::incomplete},
      {"pytest, cut", cut(recorded("pytest")), Kind::unknown},
      {"TAP, cut", cut(recorded("node-tap")), Kind::incomplete},
      {"JUnit, cut", cut(recorded("node-junit")), Kind::incomplete},
      {"go, cut", cut(recorded("go-v")), Kind::incomplete},
      {"go as JSON, cut", cut(recorded("go-json")), Kind::incomplete},
      {"cargo, cut", recorded("cargo").substr(0, 700), Kind::incomplete},
      {"a failure left out", replaced(recorded("pytest"), "FAILED test_a.py::test_bad", "ok"),
       Kind::incomplete},
      {"a failure added", replaced(recorded("pytest"), "FAILED ", "FAILED b.py::c - d\nFAILED "),
       Kind::incomplete},
      {"a second summary",
       replaced(recorded("pytest"), "= FAILURES =",
                "=\n=========== short test summary info ============\nFAILED x.py::y\n= ="),
       Kind::incomplete},
      {"text behind the counts", recorded("pytest") + "5 passed in 1.0 days\n", Kind::unknown},
      {"a test numbered twice", replaced(recorded("bats-tap"), "ok 3", "ok 2"), Kind::incomplete},
      {"a test beyond the plan", recorded("bats-tap") + "ok 4 more\n", Kind::incomplete},
      {"a second plan", recorded("bats-tap") + "1..3\n", Kind::incomplete},
      {"a bail out", replaced(recorded("bats-tap"), "ok 3", "Bail out!\nok 3"), Kind::incomplete},
      {"TAP behind other text", "hello\n" + recorded("bats-tap"), Kind::unknown},
      {"a plan of nothing", "1..0 # skip all\n", Kind::incomplete},
      {"a forged result",
       replaced(recorded("go-v"), "--- FAIL: TestBad",
                "--- PASS: TestBad (0.00s)\n--- FAIL: TestBad"),
       Kind::incomplete},
      {"a result of no test", replaced(recorded("go-v"), "=== RUN   TestBad\n", ""),
       Kind::incomplete},
      {"a line that is no event", recorded("go-json") + "forged\n", Kind::incomplete},
      {"a forged test of cargo",
       replaced(recorded("cargo"), "failures:\n\n----", "test tests::bad ... ok\n\n----"),
       Kind::incomplete},
      {"XML behind other text", "x\n" + recorded("bats-junit"), Kind::unknown},
      {"text behind the XML", recorded("bats-junit") + "forged", Kind::incomplete},
      {"two documents", recorded("bats-junit") + recorded("bats-junit"), Kind::incomplete},
      {"an entity of its own",
       "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a \"b\">]>" +
           recorded("bats-junit").substr(38),
       Kind::incomplete},
      {"tags that do not match", "<testsuite><testcase name='a'></testsuite></testcase>",
       Kind::incomplete},
      {"a suite without a test", "<testsuite name='a'/>", Kind::incomplete},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TestResults results = read_test_results(row.output);
      BOOST_TEST((results.kind == row.kind),
                 static_cast<int>(results.kind) << " " << results.format << " " << results.problem);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_fails_anew_or_no_longer_passes_is_named) {
  const struct {
    const char* name;
    std::string before;
    std::string after;
    const char* says;  ///< "": nothing new
  } rows[] = {
      {"the same", recorded("node-tap"), recorded("node-tap"), ""},
      {"one is mended", recorded("bats-tap"), replaced(recorded("bats-tap"), "not ok 2", "ok 2"),
       ""},
      {"one fails anew", replaced(recorded("bats-tap"), "not ok 2", "ok 2"), recorded("bats-tap"),
       "new failures: bad"},
      {"one is skipped now", recorded("bats-tap"),
       replaced(recorded("bats-tap"), "ok 1 good", "ok 1 good # SKIP"),
       "passed before, and now skipped or missing: good"},
      {"one is missing", recorded("go-v"),
       replaced(recorded("go-v"), "=== RUN   TestGood\n--- PASS: TestGood (0.00s)\n", ""),
       "passed before, and now skipped or missing: example.com/m TestGood"},
      {"a new test fails", recorded("pytest"),
       replaced(replaced(recorded("pytest"), "FAILED ", "FAILED b.py::new - x\nFAILED "),
                "2 failed", "3 failed"),
       "new failures: b.py::new"},
      {"fewer pass", recorded("pytest"), replaced(recorded("pytest"), "3 passed", "2 passed"),
       "2 tests pass, and 3 did before"},
      {"it crashes", recorded("pytest-v"), recorded("pytest-crash"),
       "no complete results of pytest tests, as it had before (it was stopped early)"},
      {"it says nothing any more", recorded("cargo"), "error: could not compile\n",
       "no complete results of cargo test tests, as it had before"},
      {"another format", recorded("node-tap"), recorded("node-junit"),
       "no complete results of TAP tests, as it had before"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TestResults before = read_test_results(row.before);
      BOOST_REQUIRE((before.kind == Kind::complete));

      const std::string found = new_failures(before, read_test_results(row.after));

      BOOST_TEST(found.empty() == (*row.says == '\0'), found);
      BOOST_TEST(found.find(row.says) != std::string::npos, found);
    }
  }
}

BOOST_AUTO_TEST_CASE(names_of_tests_are_told_in_bounds_and_on_one_line) {
  TestResults before{.kind = Kind::complete, .format = "TAP"};
  before.add("a", true);
  TestResults after = before;
  for (int i = 0; i < 1000; ++i) after.add(std::string(5000, 'x') + "\n\x1b[2J", false);

  const std::string found = new_failures(before, after);

  BOOST_TEST(found.size() < 2500u);
  BOOST_TEST(found.find('\n') == std::string::npos);
  BOOST_TEST(found.find('\x1b') == std::string::npos);
  BOOST_TEST(found.find(" and 990 more") != std::string::npos, found);
}

BOOST_AUTO_TEST_SUITE_END()
