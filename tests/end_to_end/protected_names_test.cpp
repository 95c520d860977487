// Protected names that the user's tree lacks: nobody sees them, and what is made there goes. And
// what of the workspace is a run's own.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
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
        BOOST_TEST(has(outputs[0].string_at("shown"),
                       "nothing may create them: Agents.md, docs/CODEOWNERS"),
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

BOOST_AUTO_TEST_CASE(a_file_moved_under_a_protected_name_is_kept_and_its_loss_is_no_success) {
  for (const Caller& caller : callers()) {
    for (const char* isolation : {"overlay", "copy"}) {
      for (const bool comes_back : {false, true}) {
        BOOST_TEST_CONTEXT(caller.name << ", " << isolation << ", " << comes_back) {
          const RunFolder folder;
          folder.write("work/CONTRIBUTING.md", "how to\n");
          folder.write("work/src/a.c", "int a;\n");
          folder.commit_workspace();
          folder.write_task(
              CassetteWriter()
                  .shell({"sh", "-c", "mv CONTRIBUTING.md AGENTS.md; mv src .GitHub; echo b > b"})
                  .next()
                  .shell({"sh", "-c",
                          comes_back ? "mkdir src; echo 'int a;' > src/a.c;"
                                       "echo 'how to' > CONTRIBUTING.md"
                                     : "true"})
                  .next()
                  .message("done"),
              "policy: auto\n");

          const ProgramEnd end = folder.run_as(caller, folder.start({"--isolation", isolation}));

          BOOST_TEST(end.status == (comes_back ? 0 : 8), end.errors);
          BOOST_TEST(folder.artifact("kept/AGENTS.md.taken") == "how to\n");
          BOOST_TEST(folder.artifact("kept/.GitHub.taken/a.c") == "int a;\n");
          BOOST_TEST(has(write_json(folder.result()["kept"]), "AGENTS.md.taken"));
          if (!comes_back)
            BOOST_TEST(has(folder.result().string_at("reason"), "kept/"), end.errors);
        }
      }
    }
  }
}

struct LinkRow {
  const char* given;   ///< made in the workspace before
  const char* script;  ///< what the agent runs
  int status;
};

/// Protected are AGENTS.md, Jenkinsfile, ci/deploy.yml and .circleci/config.yml.
constexpr LinkRow kLinkRows[] = {
    {"true", "mkdir evil; echo x > evil/config.yml; ln -s evil .circleci", 8},
    {"true", "mkdir evil; echo x > evil/config.yml; ln -s evil .CircleCI", 8},
    {"mkdir ci; echo a > ci/deploy.yml", "mkdir e2; echo x > e2/deploy.yml; mv ci c; ln -s e2 ci",
     -1},
    {"mkdir real; echo a > real/deploy.yml; ln -s real ci",
     "mkdir e2; echo x > e2/deploy.yml; rm ci; ln -s e2 ci", 8},
    {"mkdir real; echo a > real/deploy.yml; ln -s real ci", "mv real r; mkdir real; echo x > b",
     -1},
    {"mkdir docs; echo a > docs/a.md; ln -s docs/a.md l2; ln -s l2 AGENTS.md",
     "echo x > docs/a.md || echo x > b; echo y > c", 0},
    {"mkdir docs; echo a > docs/a.md; ln -s docs/a.md l2; ln -s l2 AGENTS.md",
     "echo x > docs/b.md; ln -sf docs/b.md l2", 8},
    {"mkdir docs; echo a > docs/a.md; ln -s $PWD/docs/a.md AGENTS.md",
     "echo x > docs/a.md || echo x > b; echo y > c", 0},
    {"ln -s nowhere.md Jenkinsfile", "echo x > nowhere.md", 8},
    {"ln -s nowhere.md Jenkinsfile; ln -s $PWD/docs AGENTS.md; mkdir docs; echo a > docs/a",
     "echo x > b", 0},
};

BOOST_AUTO_TEST_CASE(what_a_protected_name_leads_to_through_links_stays_what_it_was) {
  for (const Caller& caller : all_callers()) {
    for (const LinkRow& row : kLinkRows) {
      BOOST_TEST_CONTEXT(caller.name << ": " << row.given << ": " << row.script) {
        const RunFolder folder;
        folder.write("work/a.txt", "a\n");
        BOOST_REQUIRE(
            run_program({.argv = {"sh", "-c", row.given}, .folder = folder.workspace()}).status ==
            0);
        folder.commit_workspace();
        folder.write("policy.yaml",
                     "version: 1\nextends: [auto]\npaths: {protect: [AGENTS.md, Jenkinsfile, "
                     "ci/deploy.yml, .circleci/config.yml]}\n");
        folder.write_task(CassetteWriter().shell({"sh", "-c", row.script}).next().message("done"),
                          "policy: policy.yaml\nexpect: {changes: any}\n");

        const ProgramEnd end = folder.run_as(caller);

        const std::string diff = end.status == 0 ? folder.artifact("changes.diff") : "";
        if (row.status == 8) BOOST_TEST(end.status == 8, end.errors);
        if (row.status == 0 && caller.namespaces) BOOST_TEST(end.status == 0, end.errors);
        for (const char* name : {"docs/a.md", "ci/deploy.yml", "real/deploy.yml", "nowhere.md"})
          BOOST_TEST(!has(diff, name), diff);
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
