#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "core/files/files.h"
#include "core/json/json.h"
#include "core/json/json_schema.h"
#include "core/text/text.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

const char* const kSamples[] = {"cpp-library", "python-tool", "stages", "todo-collector",
                                "test-runner"};

/// What the project's own tests end with before the run.
int status_before(const std::string& sample) {
  return sample == "cpp-library" ? 2 : sample == "test-runner" ? 1 : 0;
}

/// A copy of a sample, so that a test may break it.
struct Sample {
  explicit Sample(const std::string& name) {
    copy_tree(fs::path(SORTIE_SOURCE_DIR) / "samples" / name, folder / "sample");
    copy_tree(folder / "sample/project", folder / "before");
  }
  ProgramEnd run(const Caller& caller = {}, const std::string& task = "task.yaml") const {
    give_to(folder.path(), caller.uid);
    ProgramStart start;
    start.argv = {sortie_binary(), "run", (folder / "sample" / task).string(), "--out",
                  (folder / "out").string()};
    start.folder = folder.path();
    start.environment = {{"OPENAI_API_KEY", ""}};
    return run_program(as_caller(caller, std::move(start)));
  }
  TemporaryFolder folder;
};

int shell_status(const fs::path& folder, const std::string& line) {
  ProgramStart start;
  start.argv = {"sh", "-c", line};
  start.folder = folder;
  return run_program(start).status;
}

