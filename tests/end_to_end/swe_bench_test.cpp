// SWE-bench's format from end to end: instances in, `sortie batch`, predictions out, and the verdict of
// ci/benchmarks/judge_swe_bench.py. docs/benchmarks.md has the files of the batch.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "core/text/text.h"
#include "tests/end_to_end/command_run.h"
#include "tests/end_to_end/made_batch.h"
#include "tests/support/document_blocks.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

/// How each made-up instance is to be judged; what its agent does is in make_instances.py.
const std::map<std::string, std::string> kVerdicts = {
    {"made__shelf-1", "resolved"},   {"made__shelf-2", "resolved"},
    {"made__shelf-3", "unresolved"}, {"made__shelf-4", "unresolved"},
    {"made__shelf-5", "unresolved"}, {"made__clock-1", "empty_patch"},
    {"made__clock-2", "resolved"},   {"made__clock-3", "resolved"},
    {"made__clock-4", "resolved"},   {"made__clock-5", "resolved"},
};

/// The ten instances, their repositories, and the files of docs/benchmarks.md beside them.
class Benchmark {
 public:
  Benchmark() {
    const ProgramEnd made = run_program(
        {.argv = {"python3", "-B", kMadeBatches + "/make_instances.py", folder_.path().string()}});
    BOOST_TEST_REQUIRE(made.status == 0, made.printed());
    write_files(blocks_of("docs/benchmarks.md"), folder_.path());
  }
  const fs::path& path() const { return folder_.path(); }

  ProgramEnd batch(const std::string& url) const {
    return run_program({.argv = {sortie_binary(), "batch", "swe-bench.yaml", "--out", "swe-out", "--jobs",
                                 "2", "--model", "gpt-5-codex"},
                        .folder = path(),
                        .environment = {{"OPENAI_API_KEY", "sk-0123456789abcdef"}, {"SORTIE_BASE_URL", url}}});
  }
  ProgramEnd judge(const std::string& predictions, std::vector<std::string> more = {}) const {
    ProgramStart start{
        .argv = {SORTIE_SOURCE_DIR "/ci/benchmarks/judge_swe_bench.py", "--instances",
                 "instances.jsonl", "--repositories", "repos", "--predictions", predictions, "--test",
                 "/usr/bin/python3 -m unittest -q {test}", "--workers", "2"},
        .folder = path(),
        .environment = {{"PATH", fs::path(sortie_binary()).parent_path().string() + ":" +
                                     std::getenv("PATH")}}};
    start.argv.insert(start.argv.end(), more.begin(), more.end());
    return run_program(start);
  }

 private:
  TemporaryFolder folder_;
};

std::set<std::string> set_of(const Json& list) {
  const auto texts = list.texts();
  return {texts.begin(), texts.end()};
}

std::set<std::string> with_verdict(const std::string& verdict) {
  std::set<std::string> ids;
  for (const auto& [id, each] : kVerdicts)
    if (each == verdict) ids.insert(id);
  return ids;
}

/// made__shelf-1 to 5 are tickets 1 to 5, made__clock-1 to 5 are 6 to 10.
int ticket_of(const std::string& id) {
  return std::stoi(id.substr(id.rfind('-') + 1)) + (holds(id, "clock") ? 5 : 0);
}

