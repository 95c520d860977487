#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <csignal>
#include <filesystem>
#include <future>
#include <set>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "core/json/json_schema.h"
#include "tests/end_to_end/command_run.h"
#include "tests/support/git_repository.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

ProgramEnd sandbox(const RunFolder& folder, const Caller& caller, const std::string& line) {
  return folder.run_as(
      caller, start_command(folder, {"sandbox", "--policy", "auto", "--", "sh", "-c", line}));
}

/// What lies under this name in the folder that `sortie sandbox` made for it; "" for nothing.
std::string kept_aside(const RunFolder& folder, const std::string& name) {
  for (const auto& entry : fs::directory_iterator(folder.workspace()))
    if (entry.path().filename().string().starts_with("sortie-kept-") &&
        fs::exists(entry.path() / name))
      return read_file(entry.path() / name);
  return "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sandbox_command)

BOOST_AUTO_TEST_CASE(sandbox_gives_the_commands_own_status_and_output) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      const struct {
        const char* line;
        int status;
        const char* output;
      } rows[] = {
          {"echo hi", 0, "hi\n"},
          {"echo hi; exit 7", 7, "hi\n"},
          {"kill -9 $$", 137, ""},
          {"cat", 0, ""},  // stdin is /dev/null
          {"pwd -P | sed 's,.*/,,'", 0, "work\n"},
      };
      for (const auto& row : rows) {
        const ProgramEnd end = sandbox(folder, caller, row.line);
        BOOST_TEST(end.status == row.status, row.line << end.errors);
        BOOST_TEST(end.output == row.output, row.line);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(sandbox_works_in_place_and_guards_what_is_protected) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/a.txt", "a\n");
      folder.commit_workspace();
      const auto git_before = [&] { return read_tree(folder.path("work/.git")); };
      const auto before = git_before();

      BOOST_TEST(sandbox(folder, caller, "echo b > b.txt && rm a.txt").status == 0);

      BOOST_TEST(read_file(folder.path("work/b.txt")) == "b\n");
      BOOST_TEST(!std::filesystem::exists(folder.path("work/a.txt")));
      for (const char* line : {"echo x > .git/config", "mv .git g", "rm -rf .git/hooks .git",
                               "chmod 777 .git", "git config a.b c"}) {
        const ProgramEnd end = sandbox(folder, caller, line);
        BOOST_TEST(end.status != 0, line);
        BOOST_TEST((git_before() == before), line);
      }
      // What is not there yet can't be guarded by a mount in the user's own tree.
      const ProgramEnd made = sandbox(folder, caller, "echo x > AGENTS.md");
      BOOST_TEST(made.status == 8, made.errors);
      BOOST_TEST(holds(made.errors, "AGENTS.md"), made.errors);
      BOOST_TEST(!std::filesystem::exists(folder.path("work/AGENTS.md")));
    }
  }
}