/// Replaces a line of a patch wherever it stands in the cassette.
std::string break_patch(std::string cassette, const std::string& right, const std::string& wrong) {
  std::size_t place = cassette.find(right);
  BOOST_REQUIRE(place != std::string::npos);
  for (; place != std::string::npos; place = cassette.find(right))
    cassette.replace(place, right.size(), wrong);
  return cassette;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(samples)

BOOST_AUTO_TEST_CASE(each_sample_succeeds_and_its_diff_applies) {
  for (const char* name : kSamples) {
    BOOST_TEST_CONTEXT(name) {
      const Sample sample(name);

      const ProgramEnd end = sample.run();

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(!end.output.empty());
      BOOST_TEST(
          (read_tree(sample.folder / "sample/project") == read_tree(sample.folder / "before")));
      const std::string diff = (sample.folder / "out/changes.diff").string();
      BOOST_TEST(shell_status(sample.folder / "before", "git init -q && git apply " + diff) == 0);
      const char* test =
          std::string(name) == "cpp-library" ? "make -s test" : "/usr/bin/python3 -m unittest -q";
      BOOST_TEST(shell_status(sample.folder / "sample/project", test) == status_before(name));
      BOOST_TEST(shell_status(sample.folder / "before", test) == 0);
      BOOST_TEST(
          run_program({.argv = {sortie_binary(), "verify", (sample.folder / "out").string()}})
              .status == 0);
      BOOST_TEST(!fs::exists(sample.folder / "out/state"));
      // As in a real project, nothing that a run makes is left to git but the change.
      const std::string result = read_file(sample.folder / "out/result.json");
      BOOST_TEST(result.find("in .gitignore") == std::string::npos, result);
    }
  }
}

BOOST_AUTO_TEST_CASE(each_sample_succeeds_whoever_runs_it) {
  for (const auto& caller : all_callers()) {
    for (const char* name : kSamples) {
      BOOST_TEST_CONTEXT(name << " by " << caller.name) {
        const Sample sample(name);

        const ProgramEnd end = sample.run(caller);

        BOOST_TEST(end.status == 0, end.errors);
        BOOST_TEST(
            (read_tree(sample.folder / "sample/project") == read_tree(sample.folder / "before")));
        const Json result = parse_json(read_file(sample.folder / "out/result.json"));
        BOOST_TEST(result["verified"].boolean());
        BOOST_TEST(result["isolation"].string_at("mode") ==
                   (caller.namespaces ? "overlay" : "copy"));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(each_recipe_succeeds_and_changes_what_its_task_allows) {
  const struct {
    const char* name;
    const char* input;    ///< beside the task; "" for none
    const char* changed;  ///< of the diff, in its order
  } rows[] = {
      {"docs-from-code", "", "README.md"},
      {"issue", "", "test_text.py text.py"},
      {"migrate", "", "http_old.py items.py orders.py users.py"},
      {"missing-tests", "", "test_roman.py"},
      {"nightly-lint", "", "clock.py"},
      {"review", "change.diff", ""},
      {"translate", "", "de.json"},
      {"triage", "job.log", ""},
  };
  std::size_t folders = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(SORTIE_SOURCE_DIR) / "samples/recipes"))
    folders += entry.is_directory() ? 1 : 0;
  BOOST_TEST(folders == std::size(rows));
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const Sample sample(std::string("recipes/") + row.name);
      ProgramStart start{
          .argv = {sortie_binary(), "run", (sample.folder / "sample/task.yaml").string(), "--out",
                   (sample.folder / "out").string()},
          .folder = sample.folder.path(),
          .environment = {{"OPENAI_API_KEY", ""}}};
      if (*row.input != '\0') start.input = read_file(sample.folder / "sample" / row.input);

      const ProgramEnd end = run_program(start);

      BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
      BOOST_TEST(
          (read_tree(sample.folder / "sample/project") == read_tree(sample.folder / "before")));
      std::string changed;
      const std::string diff = read_file(sample.folder / "out/changes.diff");
      for (const auto line : split_lines(diff))
        if (line.starts_with("diff --git a/"))
          changed +=
              (changed.empty() ? "" : " ") + std::string(line.substr(13, line.find(" b/") - 13));
      BOOST_TEST(changed == row.changed);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_answer_sample_gives_json_of_its_schema_whoever_runs_it) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT("by " << caller.name) {
      const Sample sample("answer");
      const Json schema = parse_json(read_file(sample.folder / "sample/answer.schema.json"));

      const ProgramEnd end = sample.run(caller);

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(describe(JsonSchema(schema).check(parse_json(end.output))) == "");
      BOOST_TEST(read_file(sample.folder / "out/last-message.json") == end.output);
      BOOST_TEST(read_file(sample.folder / "out/changes.diff") == "");
      const Json result = parse_json(read_file(sample.folder / "out/result.json"));
      BOOST_TEST(result["counts"].integer_at("check_hits") == 1);  // its first answer went back
      BOOST_TEST(result["counts"].integer_at("turns") == 3);
      BOOST_TEST(result["verified"].is_null());
      BOOST_TEST(
          (read_tree(sample.folder / "sample/project") == read_tree(sample.folder / "before")));
      // The lines that are named are those that are meant.
      const std::string code = read_file(sample.folder / "sample/project/notes/store.py");
      const auto lines = split_lines(code);
      const auto findings = parse_json(end.output)["findings"].items();
      BOOST_REQUIRE(findings.size() == 3u);
      const char* const meant[] = {"os.path.join(self.folder, name)", "names.sort(", "with open("};
      for (std::size_t i = 0; i < 3; ++i) {
        const auto line = static_cast<std::size_t>(findings[i].integer_at("line"));
        BOOST_TEST(lines.at(line - 1).find(meant[i]) != std::string_view::npos);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_python_samples_diff_adds_updates_moves_and_deletes) {
  const Sample sample("python-tool");

  BOOST_REQUIRE(sample.run().status == 0);

  const std::string diff = read_file(sample.folder / "out/changes.diff");
  for (const char* line : {"\nnew file mode 100644\n", "\nrename from tally/report.py\n",
                           "\nrename to tally/formats/text.py\n", "\ndeleted file mode 100644\n",
                           "diff --git a/tally/cli.py b/tally/cli.py\n"})
    BOOST_TEST(diff.find(line) != std::string::npos, line);
}

BOOST_AUTO_TEST_CASE(the_samples_with_functions_get_structured_results) {
  const auto results_of = [](const Sample& sample, const std::string& tool) {
    BOOST_REQUIRE(sample.run().status == 0);
    std::vector<Json> results;
    const std::string transcript = read_file(sample.folder / "out/transcript.jsonl");
    for (const auto line : split_lines(transcript)) {
      const Json record = parse_json(line);
      if (record.string_at("type") == "tool.output" && record["data"].string_at("tool") == tool)
        results.push_back(parse_json(record["data"].string_at("output")));
    }
    return results;
  };
  const auto todos = results_of(Sample("todo-collector"), "todos");
  BOOST_REQUIRE(todos.size() == 2u);
  BOOST_TEST(write_json(todos[0]["remarks"]) ==
             R"([{"file":"inventory/stock.py","line":14,"word":"FIXME",)"
             R"("text":"an item that is used up has to be forgotten"}])");
  BOOST_REQUIRE(todos[1]["remarks"].items().size() == 1u);
  BOOST_TEST(todos[1]["remarks"].items()[0].string_at("word") == "TODO");

  const auto tests = results_of(Sample("test-runner"), "unit_tests");
  BOOST_REQUIRE(tests.size() == 3u);
  BOOST_TEST(tests[0].integer_at("passed") == 3);
  BOOST_REQUIRE(tests[0]["failed"].items().size() == 1u);
  BOOST_TEST(tests[0]["failed"].items()[0].string_at("file") == "tests/test_split.py");
  BOOST_TEST(tests[0]["failed"].items()[0].integer_at("line") == 11);
  BOOST_TEST(tests[1].integer_at("run") == 1);
  BOOST_TEST(tests[2].integer_at("passed") == 4);
}

BOOST_AUTO_TEST_CASE(the_sample_with_stages_saves_its_plan_and_mends_what_its_verification_finds) {
  const Sample sample("stages");

  BOOST_REQUIRE(sample.run().status == 0);

  const Json result = parse_json(read_file(sample.folder / "out/result.json"));
  std::string stages;
  for (const Json& stage : result["stages"].items())
    stages += stage.string_at("name") + " " + std::to_string(stage.integer_at("turns")) + "; ";
  BOOST_TEST(stages == "discover 2; plan 1; execute 2; verify 2; document 1; ");
  BOOST_TEST(result["verification"].integer_at("rounds") == 2);
  BOOST_TEST(read_file(sample.folder / "out/plan.md").starts_with("1. Give `slugify`"));
  BOOST_TEST(!result["artifacts"].string_at("plan.md").empty());
}

// What the cassette's words claim stays the same: only the verification can tell.
BOOST_AUTO_TEST_CASE(the_sample_with_a_red_suite_is_held_to_no_new_failures) {
  const Sample sample("red-suite");

  const ProgramEnd end = sample.run();

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  const Json result = parse_json(read_file(sample.folder / "out/result.json"));
  BOOST_TEST(result["verified"].boolean());
  BOOST_TEST(result["verification"].integer_at("rounds") == 2);
  BOOST_TEST(!result["verification"]["before"]["passed"].boolean());
  const Json& after = result["verification"]["after"]["commands"].items().front();
  BOOST_TEST(after.integer_at("exit_code") == 1);
  BOOST_TEST(after.string_at("compared") == "no new failures (failing tests: 1, before: 1)");
  const std::string transcript = read_file(sample.folder / "out/transcript.jsonl");
  BOOST_TEST(transcript.find("new failures: minutes") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_sample_with_two_attempts_keeps_both_and_takes_one_whoever_runs_it) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT("by " << caller.name) {
      const Sample sample("red-suite");

      const ProgramEnd end = sample.run(caller, "attempts.yaml");

      BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
      const fs::path out = sample.folder / "out";
      const Json result = parse_json(read_file(out / "result.json"));
      BOOST_TEST(result["verified"].boolean());
      BOOST_TEST(result["best_of"].integer_at("picked") == 1);
      for (const Json& attempt : result["attempts"].items())
        BOOST_TEST(attempt.string_at("status") == "success");
      const std::string diff = read_file(out / "changes.diff");
      BOOST_TEST(diff == read_file(out / "attempt-1/changes.diff"));
      BOOST_TEST(diff == read_file(out / "attempt-2/changes.diff"));
      BOOST_TEST(
          (read_tree(sample.folder / "sample/project") == read_tree(sample.folder / "before")));
      const ProgramEnd verified = run_program({.argv = {sortie_binary(), "verify", out.string()}});
      BOOST_TEST(verified.status == 0, verified.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_sample_whose_patch_is_broken_fails_whatever_its_words_say) {
  const struct {
    const char* sample;
    const char* right;
    const char* wrong;
  } rows[] = {
      {"cpp-library", "return a_numeric ? -1 : 1;", "return a_numeric ? 1 : -1;"},
      {"python-tool", "return json.dumps(counts)", "return json.dumps(list(counts))"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.sample) {
      const Sample sample(row.sample);
      const fs::path cassette = sample.folder / "sample/cassette.jsonl";
      std::string text = break_patch(read_file(cassette), row.right, row.wrong);
      // The agent insists, round after round.
      const auto lines = split_lines(text);
      const std::string last(lines.back());
      write_file(cassette, text + last + "\n" + last + "\n" + last + "\n");

      const ProgramEnd end = sample.run();

      BOOST_TEST(end.status == 1, end.errors);
      BOOST_TEST(end.output.empty());
      BOOST_TEST(!fs::exists(sample.folder / "out/changes.diff"));
      BOOST_TEST(fs::exists(sample.folder / "out/partial.diff"));
      const Json result = parse_json(read_file(sample.folder / "out/result.json"));
      BOOST_TEST(result.string_at("status") == "task-failed");
      BOOST_TEST(result["verified"].is_boolean());
      BOOST_TEST(result["verified"].boolean(true) == false);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_batch_of_samples_succeeds_and_is_returned_the_second_time) {
  const TemporaryFolder folder;
  copy_tree(fs::path(SORTIE_SOURCE_DIR) / "samples", folder / "samples");
  for (int time = 0; time < 2; ++time) {
    const ProgramEnd end =
        run_program({.argv = {sortie_binary(), "batch", "samples/batch/manifest.yaml"},
                     .folder = folder.path(),
                     .environment = {{"OPENAI_API_KEY", ""}}});

    BOOST_TEST(end.status == 0, end.errors);
    BOOST_TEST(end.errors.find("2 of 2 runs succeeded") != std::string::npos, end.errors);
  }
  BOOST_TEST(fs::exists(folder / "sortie-batch/runs/python-tool/changes.diff"));
}

BOOST_AUTO_TEST_SUITE_END()
