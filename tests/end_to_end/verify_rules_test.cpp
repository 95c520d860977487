// A policy whose command rules hold for the task's verification too.

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

constexpr const char* kPolicy =
    "version: 1\nextends: foreign\n"
    "commands:\n"
    "  - allow: {script: './scripts/*.sh'}\n"
    "  - allow: [sh, -n]\n";

/// A workspace with a script that the policy allows.
void fill(const RunFolder& folder) {
  folder.write("policy.yaml", kPolicy);
  folder.write("work/scripts/check.sh", "#!/bin/sh\ntest -e a.txt\n");
  folder.write("work/a.txt", "a\n");
  std::filesystem::permissions(folder.path("work/scripts/check.sh"), std::filesystem::perms(0755));
  folder.commit_workspace();
}

ProgramEnd run(const RunFolder& folder, const CassetteWriter& cassette, const std::string& verify) {
  folder.write_task(cassette, "expect: {changes: any}\nverify: " + verify + "\n");
  return folder.run({"--policy", folder.path("policy.yaml").string()});
}

std::string patch(const std::string& body) {
  return "*** Begin Patch\n" + body + "*** End Patch\n";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(verify_rules)

BOOST_AUTO_TEST_CASE(rules_judge_the_tasks_verification_before_and_after) {
  const struct {
    const char* name;
    const char* verify;
    int code;
    const char* says;
  } rows[] = {
      {"what a script rule allows", "[{run: [./scripts/check.sh]}]", 0, ""},
      {"what the class allows", "['grep -q a a.txt && ls']", 0, ""},
      {"what no rule allows", "['make test']", 2, "no rule allows make"},
      {"one of two", "[{run: [./scripts/check.sh]}, 'curl http://x']", 2, "no rule allows curl"},
      {"what can't be read", "['ls $(./evil)']", 2, "may not run"},
      {"an argv", "[{run: [python3, -c, 'print(1)']}]", 2, "no rule allows python3"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      fill(folder);

      const ProgramEnd end = run(folder, CassetteWriter().message("done"), row.verify);

      BOOST_TEST(end.status == row.code, end.errors);
      BOOST_TEST(end.errors.find(row.says) != std::string::npos, end.errors);
      BOOST_TEST(std::filesystem::exists(folder.out()) == (row.code == 0));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_script_that_the_agent_has_changed_verifies_nothing) {
  const RunFolder folder;
  fill(folder);
  CassetteWriter cassette;
  cassette.patch(
      patch("*** Update File: scripts/check.sh\n@@\n #!/bin/sh\n-test -e a.txt\n"
            "+true\n"));
  cassette.next();
  cassette.message("done");

  const ProgramEnd end = run(folder, cassette, "[{run: [./scripts/check.sh]}]");

  BOOST_TEST(end.status == 1, end.errors);
  BOOST_TEST(end.errors.find("the verification command './scripts/check.sh' may not run") !=
                 std::string::npos,
             end.errors);
}

BOOST_AUTO_TEST_SUITE_END()
