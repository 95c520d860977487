// What a batch gives to a CI system: notes, outputs and summary of the step, the file of --status-file.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/text/text.h"
#include "tests/end_to_end/batch_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// NAME<<DELIMITER, VALUE, DELIMITER: as GitHub reads them.
std::map<std::string, std::string> outputs_in(const std::string& text) {
  std::map<std::string, std::string> outputs;
  const std::vector<std::string_view> lines = split_lines(text);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t sign = lines[i].find("<<");
    if (sign == std::string_view::npos) continue;
    const std::string_view delimiter = lines[i].substr(sign + 2);
    std::string value;
    const std::string name(lines[i].substr(0, sign));
    while (++i < lines.size() && lines[i] != delimiter)
      value += (value.empty() ? "" : "\n") + std::string(lines[i]);
    outputs[name] = value;
  }
  return outputs;
}

std::size_t times(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

/// Three runs, of which one fails.
class CiBatch : public BatchFolders {
 public:
  CiBatch() {
    write_manifest(3, "keep_going: true\n");
    server.fail("run-2");
    write("outputs", "");
    write("summary", "");
  }
  ProgramEnd run(const std::map<std::string, std::string>& variables,
                 const std::vector<std::string>& flags = {}) const {
    ProgramStart start = batch(server.url(), flags);
    for (const auto& [name, value] : variables) start.environment[name] = value;
    return run_program(start);
  }
  std::map<std::string, std::string> github() const {
    return {{"GITHUB_ACTIONS", "true"},
            {"GITHUB_OUTPUT", path("outputs").string()},
            {"GITHUB_STEP_SUMMARY", path("summary").string()}};
  }
  Json status() const { return parse_json(read_file(path("status"))); }

  CountingServer server;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_outputs)

BOOST_AUTO_TEST_CASE(a_step_of_github_gets_notes_outputs_and_a_summary_of_the_batch_alone) {
  const CiBatch folders;

  const ProgramEnd end = folders.run(folders.github());

  BOOST_TEST(end.status == 1, end.errors);
  BOOST_TEST(end.output.empty());
  BOOST_TEST(times(end.errors, "::error ") == 1u, end.errors);
  BOOST_TEST(has(end.errors, "::error title=sortie%3A task-failed::run-2: "), end.errors);
  // Runs at the same time can't be groups of one log.
  BOOST_TEST(!has(end.errors, "::group::"), end.errors);
  const auto outputs = outputs_in(read_file(folders.path("outputs")));
  const std::map<std::string, std::string> expected = {
      {"status", "task-failed"},
      {"exit-code", "1"},
      {"results-path", (folders.dir() / "results.jsonl").string()},
      {"summary-path", (folders.dir() / "summary.md").string()},
      {"succeeded", "2"},
      {"failed", "1"},
      {"cost-usd", "0.00135"},
      {"tokens", "660"}};
  for (const auto& [name, value] : expected)
    BOOST_TEST((outputs.contains(name) && outputs.at(name) == value),
               name << ": " << read_file(folders.path("outputs")));
  BOOST_TEST(outputs.size() == expected.size());
  const std::string summary = read_file(folders.path("summary"));
  BOOST_TEST(has(summary, "2 of 3 runs succeeded"), summary);
  BOOST_TEST(times(summary, "## sortie") == 1u, summary);
  BOOST_TEST(has(read_file(folders.dir() / "logs/run-2.log"), "task-failed (1)"));
}

BOOST_AUTO_TEST_CASE(other_systems_get_what_they_know) {
  const struct {
    const char* variable;
    const char* value;
    const char* note;  ///< null: the system has none
  } rows[] = {
      {"TF_BUILD", "True", "##vso[task.logissue type=error"},
      {"GITLAB_CI", "true", nullptr},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.variable) {
      const CiBatch folders;

      const ProgramEnd end = folders.run({{row.variable, row.value}}, {"-v"});

      BOOST_TEST(end.status == 1, end.errors);
      BOOST_TEST(times(end.errors, "##vso[task.logissue") == (row.note == nullptr ? 0u : 1u),
                 end.errors);
      if (row.note != nullptr) BOOST_TEST(has(end.errors, row.note), end.errors);
      BOOST_TEST(!has(end.errors, "::error"), end.errors);
      // Of the runs' own logs no line begins a group in that of the job.
      BOOST_TEST(!has(end.errors, "\nsection_start:"), end.errors);
      BOOST_TEST(!has(end.errors, "\n##[group]"), end.errors);
      BOOST_TEST(has(end.errors, "run-2 | sortie: task-failed (1)"), end.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(an_error_in_the_manifest_is_a_note_at_its_line) {
  const CiBatch folders;
  folders.write("batch.yaml", "version: 1\ntask: [task.yaml]\n");

  const ProgramEnd end = folders.run(folders.github(), {"--status-file", "../status"});

  BOOST_TEST(end.status == 2);
  BOOST_TEST(has(end.errors, "::error "), end.errors);
  BOOST_TEST(has(end.errors, "line=2"), end.errors);
  BOOST_TEST(folders.status().string_at("status") == "usage");
  BOOST_TEST(folders.status().integer_at("exit_code") == 2);
  BOOST_TEST(has(folders.status().string_at("reason"), "did you mean 'tasks'?"));
}

BOOST_AUTO_TEST_CASE(the_status_file_has_the_outcome_in_one_line) {
  const CiBatch folders;

  const ProgramEnd end = folders.run({}, {"--status-file", folders.path("status").string()});

  BOOST_TEST(end.status == 1, end.errors);
  const std::string line = read_file(folders.path("status"));
  BOOST_TEST(line.ends_with('\n'));
  BOOST_TEST(times(line, "\n") == 1u);
  const Json status = folders.status();
  BOOST_TEST(status.string_at("status") == "task-failed");
  BOOST_TEST(status.integer_at("exit_code") == 1);
  BOOST_TEST(has(status.string_at("reason"), "2 of 3 runs succeeded; 1 failed: run-2"), line);
  BOOST_TEST(!status["retryable"].boolean(true));
  BOOST_TEST(status.integer_at("runs") == 3);
  BOOST_TEST(status.integer_at("succeeded") == 2);
  BOOST_TEST(status.integer_at("failed") == 1);
  BOOST_TEST(status.integer_at("tokens") == 660);
  BOOST_TEST(status["cost_usd"].real().value_or(0) > 0.001);
  BOOST_TEST(status.string_at("out") == folders.dir().string());

  folders.write("status", "my notes\n");
  const ProgramEnd refused = folders.run({}, {"--status-file", folders.path("status").string()});

  BOOST_TEST(refused.status == 2);
  BOOST_TEST(has(refused.errors, "holds something else than a status"), refused.errors);
  BOOST_TEST(read_file(folders.path("status")) == "my notes\n");
}

BOOST_AUTO_TEST_SUITE_END()