// What the user's next commit would run, outside of any sandbox.
BOOST_AUTO_TEST_CASE(sandbox_guards_hooks_wherever_they_lie) {
  const struct {
    const char* name;
    const char* set_up;
    const char* hook;
  } rows[] = {
      {"a linked folder", "rm -rf .git/hooks; ln -s ../tools/hooks .git/hooks",
       "tools/hooks/pre-commit"},
      {"a linked hook", "ln -s ../../tools/check .git/hooks/pre-commit", "tools/check"},
      {"core.hooksPath", "git config core.hooksPath tools/hooks", "tools/hooks/pre-commit"},
  };
  for (const auto& caller : all_callers()) {
    for (const auto& row : rows) {
      BOOST_TEST_CONTEXT(caller.name << ", " << row.name) {
        const RunFolder folder;
        folder.write("work/tools/hooks/pre-commit", "#!/bin/sh\n");
        folder.write("work/tools/check", "#!/bin/sh\n");
        folder.write("work/tools/other", "x\n");
        folder.commit_workspace();
        fs::create_directories(folder.path("work/.git/hooks"));
        const auto said = run_program({"sh", "-c", row.set_up}, folder.workspace());
        BOOST_REQUIRE_MESSAGE(said.status == 0, said.output);

        const ProgramEnd end =
            sandbox(folder, caller, std::string("echo y > tools/other; echo evil >> ") + row.hook);

        BOOST_TEST(end.status != 0);
        BOOST_TEST(read_file(folder.path("work") / row.hook) == "#!/bin/sh\n");
        BOOST_TEST(read_file(folder.path("work/tools/other")) == "y\n");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(sandbox_undoes_nothing_that_the_user_did_meanwhile) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/a.txt", "a\n");
      folder.commit_workspace();
      const auto work = folder.workspace();
      auto running = std::async(std::launch::async, [&] {
        return sandbox(folder, caller, "touch ready; until test -e go; do sleep 0.02; done");
      });
      BOOST_REQUIRE(wait_until([&] { return fs::exists(work / "ready"); }));

      folder.write("work/b.txt", "b\n");
      const std::string git = "git -C '" + work.string() +
                              "' -c safe.directory='*' -c user.name=u -c user.email=u@example.com ";
      BOOST_REQUIRE(
          run_program({.argv = {"sh", "-c", git + "add b.txt && " + git + "commit -qm meanwhile"}})
              .status == 0);
      folder.write("work/AGENTS.md", "the user's\n");
      const std::string commit = read_file(work / ".git/logs/HEAD");
      folder.write("work/go", "");
      const ProgramEnd end = running.get();

      BOOST_TEST(end.status == 8, end.errors);
      BOOST_TEST(read_file(work / ".git/logs/HEAD") == commit);
      BOOST_TEST(run_program({.argv = {"sh", "-c", git + "cat-file -e HEAD:b.txt"}}).status == 0);
      BOOST_TEST(holds(end.errors, "AGENTS.md"), end.errors);
      BOOST_TEST(holds(end.errors, ".git/refs") == !caller.namespaces, end.errors);
      BOOST_TEST(kept_aside(folder, "AGENTS.md.found") == "the user's\n", end.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(sandbox_keeps_what_was_moved_under_a_protected_name) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/notes.md", "notes\n");
      folder.write("work/docs/guide.md", "guide\n");
      folder.write("work/src/a.c", "a\n");

      const ProgramEnd end = sandbox(
          folder, caller,
          "mv notes.md AGENTS.md; mv docs/guide.md docs/CODEOWNERS; mv src .GitHub; touch c.txt");

      BOOST_TEST(end.status == 8, end.errors);
      BOOST_TEST(holds(end.errors, "sortie-kept-"), end.errors);
      BOOST_TEST(kept_aside(folder, "AGENTS.md.found") == "notes\n");
      BOOST_TEST(kept_aside(folder, "docs-CODEOWNERS.found") == "guide\n");
      BOOST_TEST(kept_aside(folder, ".GitHub.found/a.c") == "a\n");
      BOOST_TEST(!fs::exists(folder.path("work/AGENTS.md")));
      BOOST_TEST(!fs::exists(folder.path("work/.GitHub")));
    }
  }
}

BOOST_AUTO_TEST_CASE(sandbox_puts_back_what_steers_git_and_keeps_what_it_found) {
  for (const auto& caller : all_callers()) {
    if (caller.namespaces) continue;  // mounts keep it
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/a.txt", "a\n");
      folder.commit_workspace();
      const std::string config = read_file(folder.path("work/.git/config"));

      const ProgramEnd end = sandbox(folder, caller,
                                     "echo x > .git/hooks/pre-push; echo y >> .git/config;"
                                     "rm -r .git/objects .git/index; echo z > .git/HEAD");

      BOOST_TEST(end.status == 8, end.errors);
      BOOST_TEST(!fs::exists(folder.path("work/.git/hooks/pre-push")));
      BOOST_TEST(read_file(folder.path("work/.git/config")) == config);
      BOOST_TEST(read_file(folder.path("work/.git/HEAD")) == "z\n");
      BOOST_TEST(fs::exists(folder.path("work/.git/index")));
      BOOST_TEST(kept_aside(folder, ".git-hooks-pre-push.found") == "x\n");
      BOOST_TEST(kept_aside(folder, ".git-config.found") == config + "y\n");
      BOOST_TEST(kept_aside(folder, ".git-HEAD.start").starts_with("ref: "));
    }
  }
}

BOOST_AUTO_TEST_CASE(sandbox_has_no_network_no_secrets_and_writes_nowhere_else) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("beside.txt", "not yours\n");
      for (const std::string& line :
           {std::string("/usr/bin/python3 -c 'import socket; "
                        "socket.create_connection((\"127.0.0.1\", 22), 2)' 2>/dev/null"),
            "cat " + folder.path("beside.txt").string(), std::string("echo x > /etc/sortie-test"),
            std::string("grep -aq MY_TOKEN /proc/*/environ")}) {
        ProgramStart start =
            start_command(folder, {"sandbox", "--policy", "auto", "--", "sh", "-c", line});
        start.environment["MY_TOKEN"] = "s3cr3t-of-the-sandbox";
        BOOST_TEST(folder.run_as(caller, start).status != 0, line);
      }
      const ProgramEnd read_only = folder.run_as(
          caller,
          start_command(folder, {"sandbox", "--mode", "read-only", "--", "touch", "new.txt"}));
      BOOST_TEST(read_only.status == 1, read_only.errors);
      BOOST_TEST(!std::filesystem::exists(folder.path("work/new.txt")));
    }
  }
}

