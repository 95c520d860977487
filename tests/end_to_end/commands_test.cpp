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
#include "tests/support/git_repository.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

using Arguments = std::vector<std::string>;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A sortie command, to be run in the workspace.
ProgramStart start_in(const RunFolder& folder, const Arguments& arguments) {
  ProgramStart start;
  start.argv = {sortie_binary()};
  start.argv.insert(start.argv.end(), arguments.begin(), arguments.end());
  start.folder = folder.workspace();
  start.environment = {{"OPENAI_API_KEY", ""}, {"SORTIE_BASE_URL", ""}};
  return start;
}

ProgramEnd run_in(const RunFolder& folder, const Arguments& arguments,
                  const std::string& input = {}) {
  ProgramStart start = start_in(folder, arguments);
  start.input = input;
  return run_program(start);
}

ProgramEnd sandbox(const RunFolder& folder, const Caller& caller, const std::string& line) {
  return folder.run_as(caller,
                       start_in(folder, {"sandbox", "--policy", "auto", "--", "sh", "-c", line}));
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

BOOST_AUTO_TEST_SUITE(commands)

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
            start_in(folder, {"sandbox", "--policy", "auto", "--", "sh", "-c", line});
        start.environment["MY_TOKEN"] = "s3cr3t-of-the-sandbox";
        BOOST_TEST(folder.run_as(caller, start).status != 0, line);
      }
      const ProgramEnd read_only = folder.run_as(
          caller, start_in(folder, {"sandbox", "--mode", "read-only", "--", "touch", "new.txt"}));
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
      ProgramStart start = start_in(
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

  const ProgramEnd late = run_in(folder, {"sandbox", "--policy", policy, "--", "sleep", "600"});
  const ProgramEnd missing = run_in(folder, {"sandbox", "--", "no-such-program"});

  BOOST_TEST(late.status == 124, late.errors);
  BOOST_TEST(missing.status == 127, missing.errors);
  BOOST_TEST(holds(missing.errors, "no-such-program"), missing.errors);
  BOOST_TEST(run_in(folder, {"sandbox"}).status == 2);
  BOOST_TEST(run_in(folder, {"sandbox", "--policy", "missing.yaml", "--", "true"}).status == 2);
}

BOOST_AUTO_TEST_CASE(sandbox_says_which_limit_was_met_and_that_there_is_no_sandbox) {
  const RunFolder folder;
  folder.write("small.yaml", "version: 1\nextends: [auto]\nlimits: {file_size: 64KiB}\n");
  const std::string small = folder.path("small.yaml").string();

  const ProgramEnd met = run_in(folder, {"sandbox", "--policy", small, "--", "sh", "-c",
                                         "head -c 100000 /dev/zero > big; exit $?"});
  const ProgramEnd bare = run_in(folder, {"sandbox", "--policy", "unsandboxed", "--", "true"});

  BOOST_TEST(met.status == 128 + SIGXFSZ, met.errors);
  BOOST_TEST(holds(met.errors, "limits.file_size"), met.errors);
  BOOST_TEST(bare.status == 0, bare.errors);
  BOOST_TEST(holds(bare.errors, "sandbox: NONE"), bare.errors);
}

BOOST_AUTO_TEST_CASE(doctor_says_what_works_here) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      ProgramStart start = start_in(folder, {"doctor", "--json"});
      start.environment["OPENAI_API_KEY"] = "sk-never-shown";

      const ProgramEnd end = folder.run_as(caller, start);

      BOOST_TEST(end.status == 0, end.errors << end.output);
      BOOST_TEST(!holds(end.output, "sk-never-shown"));
      const Json report = parse_json(end.output);
      BOOST_TEST(report["layers"]["namespaces"].boolean() == caller.namespaces);
      BOOST_TEST(report["layers"].integer_at("landlock_abi") > 0);
      BOOST_TEST(report["isolation"].string_at("mode") == (caller.namespaces ? "overlay" : "copy"));
      for (const char* guarantee : {"writes", "secrets", "network", "processes", "kernel"})
        BOOST_TEST(report["guarantees"][guarantee]["proved"].boolean(), guarantee);
      BOOST_TEST(report["surroundings"].string_at("OPENAI_API_KEY") == "set");
      BOOST_TEST(report["remedy"].is_string() == !caller.namespaces);
      std::set<std::string> layers;
      for (const Json& one : report["remedies"].items()) {
        BOOST_TEST(!one.string_at("why").empty());
        BOOST_TEST(!one.string_at("remedy").empty());
        layers.insert(one.string_at("layer"));
      }
      BOOST_TEST(layers.count("namespaces") == (caller.namespaces ? 0u : 1u));
      for (const char* key : {"version", "kernel", "user", "isolation", "layers", "guarantees",
                              "problem", "remedies", "surroundings", "remedy"})
        BOOST_TEST(report.find(key) != nullptr, key);
    }
  }
}

