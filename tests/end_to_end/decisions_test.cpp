#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

using Argv = std::vector<std::string>;

struct Row {
  Argv argv;
  const char* effect;
  const char* says;  ///< a part of the reason, or of the output where it is allowed
};

CassetteWriter cassette_of(const std::vector<Row>& rows) {
  CassetteWriter cassette;
  for (const auto& row : rows) cassette.shell(row.argv).next();
  cassette.message("done");
  return cassette;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(decisions)

BOOST_AUTO_TEST_CASE(under_strict_only_what_a_rule_allows_runs_and_the_transcript_says_why) {
  const std::vector<Row> rows = {
      {{"git", "status"}, "allow", "On branch main"},
      {{"ls"}, "allow", "a.txt"},
      {{"make", "--version"}, "allow", "GNU Make"},
      {{"cargo", "test"}, "allow", ""},
      {{"rm", "x"}, "deny", "no rule"},
      {{"env", "rm", "x"}, "deny", "env"},
      {{"git", "-c", "core.pager=x", "log"}, "deny", "-c"},
      {{"bash", "-c", "ls; rm x"}, "deny", "shell"},
      {{"./ls"}, "deny", "./ls"},
  };
  const RunFolder folder;
  folder.write("work/a.txt", "text\n");
  folder.write("work/x", "kept\n");
  folder.commit_workspace();
  folder.write("policy.yaml",
               "version: 1\nextends: [strict]\ncommands:\n"
               "  - allow: [cargo, [build, test]]\n    why: this job is for it\n"
               "  - allow: [make, --version]\n");
  folder.write_task(cassette_of(rows), "policy: policy.yaml\nexpect: {changes: any}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  const auto approvals = folder.records("approval");
  BOOST_REQUIRE(approvals.size() == rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    BOOST_TEST_CONTEXT(write_json(approvals[i])) {
      const std::string effect = approvals[i].string_at("decision");
      BOOST_TEST(effect == rows[i].effect);
      const std::string text =
          effect == "allow" ? folder.output(i) : approvals[i].string_at("reason");
      BOOST_TEST(text.find(rows[i].says) != std::string::npos, text);
    }
  }
  BOOST_TEST(folder.result()["denials"].items().size() == 5);
}

BOOST_AUTO_TEST_CASE(a_forbidden_call_ends_the_run_and_so_do_too_many_denials) {
  const RunFolder folder;
  folder.write("policy.yaml",
               "version: 1\nextends: [strict]\nmax_denials: 3\ncommands:\n"
               "  - forbid: [sudo]\n");
  folder.write_task(CassetteWriter().shell({"env", "sudo", "ls"}).next().message("done"),
                    "policy: policy.yaml\n");
  BOOST_TEST(folder.run().status == 3);
  BOOST_TEST(folder.records("approval").at(0).string_at("decision") == "forbid");

  CassetteWriter stubborn;
  for (int i = 0; i < 5; ++i) stubborn.shell({"rm", "x"}).next();
  folder.write_task(stubborn, "policy: policy.yaml\n");
  BOOST_TEST(folder.run().status == 3);
  BOOST_TEST(folder.records("approval").size() == 3);
}

BOOST_AUTO_TEST_CASE(a_denied_call_costs_the_model_one_line_that_names_what_is_allowed) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().shell({"rm", "x"}).next().message("done"),
                    "policy: strict\nexpect: {changes: any}\n");

  BOOST_TEST(folder.run().status == 0);

  const std::string output = folder.output(0);
  BOOST_TEST(output.find('\n') >= output.size() - 1, output);
  BOOST_TEST(output.find("rm x") != std::string::npos, output);
  BOOST_TEST(output.find("allowed") != std::string::npos, output);
}

BOOST_AUTO_TEST_CASE(a_patch_may_not_touch_protected_paths_or_leave_the_workspace) {
  const auto add = [](const std::string& path) {
    return "*** Begin Patch\n*** Add File: " + path + "\n+x\n*** End Patch\n";
  };
  const char* paths[] = {".git/hooks/pre-commit", ".github/workflows/ci.yml", "AGENTS.md",
                         "../outside.txt",        "/etc/sortie-test",         "sub/CODEOWNERS"};
  const RunFolder folder;
  folder.write("work/sub/a.txt", "a\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  for (const char* path : paths) cassette.patch(add(path)).next();
  cassette.patch(add("fine.txt")).next().message("done");
  folder.write_task(cassette, "policy: auto\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  const auto outputs = folder.records("tool.output");
  BOOST_REQUIRE(outputs.size() == std::size(paths) + 1);
  for (std::size_t i = 0; i < std::size(paths); ++i)
    BOOST_TEST(!outputs[i]["success"].boolean(true), paths[i]);
  BOOST_TEST(outputs.back()["success"].boolean());
  BOOST_TEST(folder.artifact("changes.diff").find("fine.txt") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