std::string prediction(const std::string& id, const std::string& patch) {
  return write_json(Json::object(
             {{"instance_id", id}, {"model_name_or_path", "a"}, {"model_patch", patch}})) +
         "\n";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(swe_bench)

BOOST_AUTO_TEST_CASE(ten_instances_become_predictions_that_are_judged_as_they_deserve) {
  const Benchmark benchmark;
  const CassetteServer server(benchmark.path());

  const ProgramEnd batch = benchmark.batch(server.url());
  const ProgramEnd judged = benchmark.judge("swe-out/predictions.jsonl");

  BOOST_TEST(batch.status == 0, batch.printed());
  BOOST_TEST_REQUIRE(judged.status == 0, judged.printed());
  const Json report = parse_json(judged.output);
  for (const char* verdict : {"resolved", "unresolved", "empty_patch"})
    BOOST_TEST((set_of(report[std::string(verdict) + "_ids"]) == with_verdict(verdict)),
               verdict << "\n" << judged.output);
  BOOST_TEST(report.integer_at("resolved_instances") == 6);
  BOOST_TEST(report.integer_at("unresolved_instances") == 3);
  BOOST_TEST(report.integer_at("error_instances") == 0);
  BOOST_TEST(report.integer_at("submitted_instances") == 10);
  // What the format wants of a prediction, and the diff as it is.
  int lines = 0;
  const std::string predictions = read_file(benchmark.path() / "swe-out/predictions.jsonl");
  for (const auto line : split_lines(predictions)) {
    const Json row = parse_json(line);
    ++lines;
    BOOST_TEST(kVerdicts.contains(row.string_at("instance_id")), line);
    BOOST_TEST(holds(row.string_at("model_name_or_path"), "gpt-5-codex"), line);
    BOOST_TEST(row.string_at("model_patch") ==
               read_file(benchmark.path() / "swe-out/runs" / row.string_at("instance_id") / "changes.diff"));
  }
  BOOST_TEST(lines == 10);
}

// Each agent looks for the solution: in the instances' file, in other commits, in /proc, with its name.
BOOST_AUTO_TEST_CASE(no_agent_finds_the_solution_or_its_tests) {
  const Benchmark benchmark;
  const CassetteServer server(benchmark.path());

  const ProgramEnd batch = benchmark.batch(server.url());

  BOOST_TEST(batch.status == 0, batch.printed());
  const std::string log = server.log();
  BOOST_TEST(sent_responses(log).size() >= 19u);
  BOOST_TEST(holds(log, "No such file or directory"));
  for (const char* secret : {"hidden hint", "FAIL_TO_PASS"}) BOOST_TEST(!holds(log, secret), secret);
  // What was solved before the instance's base_commit is history that everybody may read.
  int requests = 0;
  for (const auto line : split_lines(log)) {
    const Json row = parse_json(line);
    const std::string body = row.string_at("body");
    for (int ticket = ticket_of(row.string_at("cassette")); ticket <= 10; ++ticket)
      for (const char* mark : {"test_hidden_", "gold_"}) {
        const std::regex secret(mark + std::to_string(ticket) + "[^0-9]");
        BOOST_TEST(!std::regex_search(body, secret), mark << ticket << " in " << line);
      }
    ++requests;
  }
  BOOST_TEST(requests >= 19);
  // An issue's text is data: what looks like a variable in it is none.
  BOOST_TEST(holds(log, "{{file:/etc/passwd}}"));
  BOOST_TEST(!holds(log, "root:x:0:0"));
}

BOOST_AUTO_TEST_CASE(the_judge_resolves_the_solutions_and_nothing_without_them) {
  const Benchmark benchmark;
  const ProgramEnd gold = benchmark.judge("gold");
  BOOST_TEST_REQUIRE(gold.status == 0, gold.printed());
  BOOST_TEST(parse_json(gold.output).integer_at("resolved_instances") == 10, gold.output);

  // A patch that does no good, one that does not apply, none for the others.
  const std::string no_good =
      "diff --git a/zz b/zz\nnew file mode 100644\n--- /dev/null\n+++ b/zz\n@@ -0,0 +1 @@\n+zz\n";
  write_file(benchmark.path() / "mine.jsonl",
             prediction("made__shelf-1", no_good) +
                 prediction("made__shelf-2", "--- a/shelf/none.py\n+++ b/shelf/none.py\n@@ -1 +1 @@\n-a\n+b\n") +
                 prediction("made__other-1", no_good));
  const ProgramEnd mine = benchmark.judge("mine.jsonl", {"--report", "report.json"});
  BOOST_TEST_REQUIRE(mine.status == 0, mine.printed());
  BOOST_TEST(holds(mine.errors, "warning: no instance 'made__other-1'"), mine.errors);
  const Json report = parse_json(read_file(benchmark.path() / "report.json"));
  BOOST_TEST((set_of(report["unresolved_ids"]) == std::set<std::string>{"made__shelf-1"}));
  BOOST_TEST((set_of(report["error_ids"]) == std::set<std::string>{"made__shelf-2"}));
  BOOST_TEST(set_of(report["incomplete_ids"]).size() == 8u);
  const Json& status = report["instances"]["made__shelf-1"]["tests_status"];
  BOOST_TEST((status["FAIL_TO_PASS"]["failure"].texts() ==
              std::vector<std::string>{"tests.test_total.Test.test_hidden_1"}));
  BOOST_TEST((status["PASS_TO_PASS"]["success"].texts() ==
              std::vector<std::string>{"tests.test_total.Test.test_none"}));
}

BOOST_AUTO_TEST_CASE(the_judge_says_what_is_wrong_with_its_input) {
  const Benchmark benchmark;
  write_file(benchmark.path() / "twice.jsonl", prediction("a", "") + prediction("a", ""));
  write_file(benchmark.path() / "no-json.jsonl", "{\n");
  write_file(benchmark.path() / "no-id.jsonl", "{\"model_patch\": \"\"}\n");
  const struct {
    const char* predictions;
    const char* words;
  } rows[] = {{"twice.jsonl", "twice.jsonl: instance 'a' is there twice"},
              {"no-json.jsonl", "no-json.jsonl: not JSON"},
              {"no-id.jsonl", "no-id.jsonl:1: expected a text 'instance_id'"},
              {"none.jsonl", "none.jsonl: "}};
  for (const auto& row : rows) {
    const ProgramEnd end = benchmark.judge(row.predictions);
    BOOST_TEST(end.status == 2, end.printed());
    BOOST_TEST(holds(end.errors, row.words), end.errors);
  }
  const ProgramEnd sandbox = benchmark.judge("gold", {"--sandbox", "false --"});
  BOOST_TEST(sandbox.status == 7, sandbox.printed());
}

BOOST_AUTO_TEST_SUITE_END()
