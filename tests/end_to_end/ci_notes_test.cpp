// What the log of a job gets for its system: notes at files and lines, and groups.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <string>

#include "core/files/files.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

using Variables = std::map<std::string, std::string>;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Variables github(const RunFolder& folder) {
  return {{"GITHUB_ACTIONS", "true"}, {"CI", "true"}, {"GITHUB_WORKSPACE", folder.path("")}};
}

ProgramEnd run_with(ProgramStart start, const Variables& variables) {
  for (const auto& [name, value] : variables) start.environment[name] = value;
  return run_program(start);
}

/// A run whose verification fails at a place, and with a call that a rule denies.
void prepare_failing_run(const RunFolder& folder) {
  folder.write("work/src/sum.c", "int sum;\n");
  folder.write("work/test.sh",
               "echo 'src/sum.c:1:5: error: ::wrong, 50% of it'\n"
               "echo 'new.c:7: unused'\necho 'gone.c:2: no such file'\nexit 1\n");
  folder.commit_workspace();
  folder.write("policy.yaml",
               "version: 1\nextends: auto\ncommands:\n  - deny: [touch, x]\n    why: not now\n");
  folder.write_task(CassetteWriter()
                        .shell({"touch", "x"})
                        .patch("*** Begin Patch\n*** Add File: new.c\n+int x;\n*** End Patch\n")
                        .next()
                        .message("done"),
                    "policy: policy.yaml\nverify: {commands: [sh test.sh], rounds: 0}\n");
}

}  // namespace

BOOST_AUTO_TEST_SUITE(ci_notes)

BOOST_AUTO_TEST_CASE(each_error_in_a_task_and_its_policy_is_a_note_at_its_line) {
  const RunFolder folder;
  folder.write("task.yaml",
               "version: 1\nprompt: x\nverifi: 1\npolicy: policy.yaml\nbudget: {\"a,b\": 1}\n");
  folder.write("policy.yaml", "version: 1\ncommand: 2\n");

  const ProgramEnd end = run_with(folder.plain_start(), github(folder));
  const ProgramEnd azure = run_with(
      folder.plain_start(), {{"TF_BUILD", "True"}, {"BUILD_SOURCESDIRECTORY", folder.path("")}});
  const ProgramEnd gitlab = run_with(folder.plain_start(), {{"GITLAB_CI", "true"}});

  BOOST_TEST(end.status == 2);
  BOOST_TEST(end.errors.starts_with(
                 "::error file=task.yaml,line=3,col=1,title=sortie%3A usage::unknown key 'verifi'"),
             end.errors);
  BOOST_TEST(holds(end.errors, "\n::error file=task.yaml,line=5,col="), end.errors);
  BOOST_TEST(holds(end.errors, "\n::error file=policy.yaml,line=2,col=1,"), end.errors);
  BOOST_TEST(holds(end.errors, "\nsortie: usage (2): nothing was started"), end.errors);
  BOOST_TEST(azure.errors.starts_with(
                 "##vso[task.logissue type=error;sourcepath=task.yaml;linenumber=3;columnnumber=1]"
                 "sortie: usage: unknown key 'verifi'"),
             azure.errors);
  BOOST_TEST(gitlab.errors.find("::error") == std::string::npos, gitlab.errors);
}

BOOST_AUTO_TEST_CASE(an_error_without_a_place_is_one_note) {
  const RunFolder folder;
  ProgramStart start = folder.plain_start({"--nosuch"});

  const ProgramEnd end = run_with(start, github(folder));

  BOOST_TEST(end.status == 2);
  BOOST_TEST(end.errors.starts_with("::error title=sortie%3A usage::unknown flag '--nosuch'"),
             end.errors);
}

BOOST_AUTO_TEST_CASE(a_failed_verification_is_noted_at_its_places_and_a_denial_at_its_rule) {
  const RunFolder folder;
  prepare_failing_run(folder);

  const ProgramEnd end = run_with(folder.plain_start(), github(folder));

  BOOST_TEST(end.status == 1, end.errors);
  BOOST_TEST(holds(end.errors, "\n::error title=sortie%3A task-failed::verification failed"),
             end.errors);
  BOOST_TEST(holds(end.errors,
                   "\n::error file=work/src/sum.c,line=1,col=5,title=sh test.sh failed::error: "
                   "::wrong, 50%25 of it\n"),
             end.errors);
  BOOST_TEST(
      holds(end.errors, "\n::error file=work/new.c,line=7,title=sh test.sh failed::unused\n"),
      end.errors);
  BOOST_TEST(!holds(end.errors, "file=work/gone.c"), end.errors);
  BOOST_TEST(holds(end.errors,
                   "\n::warning file=policy.yaml,line=4,title=sortie%3A denied::'touch x' was "
                   "denied: "),
             end.errors);
}

BOOST_AUTO_TEST_CASE(groups_are_begun_and_ended_in_the_words_of_each_system) {
  const RunFolder folder;
  prepare_failing_run(folder);
  const struct {
    const char* variable;
    std::string begin;
    std::string end;
    std::string note;
  } systems[] = {
      {"GITHUB_ACTIONS", "::group::turn ", "::endgroup::\n", "::error "},
      {"GITLAB_CI", "section_start:", "section_end:", ""},
      {"TF_BUILD", "##[group]turn ", "##[endgroup]\n", "##vso[task.logissue type=error"},
      {"TEAMCITY_VERSION", "", "", ""},
  };
  const auto count = [](const std::string& text, const std::string& part) {
    int found = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  for (const auto& system : systems) {
    BOOST_TEST_CONTEXT(system.variable) {
      const ProgramEnd end =
          run_with(folder.plain_start({"--fresh"}), {{system.variable, "2024.1"}, {"CI", "true"}});

      BOOST_TEST(end.status == 1, end.errors);
      for (const auto& other : systems) {
        if (other.begin.empty()) continue;
        const bool own = other.variable == system.variable;
        BOOST_TEST(count(end.errors, "\n" + other.begin) == (own ? 2 : 0), end.errors);
        BOOST_TEST(count(end.errors, "\n" + other.end) == (own ? 2 : 0), end.errors);
        if (!other.note.empty())
          BOOST_TEST(holds(end.errors, "\n" + other.note) == own, end.errors);
      }
      BOOST_TEST(end.output == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_success_has_no_note_of_an_error) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().message("done"), "policy: auto\nexpect: {changes: any}\n");

  const ProgramEnd end = run_with(folder.plain_start(), github(folder));

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(!holds(end.errors, "::error"), end.errors);
}

BOOST_AUTO_TEST_SUITE_END()