BOOST_AUTO_TEST_CASE(apply_patch_changes_this_folder_or_nothing) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  const std::string good =
      "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+b\n*** Add File: d/new.txt\n+n\n"
      "*** End Patch\n";
  const std::string bad =
      "*** Begin Patch\n*** Add File: c.txt\n+c\n*** Update File: a.txt\n@@\n-missing\n+b\n"
      "*** End Patch\n";

  const ProgramEnd applied = run_in(folder, {"apply-patch"}, good);
  BOOST_TEST(applied.status == 0, applied.errors);
  BOOST_TEST(holds(applied.output, "M a.txt"), applied.output);
  BOOST_TEST(read_file(folder.path("work/a.txt")) == "b\n");
  BOOST_TEST(read_file(folder.path("work/d/new.txt")) == "n\n");

  const auto before = read_tree(folder.workspace());
  for (const std::string& patch :
       {bad, std::string("no patch"),
        std::string("*** Begin Patch\n*** Add File: ../x\n+x\n*** End Patch\n")}) {
    const ProgramEnd refused = run_in(folder, {"apply-patch", patch});
    BOOST_TEST(refused.status == 1, patch);
    BOOST_TEST(!refused.errors.empty());
    BOOST_TEST((read_tree(folder.workspace()) == before), patch);
  }
  BOOST_TEST(run_in(folder, {"apply-patch"}).status == 2);
}

BOOST_AUTO_TEST_CASE(a_signal_leaves_no_part_of_a_patch) {
  constexpr int kFiles = 4'000;
  std::string patch = "*** Begin Patch\n";
  for (int i = 0; i < kFiles; ++i) patch += "*** Add File: f" + std::to_string(i) + "\n+new\n";
  patch += "*** End Patch\n";
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    const RunFolder folder;
    ProgramStart start = start_in(folder, {"apply-patch"});
    start.input = patch;
    Program program(start);
    const auto files = [&] { return read_tree(folder.workspace()).size(); };
    const std::size_t before = files();
    BOOST_REQUIRE(wait_until([&] { return !std::filesystem::is_empty(folder.workspace()); }));

    program.signal(signal);
    const ProgramEnd end = program.finish();

    const bool applied = end.status == 0;
    BOOST_TEST((applied || end.status == (signal == SIGINT ? 130 : 143)), end.status);
    BOOST_TEST(files() == before + (applied ? kFiles : 0));
  }
}

BOOST_AUTO_TEST_CASE(apply_patch_writes_nothing_of_git) {
  const RunFolder folder;
  folder.commit_workspace();
  std::filesystem::create_directories(folder.path("work/sub"));
  std::filesystem::create_directory_symlink("../.git", folder.path("work/sub/link"));
  const auto before = read_tree(folder.workspace());
  for (const char* name :
       {".git/hooks/pre-commit", ".GIT/hooks/x", "sub/.git/config", "sub/link/hooks/x"}) {
    const ProgramEnd end =
        run_in(folder, {"apply-patch"},
               std::string("*** Begin Patch\n*** Add File: ") + name + "\n+x\n*** End Patch\n");
    BOOST_TEST(end.status == 1, name);
    BOOST_TEST(holds(end.errors, "protected"), end.errors);
    BOOST_TEST((read_tree(folder.workspace()) == before), name);
  }
  BOOST_TEST(run_in(folder, {"apply-patch"},
                    "*** Begin Patch\n*** Add File: .github/x\n+x\n*** Add File: .gitignore\n"
                    "+x\n*** End Patch\n")
                 .status == 0);
}

BOOST_AUTO_TEST_CASE(policy_check_decides_by_its_status) {
  const RunFolder folder;
  folder.write("bad.yaml", "version: 1\ncomands: []\n");
  const struct {
    Arguments arguments;
    int status;
    const char* says;
  } rows[] = {
      {{"strict"}, 0, "valid, sha256:"},
      {{"strict", "--", "git", "status"}, 0, "allow"},
      {{"strict", "--", "ls", "-la"}, 0, "allow"},
      {{"strict", "--", "rm", "x"}, 3, "deny"},
      {{"strict", "--", "env", "rm", "x"}, 3, "deny"},
      {{"strict", "--", "bash", "-c", "ls; rm x"}, 3, "deny"},
      {{"strict", "--", "./ls"}, 3, "deny"},
      {{"auto", "--", "rm", "x"}, 0, "allow"},
      {{folder.path("bad.yaml").string()}, 2, ""},
      {{folder.path("bad.yaml").string(), "--", "ls"}, 2, ""},
      {{"no-such-preset", "--", "ls"}, 2, ""},
  };
  for (const auto& row : rows) {
    Arguments arguments = {"policy", "check"};
    arguments.insert(arguments.end(), row.arguments.begin(), row.arguments.end());
    const ProgramEnd end = run_in(folder, arguments);
    BOOST_TEST_CONTEXT(row.arguments.back() << ": " << end.output << end.errors) {
      BOOST_TEST(end.status == row.status);
      BOOST_TEST(holds(end.output, row.says));
      BOOST_TEST(end.errors.empty() == (row.status != 2));
    }
  }
  const ProgramEnd bad = run_in(folder, {"policy", "check", folder.path("bad.yaml").string()});
  BOOST_TEST(holds(bad.errors, "did you mean 'commands'?"), bad.errors);
}

