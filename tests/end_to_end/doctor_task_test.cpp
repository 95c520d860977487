// `sortie doctor --task`: what a task's verification needs and this machine lacks, and what of it was
// not looked at.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "tests/end_to_end/init_run.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

/// `sortie doctor --task task.yaml`, with a key for the model.
ProgramEnd doctor(const InitRun& run, const Arguments& more = {}) {
  ProgramStart start = start_command(run, {"doctor", "--task", "task.yaml"});
  start.argv.insert(start.argv.end(), more.begin(), more.end());
  start.environment["OPENAI_API_KEY"] = "sk-test-of-doctor-0123456789";
  return run_program(start);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(doctor_task)

BOOST_AUTO_TEST_CASE(doctor_tells_what_a_task_lacks) {
  const InitRun run;
  run.write("work/task.yaml",
            "version: 1\nprompt: x\nverify: [cd . && no-such-program --x, [no-such-other], "
            "./own.sh]\n");
  const ProgramEnd end = doctor(run, {"--json"});
  BOOST_TEST(end.status == 7, end.errors);
  const Json report = parse_json(end.output)["task"];
  BOOST_REQUIRE(report["problems"].items().size() == 2u);
  BOOST_TEST(holds(report["problems"].items()[0].text(), "no-such-program"));
  BOOST_TEST(holds(report["problems"].items()[1].text(), "no-such-other"));

  run.write("work/task.yaml", "version: 1\nprompt: x\nverifi: []\n");
  const ProgramEnd wrong = doctor(run);
  BOOST_TEST(wrong.status == 2);
  BOOST_TEST(holds(wrong.errors, "task.yaml:3:1: error: unknown key 'verifi'"), wrong.errors);
}

BOOST_AUTO_TEST_CASE(doctor_claims_nothing_of_what_it_has_not_looked_at) {
  const struct {
    const char* command;
    std::vector<std::string> found, missing, unchecked;
    const char* said;
  } rows[] = {
      {"sh -c true", {"sh"}, {}, {}, "sh -c true: found: sh\n"},
      {"env true && no-such-program",
       {"env"},
       {"no-such-program"},
       {},
       "NOT on PATH: no-such-program; found: env\n"},
      {"cd . && true", {}, {}, {}, "needs no program\n"},
      {"env python3 -m unittest", {"env"}, {}, {}, "found: env\n"},
      {"cat -m pytest", {"cat"}, {}, {}, "found: cat\n"},
      {"\"$TMPDIR/venv/bin/python\" -m pytest -q",
       {},
       {},
       {"$TMPDIR/venv/bin/python, whose place is known only then", "the Python module pytest"},
       "not looked at: $TMPDIR/venv/bin/python, whose place is known only then, the Python module"},
      {"BUNDLE_PATH=\"$TMPDIR/b\" no-such-bundle exec rspec",
       {},
       {"no-such-bundle"},
       {},
       "NOT on PATH: no-such-bundle\n"},
      {"cat -B \"$TMPDIR/build\"", {"cat"}, {}, {}, "found: cat\n"},
      {"x=$(cat a); cat $x", {}, {}, {"this script"}, "not looked at: this script\n"},
      {"./made-later",
       {},
       {},
       {"./made-later, which is not there yet"},
       "not looked at: ./made-later, which is not there yet\n"},
      {"./own.sh", {"./own.sh"}, {}, {}, "found: ./own.sh\n"},
  };
  const auto texts = [](const Json& list) {
    std::vector<std::string> all;
    for (const Json& one : list.items()) all.push_back(one.text());
    return all;
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.command) {
      const InitRun run;
      run.write("work/own.sh", "#!/bin/sh\n");
      fs::permissions(run.workspace() / "own.sh", fs::perms::owner_all);
      run.write("work/task.yaml", "version: 1\nprompt: x\nverify: [" +
                                      write_json(Json(std::string(row.command))) + "]\n");

      const ProgramEnd end = doctor(run, {"--json"});
      const ProgramEnd shown = doctor(run);

      const Json one = parse_json(end.output)["task"]["verification"].items().front();
      BOOST_TEST(texts(one["programs"]) == row.found, boost::test_tools::per_element());
      BOOST_TEST(texts(one["missing"]) == row.missing, boost::test_tools::per_element());
      BOOST_TEST(texts(one["unchecked"]) == row.unchecked, boost::test_tools::per_element());
      BOOST_TEST(holds(shown.output, row.said), shown.output);
      BOOST_TEST((end.status == 0) == row.missing.empty(), end.output);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_program_that_can_t_be_executed_is_a_problem) {
  const InitRun run;
  run.write("work/own.sh", "#!/bin/sh\n");
  run.write("work/task.yaml", "version: 1\nprompt: x\nverify: [./own.sh]\n");
  const ProgramEnd end = doctor(run);
  BOOST_TEST(end.status == 7, end.output);
  BOOST_TEST(holds(end.output, "problem: ./own.sh is not executable; './own.sh' needs it\n"),
             end.output);
}

BOOST_AUTO_TEST_CASE(the_java_of_a_wrapper_is_looked_for) {
  const InitRun run(ProjectFiles{{"pom.xml", ""}, {"mvnw", "#!/bin/sh\n"}});
  fs::permissions(run.workspace() / "mvnw", fs::perms::owner_all);
  BOOST_TEST(run.init().status == 0);
  ProgramStart start = start_command(run, {"doctor", "--task", ".sortie/task.yaml"});
  start.environment["PATH"] = "/usr/sbin";  // a folder of programs, none of them java
  const ProgramEnd without = run_program(start);
  BOOST_TEST(holds(without.output, "found: ./mvnw\n"), without.output);
  BOOST_TEST(holds(without.output, "note: java is not on the PATH of commands; mvnw needs it"),
             without.output);
}

BOOST_AUTO_TEST_CASE(init_says_what_was_not_looked_at) {
  const InitRun run(ProjectFiles{{"pytest.ini", ""}});
  const ProgramEnd end = run.init();
  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(!holds(end.output, "the task can run here"), end.output);
  BOOST_TEST(holds(end.output, "  not looked at: the Python module pytest\n"), end.output);
}

BOOST_AUTO_TEST_CASE(what_keeps_the_model_from_being_asked_is_a_problem) {
  const std::string key = "sk-test-of-doctor-0123456789";
  const std::string own = "model: {provider: openai, name: gpt-5}\n";
  const std::string fallback =
      "model: {provider: openai, name: gpt-5, fallback: [{provider: anthropic, name: "
      "claude-sonnet-4-5}]}\n";
  const struct {
    const char* name;
    std::string model;
    std::map<std::string, std::string> environment;
    Arguments flags;
    std::string problem;  ///< its beginning; "": none
    std::string note;
  } rows[] = {
      {"all is there", own, {{"OPENAI_API_KEY", key}}, {}, "", ""},
      {"no key",
       own,
       {},
       {},
       "no key for the model: set the variable OPENAI_API_KEY, or use --api-key-file or --auth-file",
       ""},
      {"no key of another provider",
       "model: {provider: anthropic, name: claude-sonnet-4-5}\n",
       {{"OPENAI_API_KEY", key}},
       {},
       "no key for the model: set the variable ANTHROPIC_API_KEY, or use --api-key-file",
       ""},
      {"no key in a variable of the task's",
       "model: {name: gpt-5, api_key_env: TEAM_KEY}\n",
       {{"OPENAI_API_KEY", key}},
       {},
       "no key for the model: set the variable TEAM_KEY",
       ""},
      {"an address that the key may not go to",
       own,
       {{"OPENAI_API_KEY", key}, {"OPENAI_BASE_URL", "http://127.0.0.1:18765/v1"}},
       {},
       "OPENAI_BASE_URL: OPENAI_API_KEY may not go to 127.0.0.1:18765 (",
       ""},
      {"a server on this machine needs no key",
       own,
       {{"OPENAI_BASE_URL", "http://127.0.0.1:18765/v1"}},
       {},
       "",
       ""},
      {"an address of the operator's",
       own,
       {{"OPENAI_API_KEY", key}, {"SORTIE_BASE_URL", "http://127.0.0.1:18765/v1"}},
       {},
       "",
       ""},
      {"an address that is none",
       own,
       {{"OPENAI_API_KEY", key}, {"OPENAI_BASE_URL", "nonsense"}},
       {},
       "task.yaml:4:19: error: address 'nonsense'",
       ""},
      {"a fallback with a key",
       fallback,
       {{"ANTHROPIC_API_KEY", key}},
       {},
       "",
       "no key for the model: set the variable OPENAI_API_KEY"},
      {"a fallback without one",
       fallback,
       {},
       {},
       "no key for the model: set the variable OPEN",
       ""},
      {"a key file that is not there",
       own,
       {},
       {"--api-key-file", "/nowhere/key"},
       "--api-key-file /nowhere/key: No such file",
       ""},
      {"a recording", "model: {provider: replay, cassette: c.jsonl}\n", {}, {}, "", ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const InitRun run;
      run.write("work/c.jsonl", "");
      run.write("work/task.yaml", "version: 1\nprompt: x\nverify: ['true']\n" + row.model);
      const auto with = [&](Arguments words) {
        words.insert(words.end(), row.flags.begin(), row.flags.end());
        ProgramStart start = start_command(run, words);
        for (const char* name : {"ANTHROPIC_API_KEY", "OPENAI_BASE_URL", "TEAM_KEY"})
          start.environment[name] = "";
        for (const auto& [name, value] : row.environment) start.environment[name] = value;
        return run_program(start);
      };

      const ProgramEnd end = with({"doctor", "--task", "task.yaml", "--json"});

      const Json report = parse_json(end.output)["task"];
      BOOST_TEST(end.status == (row.problem.empty() ? 0 : 7), end.output);
      const auto problems = report["problems"].items();
      BOOST_TEST(problems.size() == (row.problem.empty() ? 0u : 1u), end.output);
      if (!problems.empty()) BOOST_TEST(problems[0].text().starts_with(row.problem), end.output);
      BOOST_TEST(holds(write_json(report["notes"]), row.note), end.output);
      BOOST_TEST(!holds(end.output, key));
      if (row.problem.empty()) continue;
      // It is no false alarm.
      const ProgramEnd refused = with({"run", "task.yaml", "--out", run.path("o").string()});
      BOOST_TEST((refused.status == 2 || refused.status == 6), refused.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(init_says_that_the_model_can_t_be_asked) {
  const InitRun run(ProjectFiles{{"Makefile", "test:\n\ttrue\n"}});
  ProgramStart start = start_command(run, {"init"});
  start.environment["OPENAI_API_KEY"] = "sk-test-of-doctor-0123456789";
  start.environment["OPENAI_BASE_URL"] = "";
  const ProgramEnd fine = run_program(start);
  start.environment["OPENAI_BASE_URL"] = "http://127.0.0.1:18765/v1";
  const ProgramEnd address = run_program(start);
  start.environment["OPENAI_BASE_URL"] = start.environment["OPENAI_API_KEY"] = "";
  const ProgramEnd key = run_program(start);

  BOOST_TEST(holds(fine.output, "doctor: the task can run here\n"), fine.output);
  for (const auto& [end, line] :
       {std::pair(address, "\n  OPENAI_BASE_URL: OPENAI_API_KEY may not go to 127.0.0.1:18765"),
        std::pair(key, "\n  no key for the model: set the variable OPENAI_API_KEY")}) {
    BOOST_TEST(end.status == 0, end.errors);
    BOOST_TEST(holds(end.output, "doctor: something is missing here ("), end.output);
    BOOST_TEST(holds(end.output, line), end.output);
  }
}

BOOST_AUTO_TEST_SUITE_END()