BOOST_AUTO_TEST_CASE(
    sandbox_gives_the_policys_environment_and_cleans_the_output_as_of_a_tool_call) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("policy.yaml",
                   "version: 1\nextends: [auto]\nredact: {patterns: ['ACME-[0-9]{8}']}\n"
                   "environment: {include: [GIVEN_*, A_TOKEN], set: {OF_POLICY: set}}\n");
      ProgramStart start = start_command(
          folder, {"sandbox", "--policy", folder.path("policy.yaml").string(), "--", "sh", "-c",
                   "printf '\\033[31mred\\033[0m\\n1%%\\r2%%\\n'; echo ACME-12345678;"
                   "echo $OF_POLICY $GIVEN_A $NOT_GIVEN $GIVEN_KEY; echo $A_TOKEN; exit 3"});
      start.environment["GIVEN_A"] = "included";
      start.environment["NOT_GIVEN"] = "left-out";
      start.environment["GIVEN_KEY"] = "never-by-a-glob";
      start.environment["A_TOKEN"] = "t0ken-that-commands-get";

      const ProgramEnd end = folder.run_as(caller, start);

      BOOST_TEST(end.status == 3, end.errors);
      BOOST_TEST(end.output == "red\n2%\n[REDACTED:pattern-1]\nset included\n[REDACTED:A_TOKEN]\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(sandbox_writes_through_no_hard_link) {
  for (const Caller& caller : all_callers()) {
    if (!caller.namespaces) continue;  // there it is found afterwards
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/outside.txt", "as it was\n");
      folder.write("work/twice.txt", "a\n");
      std::filesystem::rename(folder.path("work/outside.txt"), folder.path("outside.txt"));
      std::filesystem::create_hard_link(folder.path("outside.txt"), folder.path("work/linked.txt"));
      std::filesystem::create_hard_link(folder.path("work/twice.txt"), folder.path("work/too.txt"));

      const ProgramEnd end =
          sandbox(folder, caller, "echo b > too.txt && cat linked.txt; echo x > linked.txt");

      BOOST_TEST(end.status != 0);
      BOOST_TEST(holds(end.output, "as it was"), end.output);
      BOOST_TEST(holds(end.errors, "linked.txt): read-only for the command"), end.errors);
      BOOST_TEST(read_file(folder.path("outside.txt")) == "as it was\n");
      BOOST_TEST(read_file(folder.path("work/twice.txt")) == "b\n");
    }
  }
}

BOOST_AUTO_TEST_CASE(sandbox_ends_what_takes_too_long_or_is_not_there) {
  const RunFolder folder;
  folder.write("policy.yaml", "version: 1\nextends: [auto]\nlimits: {command_timeout: 200ms}\n");
  const std::string policy = folder.path("policy.yaml").string();

  const ProgramEnd late =
      run_command_in(folder, {"sandbox", "--policy", policy, "--", "sleep", "600"});
  const ProgramEnd missing = run_command_in(folder, {"sandbox", "--", "no-such-program"});

  BOOST_TEST(late.status == 124, late.errors);
  BOOST_TEST(missing.status == 127, missing.errors);
  BOOST_TEST(holds(missing.errors, "no-such-program"), missing.errors);
  BOOST_TEST(run_command_in(folder, {"sandbox"}).status == 2);
  BOOST_TEST(run_command_in(folder, {"sandbox", "--policy", "missing.yaml", "--", "true"}).status ==
             2);
}

BOOST_AUTO_TEST_CASE(sandbox_says_which_limit_was_met_and_that_there_is_no_sandbox) {
  const RunFolder folder;
  folder.write("small.yaml", "version: 1\nextends: [auto]\nlimits: {file_size: 64KiB}\n");
  const std::string small = folder.path("small.yaml").string();

  const ProgramEnd met = run_command_in(folder, {"sandbox", "--policy", small, "--", "sh", "-c",
                                                 "head -c 100000 /dev/zero > big; exit $?"});
  const ProgramEnd bare =
      run_command_in(folder, {"sandbox", "--policy", "unsandboxed", "--", "true"});

  BOOST_TEST(met.status == 128 + SIGXFSZ, met.errors);
  BOOST_TEST(holds(met.errors, "limits.file_size"), met.errors);
  BOOST_TEST(bare.status == 0, bare.errors);
  BOOST_TEST(holds(bare.errors, "sandbox: NONE"), bare.errors);
}

BOOST_AUTO_TEST_SUITE_END()
