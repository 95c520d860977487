#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "core/record/transcript_reader.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

const Caller kRefused{.name = "without namespaces", .namespaces = false};

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string add_file(const std::string& path, const std::string& line) {
  return "*** Begin Patch\n*** Add File: " + path + "\n+" + line + "\n*** End Patch\n";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(integrity)

// No mount guards them there: they are compared after each command.
BOOST_AUTO_TEST_CASE(without_namespaces_a_changed_protected_path_ends_the_run) {
  const struct {
    const char* line;
    const char* path;
  } rows[] = {
      {"echo x > .git/config", ".git/config"},
      {"mv .git elsewhere", ".git"},
      {"rm -rf .git && ln -s ../outside .git", ".git"},
      {"chmod 000 .git", ".git"},
      {"ln .git/HEAD h && echo y > h", ".git/HEAD"},
      {"printf '#!/bin/sh\\n' > .git/hooks/pre-commit", ".git/hooks/pre-commit"},
      {"git config core.pager x", ".git/config"},
      {"git add -A", ".git/index"},
      {"mkdir -p .github/workflows && echo x > .github/workflows/ci.yml", ".github"},
      {"echo x > sub/CODEOWNERS", "sub/CODEOWNERS"},
      {"mv sub sub2 && mkdir sub && echo me > sub/CODEOWNERS", "sub2/CODEOWNERS"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.line) {
      const RunFolder folder;
      folder.write("work/sub/CODEOWNERS", "me\n");
      folder.commit_workspace();
      folder.write("work/new.txt", "new\n");
      folder.write_task(
          CassetteWriter().shell({"sh", "-c", row.line}).next().message("it was not me"),
          "policy: auto\n");
      const auto before = read_tree(folder.workspace());

      const ProgramEnd end = folder.run_as(kRefused);

      BOOST_TEST(end.status == 8, end.errors);
      BOOST_TEST(holds(folder.result().string_at("reason"), row.path),
                 folder.result().string_at("reason"));
      BOOST_TEST(folder.result().string_at("status") == "integrity");
      BOOST_TEST(holds(end.errors,
                       "; next: look at the change before anything else; if it is "
                       "wanted, the policy's paths.protect"),
                 end.errors);
      BOOST_TEST((read_tree(folder.workspace()) == before));
      BOOST_TEST(!std::filesystem::exists(folder.out() / "changes.diff"));
      const std::string diff = folder.artifact("partial.diff");
      BOOST_TEST(!holds(diff, "b/.git"), diff);
      BOOST_TEST(verify_run(folder.out()).ok);
    }
  }
}

BOOST_AUTO_TEST_CASE(without_namespaces_reading_and_touching_changes_nothing) {
  const RunFolder folder;
  folder.write("work/sub/CODEOWNERS", "me\n");
  folder.commit_workspace();
  folder.write_task(CassetteWriter()
                        .shell({"git", "status"})
                        .shell({"sh", "-c", "git log && git diff && cat .git/config"})
                        .shell({"sh", "-c", "touch sub/CODEOWNERS && echo b > b.txt"})
                        .shell({"sh", "-c", "touch .git/x.lock && rm .git/x.lock"})
                        .next()
                        .message("done"),
                    "policy: auto\nverify: [git status]\n");

  const ProgramEnd end = folder.run_as(kRefused);

  BOOST_TEST(end.status == 0, end.errors);
}

BOOST_AUTO_TEST_CASE(without_namespaces_a_verification_command_is_no_exception) {
  const RunFolder folder;
  folder.commit_workspace();
  folder.write_task(CassetteWriter().patch(add_file("b.txt", "b")).next().message("done"),
                    "policy: auto\nverify: {in: run, commands: ['echo x > .git/config']}\n");

  const ProgramEnd end = folder.run_as(kRefused);

  BOOST_TEST(end.status == 8, end.errors);
  BOOST_TEST(holds(end.errors, ".git/config"), end.errors);
}

// Links are laid by commands, then a patch is to write through them from outside of the sandbox.
BOOST_AUTO_TEST_CASE(a_patch_through_a_link_that_a_command_laid_is_refused) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/folder/a.txt", "a\n");
      folder.write("outside/a.txt", "a\n");
      folder.commit_workspace();
      const std::string outside = folder.path("outside").string();
      const auto update = [](const std::string& path) {
        return "*** Begin Patch\n*** Update File: " + path + "\n@@\n-a\n+b\n*** End Patch\n";
      };
      folder.write_task(
          CassetteWriter()
              .shell({"sh", "-c",
                      "rm -r folder && ln -s " + outside +
                          " folder && ln -s ../../outside up && "
                          "ln -s .git repository && ln -s " +
                          outside + "/a.txt file"})
              .patch(add_file("folder/new.txt", "x"))
              .patch(update("folder/a.txt"))
              .patch(add_file("up/new.txt", "x"))
              .patch(add_file("repository/hooks/pre-commit", "x"))
              .patch(update("file"))
              .patch("*** Begin Patch\n*** Delete File: folder/a.txt\n*** End Patch\n")
              .call("read_file", Json::object({{"path", "folder/a.txt"}}))
              .next()
              .message("done"),
          "policy: auto\nexpect: {changes: any}\n");
      const auto before = read_tree(folder.path("outside"));
      const auto git_before = read_tree(folder.path("work/.git"));

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST(end.status == 0, end.errors);
      const auto outputs = folder.records("tool.output");
      BOOST_REQUIRE(outputs.size() == 8);
      BOOST_TEST(outputs[0]["success"].boolean(), folder.output(0));
      for (std::size_t i = 1; i < outputs.size(); ++i)
        BOOST_TEST(!outputs[i]["success"].boolean(true), i << ": " << folder.output(i));
      BOOST_TEST((read_tree(folder.path("outside")) == before));
      BOOST_TEST((read_tree(folder.path("work/.git")) == git_before));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_known_secret_in_the_diff_or_the_final_message_is_a_leak) {
  const std::string secret = "s3cr3t-of-the-leak-test";
  const struct {
    const char* name;
    CassetteWriter cassette;
  } rows[] = {
      {"a patch", CassetteWriter().patch(add_file("b.txt", secret)).next().message("done")},
      {"a command",
       CassetteWriter().shell({"sh", "-c", "echo " + secret + " > b.txt"}).next().message("done")},
      {"the message",
       // It goes back once.
       CassetteWriter()
           .patch(add_file("b.txt", "b"))
           .next()
           .message("it is " + secret)
           .message("it is " + secret)},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      folder.write_task(row.cassette, "policy: auto\n");
      ProgramStart start = folder.start();
      start.environment["MY_TOKEN"] = secret;

      const ProgramEnd end = run_program(start);

      BOOST_TEST(end.status == 9, end.errors);
      BOOST_TEST(folder.result().string_at("status") == "leak");
      BOOST_TEST(!std::filesystem::exists(folder.out() / "changes.diff"));
      BOOST_TEST(!holds(end.errors, secret), end.errors);
      BOOST_TEST(end.output == "");
      for (const char* file : {"transcript.jsonl", "result.json", "last-message.txt"})
        BOOST_TEST(!holds(folder.artifact(file), secret), file);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