BOOST_AUTO_TEST_CASE(policy_check_batch_answers_each_line_with_one) {
  const RunFolder folder;

  const ProgramEnd end = run_in(folder, {"policy", "check", "strict", "--batch"},
                                "[\"ls\"]\n[\"rm\",\"x\"]\nnot json\n\n[]\n[1]\n{\"a\":1}\n"
                                "[\"ls\",\"a\\u0000b\"]\n[\"git\",\"status\"]");

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output == "allow\ndeny\ndeny\ndeny\ndeny\ndeny\ndeny\ndeny\nallow\n");
}

BOOST_AUTO_TEST_CASE(task_check_prints_the_effective_task_and_runs_nothing) {
  const RunFolder folder;
  folder.write("task.yaml",
               "version: 1\nprompt: Mend {{what}}.\nvars: {what: {default: it}}\n"
               "workspace: {path: work}\nverify: ['touch ran']\n");

  const ProgramEnd end =
      run_in(folder, {"task", "check", folder.task().string(), "--var", "what=that"});

  BOOST_TEST(end.status == 0, end.errors);
  const Json task = parse_json(end.output);
  BOOST_TEST(task.string_at("prompt") == "Mend that.");
  BOOST_TEST(task.string_at("policy") == "strict");
  BOOST_TEST(task["budget"].integer_at("turns") == 200);
  BOOST_TEST(task["verify"].integer_at("rounds") == 3);
  BOOST_TEST(read_tree(folder.workspace()).empty());

  folder.write("task.yaml", "version: 1\nprompt: a\nverifi: []\nbudget: {turns: 0}\n");
  const ProgramEnd bad = run_in(folder, {"task", "check", folder.task().string()});
  BOOST_TEST(bad.status == 2);
  BOOST_TEST(holds(bad.errors,
                   "task.yaml:3:1: error: unknown key 'verifi' in task; did you mean "
                   "'verify'?\n    3 | verifi: []\n"),
             bad.errors);
  BOOST_TEST(holds(bad.errors, "task.yaml:4:17: error: "), bad.errors);
  BOOST_TEST(bad.output.empty());
}

BOOST_AUTO_TEST_CASE(schemas_are_printed_and_what_the_program_writes_fits_them) {
  const RunFolder folder;
  folder.write_task(CassetteWriter().shell({"sh", "-c", "echo b > b"}).next().message("done"),
                    "policy: auto\nverify: ['true']\n");
  BOOST_REQUIRE(folder.run().status == 0);
  const auto schema_of = [&](const char* name) {
    const ProgramEnd end = run_in(folder, {"schema", name});
    BOOST_TEST(end.status == 0, end.errors);
    const Json schema = parse_json(end.output);
    BOOST_TEST(schema.string_at("$schema") == "https://json-schema.org/draft/2020-12/schema", name);
    return JsonSchema(schema);
  };
  const JsonSchema task = schema_of("task");
  const JsonSchema policy = schema_of("policy");

  BOOST_TEST(task.check(parse_json(R"({"version": 1, "prompt": "x"})")).empty());
  BOOST_TEST(!task.check(parse_json(R"({"version": 1, "promt": "x"})")).empty());
  BOOST_TEST(policy.check(parse_json(R"({"version": 1, "extends": ["strict"]})")).empty());
  BOOST_TEST(!policy.check(parse_json(R"({"version": 1, "extend": ["strict"]})")).empty());
  BOOST_TEST(schema_of("result").check(folder.result()).empty());
  const JsonSchema transcript = schema_of("transcript");
  const std::string lines = folder.artifact("transcript.jsonl");
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = lines.find('\n', at);
    const std::string line = lines.substr(at, end - at);
    BOOST_TEST(transcript.check(parse_json(line)).empty(), line);
    at = end + 1;
  }
}

BOOST_AUTO_TEST_SUITE_END()
