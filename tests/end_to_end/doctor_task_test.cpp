// `sortie doctor --task`: what a task's verification needs and this machine lacks, and what of it was
// not looked at.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <filesystem>

#include "tests/end_to_end/init_run.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(doctor_task)

BOOST_AUTO_TEST_CASE(doctor_tells_what_a_task_lacks) {
  const InitRun run;
  run.write("work/task.yaml",
            "version: 1\nprompt: x\nverify: [cd . && no-such-program --x, [no-such-other], "
            "./own.sh]\n");
  const ProgramEnd end = run.sortie({"doctor", "--task", "task.yaml", "--json"});
  BOOST_TEST(end.status == 7, end.errors);
  const Json report = parse_json(end.output)["task"];
  BOOST_REQUIRE(report["problems"].items().size() == 2u);
  BOOST_TEST(holds(report["problems"].items()[0].text(), "no-such-program"));
  BOOST_TEST(holds(report["problems"].items()[1].text(), "no-such-other"));

  run.write("work/task.yaml", "version: 1\nprompt: x\nverifi: []\n");
  const ProgramEnd wrong = run.sortie({"doctor", "--task", "task.yaml"});
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

      const ProgramEnd end = run.sortie({"doctor", "--task", "task.yaml", "--json"});
      const ProgramEnd shown = run.sortie({"doctor", "--task", "task.yaml"});

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
  const ProgramEnd end = run.sortie({"doctor", "--task", "task.yaml"});
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

BOOST_AUTO_TEST_SUITE_END()
