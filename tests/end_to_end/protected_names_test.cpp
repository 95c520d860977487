// Protected names that the user's tree lacks: nobody sees them, and what is made there goes. And
// what of the workspace is a run's own.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "core/base/files.h"
#include "core/base/json.h"
#include "core/record/transcript_reader.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Json exec(const std::string& cmd) { return Json::object({{"cmd", cmd}, {"yield_time_ms", 250}}); }

/// The paths that the record says were made and removed, in its order.
std::string made_paths(const RunFolder& folder) {
  std::string text;
  for (const Json& hit : folder.records("check.hit"))
    if (hit.string_at("check") == "protected_path_made")
      text += (text.empty() ? "" : " ") + hit.string_at("saw");
  return text;
}

/// Those with namespaces: without them a protected name that was made ends the run.
std::vector<Caller> callers() {
  std::vector<Caller> some = all_callers();
  std::erase_if(some, [](const Caller& caller) { return !caller.namespaces; });
  return some;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(protected_names)

BOOST_AUTO_TEST_CASE(commands_and_verification_see_the_users_own_names_only) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/README.md", "read me\n");
      folder.write_task(
          CassetteWriter().shell({"ls", "-A"}).next().message("done"),
          "policy: auto\nexpect: {changes: any}\nverify: ['grep -q me *', 'cat *.md']\n");

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(folder.output(0) == "README.md\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_protected_name_that_a_command_makes_is_removed_told_and_on_record) {
  for (const Caller& caller : callers()) {
    for (const char* isolation : {"overlay", "copy"}) {
      BOOST_TEST_CONTEXT(caller.name << ", " << isolation) {
        const RunFolder folder;
        folder.write("work/a.txt", "a\n");
        folder.commit_workspace();
        folder.write_task(
            CassetteWriter()
                .shell(
                    {"sh", "-c", "echo x > Agents.md && mkdir -p docs && cp a.txt docs/CODEOWNERS"})
                .next()
                .shell({"sh", "-c", "ls docs *; echo b > b.txt"})
                .next()
                .message("done"),
            "policy: auto\n");

        const ProgramEnd end = folder.run_as(caller, folder.start({"--isolation", isolation}));

        BOOST_TEST(end.status == 0, end.errors);
        const auto outputs = folder.records("tool.output");
        BOOST_REQUIRE(outputs.size() == 2u);
        BOOST_TEST(!outputs[0]["success"].boolean());
        BOOST_TEST(outputs[0].string_at("verdict") == "protected_path_made");
        BOOST_TEST(has(outputs[0].string_at("shown"), "removed again: Agents.md, docs/CODEOWNERS"),
                   outputs[0].string_at("shown"));
        BOOST_TEST(outputs[1].string_at("output") == "a.txt\n\ndocs:\n\ndocs:\n");
        BOOST_TEST(made_paths(folder) == "Agents.md, docs/CODEOWNERS");
        BOOST_TEST(has(write_json(folder.result()["warnings"]), "docs/CODEOWNERS"));
        BOOST_TEST(folder.artifact("changes.diff").starts_with("diff --git a/b.txt b/b.txt"));
        BOOST_TEST(verify_run(folder.out()).ok);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_repository_that_a_session_makes_serves_no_other_command_or_tool) {
  for (const Caller& caller : callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/a.txt", "a\n");
      folder.write_task(
          CassetteWriter()
              .call("exec_command", exec("read x; git init -q . && echo made; sleep 60"))
              .next()
              .call("write_stdin",
                    Json::object({{"session_id", 1}, {"chars", "go\n"}, {"yield_time_ms", 1000}}))
              .next()
              .call("read_file", Json::object({{"path", ".git/config"}}))
              .call("exec_command", exec("git status"))
              .next()
              .message("done"),
          "policy: auto\ntools: {enable: [exec_command]}\nexpect: {changes: forbidden}\n"
          "verify: ['test ! -e .git']\n");

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST(end.status == 0, end.errors);
      const auto outputs = folder.records("tool.output");
      BOOST_REQUIRE(outputs.size() == 4u);
      BOOST_TEST(!outputs[2]["success"].boolean(true), folder.output(2));
      BOOST_TEST(has(folder.output(3), "not a git repository"), folder.output(3));
      BOOST_TEST(made_paths(folder) == ".git");
      BOOST_TEST(!fs::exists(folder.workspace() / ".git"));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_one_verification_command_makes_the_next_does_not_see) {
  for (const Caller& caller : callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/a.txt", "a\n");
      folder.write_task(
          CassetteWriter().shell({"sh", "-c", "echo b > b.txt"}).next().message("done"),
          "policy: auto\nverify: ['mkdir .github', 'test ! -e .github', 'touch Jenkinsfile']\n");

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(made_paths(folder) == ".github Jenkinsfile");
      BOOST_TEST(has(end.errors, ".github"), end.errors);
      BOOST_TEST(!has(folder.artifact("changes.diff"), "Jenkinsfile"));
    }
  }
}

BOOST_AUTO_TEST_CASE(sandbox_takes_back_what_was_made_in_any_letter_case_and_by_a_glob) {
  for (const Caller& caller : all_callers()) {
    for (const char* made : {"agents.md", ".GitHub", "docs/CODEOWNERS"}) {
      BOOST_TEST_CONTEXT(caller.name << ", " << made) {
        const RunFolder folder;
        folder.write("work/docs/a.txt", "a\n");
        ProgramStart start = folder.start();
        start.argv = {sortie_binary(),
                      "sandbox",
                      "--policy",
                      "auto",
                      "--",
                      "sh",
                      "-c",
                      std::string("mkdir ") + made + "; echo x > b.txt"};
        start.folder = folder.workspace();

        const ProgramEnd end = folder.run_as(caller, start);

        BOOST_TEST(end.status == 8, end.errors);
        BOOST_TEST(has(end.errors, made), end.errors);
        BOOST_TEST(!fs::exists(folder.workspace() / made));
        BOOST_TEST(read_file(folder.workspace() / "b.txt") == "x\n");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_tracked_file_that_hide_names_is_open_to_tools_and_commands_alike) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/.env", "tracked\n");
      folder.commit_workspace();
      folder.write("work/sub/.env", "untracked\n");
      folder.write_task(CassetteWriter()
                            .call("read_file", Json::object({{"path", ".env"}}))
                            .shell({"cat", ".env"})
                            .call("read_file", Json::object({{"path", "sub/.env"}}))
                            .shell({"cat", "sub/.env"})
                            .patch("*** Begin Patch\n*** Update File: .env\n@@\n-tracked\n+new\n"
                                   "*** End Patch\n")
                            .next()
                            .message("done"),
                        "policy: auto\n");

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST(end.status == 0, end.errors);
      std::string succeeded;
      for (const Json& output : folder.records("tool.output"))
        succeeded += output["success"].boolean() ? '+' : '-';
      BOOST_TEST(succeeded == "++--+");
      BOOST_TEST(has(folder.artifact("changes.diff"), "+new"));
    }
  }
}

BOOST_AUTO_TEST_CASE(no_output_of_a_run_is_in_the_view_the_diff_or_a_commit) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/a.txt", "a\n");
      folder.commit_workspace();
      const fs::path out = folder.workspace() / "sortie-out";
      folder.write_task(
          CassetteWriter()
              .shell({"sh", "-c",
                      "grep -rl 'sortie' . --include=*.json --include=*.jsonl; echo b > b.txt"})
              .call("search_files", Json::object({{"pattern", "run_id"}}))
              .next()
              .message("done"),
          "policy: auto\n");
      ProgramStart start = folder.start({"--out", out.string()});
      for (int run = 0; run < 3; ++run) {
        const ProgramEnd end = folder.run_as(caller, start);

        BOOST_TEST(end.status == 0, end.errors);
        const std::string diff = read_file(out / "changes.diff");
        BOOST_TEST(!has(diff, "sortie-out"), diff);
        const std::string record = read_file(out / "transcript.jsonl");
        BOOST_TEST(!has(record, "sortie-out.prev/result.json"));
      }
      for (const char* place : {"sortie-out", "sortie-out.prev"})
        BOOST_TEST(read_file(folder.workspace() / place / ".gitignore") == "*\n");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
