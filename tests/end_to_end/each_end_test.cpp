// What the same command does after each end of a run: the table of docs/resume.md.
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "tests/end_to_end/provider_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

ServedResponse refusal(int status, const std::string& code) {
  return served_status(status, {{"Content-Type", "application/json"}},
                       R"({"error":{"message":"no","code":")" + code + "\"}}");
}

/// A command, and the end.
CassetteWriter script() {
  return CassetteWriter().shell({"sh", "-c", "echo new >> a.txt"}).next().message("done");
}

struct EndedRun : ProviderRun {
  explicit EndedRun(const std::string& model = {}, const std::string& more = {}) {
    write("work/a.txt", "a\n");
    commit_workspace();
    write_task(model, more);
  }
  ProgramEnd again(const std::string& url, std::vector<std::string> flags = {}) const {
    flags.insert(flags.end(), {"--reuse", "success"});
    ProgramStart begin = start(url, flags);
    begin.shows_events = false;
    begin.environment["MY_TOKEN"] = "s3cr3t-of-each-end";
    return run_program(begin);
  }
  void check_verifies() const {
    const ProgramEnd end = run_program({.argv = {sortie_binary(), "verify", out().string()}});
    BOOST_TEST(end.status == 0, end.errors + end.output);
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(each_end)

BOOST_AUTO_TEST_CASE(after_an_end_that_a_retry_does_not_help_it_begins_anew) {
  const struct {
    const char* name;
    int code;
    std::vector<ServedResponse> first;
    std::string more;
    std::string policy{};  ///< in place of the preset auto
  } rows[] = {
      {"task-failed", 1, served(script()), "verify: {commands: ['false'], rounds: 0}\n"},
      {"denied",
       3,
       {served(CassetteWriter().shell({"make"}).next().message("done")).front()},
       "",
       "extends: [strict]\nmax_denials: 1\n"},
      {"refused", 5, {refusal(400, "invalid_value")}, ""},
      {"auth", 6, {refusal(401, "invalid_api_key")}, ""},
      {"environment, before its work",
       7,
       {},
       "",
       "extends: [unsandboxed]\nsandbox: {mode: none, guarantee: [writes]}\n"},
      {"leak", 9,
       served(CassetteWriter()
                  .shell({"sh", "-c", "echo key s3cr3t-of-each-end >> a.txt"})
                  .next()
                  .message("done")),
       ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const EndedRun run("", row.more);
      if (!row.policy.empty()) {
        run.write("policy.yaml", "version: 1\n" + row.policy);
        std::string task = read_file(run.task());
        task.replace(task.find("policy: auto"), 12, "policy: policy.yaml");
        run.write("task.yaml", task);
      }
      std::vector<ServedResponse> responses = row.first;
      const std::vector<ServedResponse> later = row.first;
      responses.insert(responses.end(), later.begin(), later.end());
      const ModelServer server(responses);
      const ProgramEnd first = run.again(base_url(server));
      BOOST_TEST(first.status == row.code, first.errors);
      BOOST_TEST(!run.result()["retryable"].boolean(true));
      BOOST_TEST(!fs::exists(run.out() / "state"));
      const std::string id = run.result().string_at("run_id");

      const ProgramEnd end = run.again(base_url(server));

      BOOST_TEST(end.status == row.code, end.errors);
      BOOST_TEST(run.result().string_at("run_id") != id);
      const Json kept = parse_json(read_file(run.path("out.prev/result.json")));
      BOOST_TEST(kept.string_at("run_id") == id);
      BOOST_TEST(kept.integer_at("exit_code") == row.code);
      run.check_verifies();
    }
  }
}

BOOST_AUTO_TEST_CASE(after_an_end_that_a_retry_helps_it_goes_on_where_it_was) {
  const std::vector<ServedResponse> first = served(script());
  const struct {
    const char* name;
    int code;
    std::vector<ServedResponse> failures;  ///< of one request and its retry
  } rows[] = {{"unavailable", 10, {served_status(503, {}, "{}"), served_status(503, {}, "{}")}},
              {"limited", 11, {served_status(429, {{"Retry-After", "86400"}}, "{}")}}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const EndedRun run;
      std::vector<ServedResponse> responses = {first[0]};
      responses.insert(responses.end(), row.failures.begin(), row.failures.end());
      responses.push_back(first[1]);
      const ModelServer server(responses);
      const ProgramEnd failed = run.again(base_url(server));
      BOOST_TEST(failed.status == row.code, failed.errors);
      BOOST_TEST(run.result()["retryable"].boolean());
      BOOST_TEST(fs::exists(run.out() / "partial.diff"));
      const std::string id = run.result().string_at("run_id");

      const ProgramEnd end = run.again(base_url(server));

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(run.result().string_at("run_id") == id);
      BOOST_TEST(run.records("tool.call").size() == 1u);
      BOOST_TEST(server.requests().size() == responses.size());
      BOOST_TEST(!fs::exists(run.out() / "partial.diff"));
      run.check_verifies();
    }
  }
}

BOOST_AUTO_TEST_CASE(what_could_not_be_handed_over_is_handed_over_without_a_model) {
  const EndedRun run;
  const ModelServer server(served(script()));
  const ProgramEnd full = run.again(base_url(server), {"--diff", "/dev/full"});
  BOOST_TEST(full.status == 7, full.errors);

  const std::string diff = run.path("d.diff").string();
  const ProgramEnd end = run.again(base_url(server), {"--diff", diff});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(server.requests().size() == 2u);
  BOOST_TEST(read_file(diff) == run.artifact("changes.diff"));
  run.check_verifies();
}

BOOST_AUTO_TEST_CASE(a_failure_in_the_own_tree_was_undone_and_begins_anew) {
  const EndedRun run;
  const std::vector<ServedResponse> work = served(script());
  const ServedResponse outage = served_status(503, {}, "{}");
  const ModelServer server({work[0], outage, outage, work[0], work[1]});
  const std::vector<std::string> in_place = {"--isolation", "none"};
  const ProgramEnd failed = run.again(base_url(server), in_place);
  BOOST_TEST(failed.status == 10, failed.errors);
  BOOST_TEST(read_file(run.workspace() / "a.txt") == "a\n");

  const ProgramEnd end = run.again(base_url(server), in_place);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(read_file(run.workspace() / "a.txt") == "a\nnew\n");
  BOOST_TEST(fs::exists(run.path("out.prev/partial.diff")));
  run.check_verifies();
}

BOOST_AUTO_TEST_CASE(what_stood_in_the_way_of_a_start_leaves_nothing_to_go_on_with) {
  const EndedRun run;
  const ModelServer server(served(script()));
  const std::string task = read_file(run.task());
  run.write("task.yaml", task + "promt: x\n");
  BOOST_TEST(run.again(base_url(server)).status == 2);
  BOOST_TEST(!fs::exists(run.out() / "transcript.jsonl"));

  run.write("task.yaml", task);
  const ProgramEnd end = run.again(base_url(server));
  BOOST_TEST(end.status == 0, end.errors);

  // A wrong command does nothing to a success.
  const std::string before = run.artifact("result.json");
  run.write("task.yaml", task + "promt: x\n");
  BOOST_TEST(run.again(base_url(server)).status == 2);
  BOOST_TEST(run.artifact("result.json") == before);
  BOOST_TEST(!fs::exists(run.path("out.prev")));
}

// A row without a test of that name would be an empty promise.
BOOST_AUTO_TEST_CASE(each_row_of_the_document_names_a_test_that_is_there) {
  const fs::path root = SORTIE_SOURCE_DIR;
  const std::string text = read_file(root / "docs/resume.md");
  std::istringstream lines(text.substr(text.find("## After each end")));
  std::string line;
  std::set<std::string> codes;
  std::size_t rows = 0;
  while (std::getline(lines, line)) {
    if (line.starts_with("## ") && rows > 0) break;
    if (!line.starts_with("| ") || line.starts_with("| it ended with")) continue;
    ++rows;
    const std::size_t last = line.rfind("`", line.rfind("`") - 1);
    const std::string named = line.substr(last + 1, line.rfind("`") - last - 1);
    const std::size_t colon = named.find(": ");
    BOOST_REQUIRE_MESSAGE(colon != std::string::npos, line);
    const fs::path file = root / "tests/end_to_end" / named.substr(0, colon);
    BOOST_TEST(read_file(file).find(named.substr(colon + 2) + ") {") != std::string::npos, line);
    std::istringstream words(line.substr(2, line.find(" |", 2) - 2));
    for (std::string word; words >> word;) {
      while (!word.empty() && (word.back() == ',' || word.back() == ':')) word.pop_back();
      codes.insert(word);
    }
  }
  for (const char* code : {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13",
                           "70", "130", "143"})
    BOOST_TEST(codes.count(code) == 1u, code);
}

BOOST_AUTO_TEST_SUITE_END()
