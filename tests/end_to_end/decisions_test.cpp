#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

using Argv = std::vector<std::string>;

struct Row {
  Argv argv;
  const char* effect;
  const char* says;  ///< a part of what was denied and why, or of the output
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
      {{"env", "rm", "x"}, "deny", "rm x: no rule allows rm"},
      {{"git", "-c", "core.pager=x", "log"}, "deny", "global git option"},
      {{"bash", "-c", "ls; rm x"}, "deny", "rm x: no rule allows rm (command 2 of the script)"},
      {{"bash", "-lc", "cd sub && cat <b.txt 2>&1 | grep -n . && cat *.txt"}, "allow", "1:inner"},
      {{"sh", "-c", "git log --oneline | head -n 1; ls a* >/dev/null"}, "allow", "start"},
      {{"sh", "-c", "cat $HOME/x"}, "deny", "$HOME/x: the script can't be checked at column 5"},
      {{"sh", "-c", "cat <.env"}, "deny", "paths.hide"},
      {{"./ls"}, "deny", "./ls"},
  };
  const RunFolder folder;
  folder.write("work/a.txt", "text\n");
  folder.write("work/x", "kept\n");
  folder.write("work/sub/b.txt", "inner\n");
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
      const std::string text = effect == "allow" ? folder.output(i)
                                                 : approvals[i].string_at("part") + ": " +
                                                       approvals[i].string_at("reason");
      BOOST_TEST(text.find(rows[i].says) != std::string::npos, text);
    }
  }
  BOOST_TEST(folder.result()["denials"].items().size() == 7);
}

BOOST_AUTO_TEST_CASE(git_runs_no_program_that_a_repository_names) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.write("work/.gitattributes", "* filter=evil diff=evil\n");
  folder.write("work/inc.cfg", "[filter \"evil\"]\n\tclean = touch RAN_FILTER; cat\n");
  folder.commit_workspace();
  const auto config = folder.workspace() / ".git" / "config";
  write_file(config, read_file(config, 1 << 20) +
                         "[include]\n\tpath = ../inc.cfg\n"
                         "[core]\n\tfsmonitor = touch RAN_MONITOR\n"
                         "[log]\n\tshowSignature = true\n"
                         "[diff \"evil\"]\n\ttextconv = \"f() { touch RAN_CONV; cat $1; }; f\"\n");
  folder.write("work/a.txt", "b\n");
  CassetteWriter cassette;
  for (const char* command : {"status", "diff", "log", "grep", "blame"}) {
    Argv argv = {"git", command};
    if (argv[1] == "log") argv.push_back("-p");
    if (argv[1] == "grep") argv.push_back("b");
    if (argv[1] == "blame") argv.push_back("a.txt");
    cassette.shell(argv).next();
  }
  // A repository that the model makes itself: one with a `.git`, and one that is bare.
  cassette.patch("*** Begin Patch\n*** Add File: nest/.git/HEAD\n+x\n*** End Patch\n").next();
  cassette
      .patch(
          "*** Begin Patch\n*** Add File: bare/HEAD\n+ref: refs/heads/main\n"
          "*** Add File: bare/objects/x\n+x\n*** Add File: bare/refs/x\n+x\n"
          "*** Add File: bare/config\n+[core]\n+\trepositoryformatversion = 0\n"
          "+[diff]\n+\texternal = \"touch RAN_BARE;\"\n*** End Patch\n")
      .next();
  cassette
      .call("shell",
            Json::object({{"command", Json::array({"git", "diff", "--no-index", "HEAD", "config"})},
                          {"workdir", "bare"}}))
      .next();
  // What the configuration includes can't be written either.
  cassette
      .patch(
          "*** Begin Patch\n*** Update File: inc.cfg\n@@\n-[filter \"evil\"]\n+[x]\n"
          "*** End Patch\n")
      .next();
  cassette.shell({"bash", "-lc", "git status --short && git diff | cat"}).next();
  cassette.shell({"find", ".", "-name", "RAN_*"}).next().message("done");
  folder.write_task(cassette, "policy: strict\nexpect: {changes: any}\n");

  const ProgramEnd end = folder.run({"--isolation", "copy"});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(folder.output(0).find("modified:   a.txt") != std::string::npos);
  BOOST_TEST(folder.output(9).find("+b") != std::string::npos, folder.output(9));
  BOOST_TEST(folder.output(10).find("RAN_") == std::string::npos, folder.output(10));
  std::vector<std::string> denied;
  for (const auto& approval : folder.records("approval"))
    if (approval.string_at("decision") != "allow") denied.push_back(approval.string_at("part"));
  BOOST_TEST(denied.size() == 2);
  BOOST_TEST(folder.records("tool.output")[5]["success"].boolean() == false);
  BOOST_TEST(folder.records("tool.output")[8]["success"].boolean() == false);
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
  BOOST_TEST(output.find("Instead: delete files with apply_patch") != std::string::npos, output);
  const Json denial = folder.result()["denials"].items().at(0);
  BOOST_TEST(write_json(denial["would_allow"]) == R"({"commands":[{"allow":["rm","x"]}]})");
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
