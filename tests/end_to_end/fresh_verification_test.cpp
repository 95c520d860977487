// What a verification in a tree of its own checks: the state at the start and the run's diff, and
// nothing else that the agent left.
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/record/transcript_reader.h"
#include "tests/end_to_end/verification_tricks.h"
#include "tests/support/git_repository.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> texts_of(const Json& array) {
  std::vector<std::string> list;
  for (const Json& one : array.items()) list.push_back(one.text());
  return list;
}

bool warns_of(const RunFolder& folder, const std::string& text) {
  const Json result = folder.result();
  for (const std::string& warning : texts_of(result["warnings"]))
    if (warning.find(text) != std::string::npos) return true;
  return false;
}

CassetteWriter script_then_done(const std::string& script) {
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", script}).next().message("done");
  return cassette;
}

/// The isolations that a caller can have: without namespaces, a run in the user's own tree needs a
/// policy that protects nothing.
struct Place {
  const char* isolation;
  const char* policy = "auto";
};

std::vector<Place> places_of(const Caller& caller) {
  if (caller.namespaces) return {{"overlay"}, {"copy"}, {"none"}};
  return {{"copy"}, {"none", "open.yaml"}};
}

std::string policy_line(const RunFolder& folder, const Place& place) {
  folder.write("open.yaml",
               "version: 1\napproval: full-auto\nunreadable: allow\npaths: {protect: []}\n");
  return std::string("policy: ") + place.policy + "\n";
}

/// What the verification printed, as result.json has it.
std::string printed(const RunFolder& folder) {
  std::string text;
  const Json result = folder.result();
  for (const Json& one : result["verification"]["after"]["commands"].items())
    text += one.string_at("output");
  return text;
}

/// A project whose code is wrong: `check` fails until a.txt says "right". It has ignored files that
/// a build or a developer left, which verifications see.
void write_project(const RunFolder& folder) {
  folder.write("work/.gitignore",
               "build/\n.venv/\nnode_modules/\n__pycache__/\n*.log\n.env\n*.local\n");
  folder.write("work/a.txt", "wrong\n");
  folder.write("work/src/mod.py", "VALUE = 'wrong'\n");
  folder.write("work/tests/check.sh", "grep -q right a.txt\n");
  folder.write("work/real/check.sh", "grep -q right a.txt\n");
  folder.write("work/deep/tests/check.sh", "grep -q right a.txt\n");
  fs::create_symlink("real", folder.workspace() / "linked");
  fs::create_symlink("../real", folder.workspace() / "deep/link");
  folder.write("work/real/one.sh", "grep -q right a.txt\n");
  fs::create_symlink("../real/one.sh", folder.workspace() / "tests/one.sh");
  folder.write("work/tests/port.py",
               "import urllib.request\nurllib.request.urlopen('http://127.0.0.1:8976')\n");
  folder.write("work/Makefile",
               "-include build/more.mk\n"
               "build/out: a.txt\n\tmkdir -p build && cp a.txt build/out\n"
               "test: build/out\n\tgrep -q right build/out\n");
  folder.write("work/build/out", "wrong\n");
  folder.write("work/.venv/bin/tool", "#!/bin/sh\nexit 1\n");
  folder.write("work/node_modules/.bin/tool", "#!/bin/sh\nexit 1\n");
  fs::permissions(folder.workspace() / ".venv/bin/tool", fs::perms(0755));
  fs::permissions(folder.workspace() / "node_modules/.bin/tool", fs::perms(0755));
  folder.commit_workspace();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fresh_verification)

BOOST_AUTO_TEST_CASE(no_trick_makes_what_fails_look_verified) {
  for (const Caller& caller : all_callers()) {
    for (const Place& place : places_of(caller)) {
      if (caller.namespaces && std::string(place.isolation) == "copy") continue;
      for (const Trick& trick : tricks()) {
        const RunFolder folder;
        BOOST_TEST_INFO_SCOPE(caller.name << ", " << place.isolation << ": " << trick.name);
        write_project(folder);
        folder.write_task(script_then_done(trick.script),
                          policy_line(folder, place) +
                              "verify: {rounds: 0, commands: " + trick.verify + trick.more + "}\n");

        const ProgramEnd end =
            folder.run_as(caller, folder.start({"--isolation", place.isolation}));

        BOOST_TEST((end.status == 1 || end.status == 8), end.status << end.errors);
        BOOST_TEST(!folder.result()["verified"].boolean(), printed(folder));
        BOOST_TEST(!fs::exists(folder.out() / "changes.diff"));
      }
    }
  }
}

// Otherwise they would show nothing.
BOOST_AUTO_TEST_CASE(most_of_these_tricks_work_on_the_runs_own_tree) {
  std::set<std::string> working;
  for (const Trick& trick : tricks()) {
    const RunFolder folder;
    write_project(folder);
    folder.write_task(script_then_done(trick.script),
                      std::string("policy: auto\nverify: {in: run, rounds: 0, commands: ") +
                          trick.verify + "}\n");
    folder.run();
    if (folder.result()["verified"].boolean()) working.insert(trick.name);
  }
  for (const std::string& trick : kWorkInRun) BOOST_TEST(working.contains(trick), trick);
}

BOOST_AUTO_TEST_CASE(files_that_no_diff_can_hold_end_the_run_before_they_are_verified) {
  const struct {
    const char* name;
    const char* script;
  } rows[] = {
      {"too large", "(echo right; head -c 11000000 /dev/zero) > big"},
      {"LFS", "echo right > big.bin"},
      {"unreadable", "echo right > big; chmod 0 big"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      folder.write("work/.gitattributes", "*.bin filter=lfs\n");
      folder.commit_workspace();
      folder.write_task(script_then_done(row.script),
                        "policy: auto\nverify: {rounds: 0, commands: ['grep -q right big*']}\n");

      const ProgramEnd end = folder.run();

      BOOST_TEST(end.status == 1, end.errors);
      BOOST_TEST(folder.records("verification.completed").empty());
      BOOST_TEST(!folder.result()["verified"].boolean());
    }
  }
}

BOOST_AUTO_TEST_CASE(the_tree_is_the_start_and_the_diff_and_nothing_else) {
  for (const Caller& caller : all_callers()) {
    for (const Place& place : places_of(caller)) {
      const bool own = std::string(place.isolation) == "none";
      BOOST_TEST_CONTEXT(caller.name << ", " << place.isolation) {
        const RunFolder folder;
        write_project(folder);
        folder.write("work/gone/only.txt", "x\n");
        folder.write("work/kind", "file\n");
        folder.write("work/dir/file", "x\n");
        folder.commit_workspace();
        folder.write_task(
            script_then_done("echo right > a.txt; rm gone/only.txt; rm kind; mkdir kind; "
                             "echo x > kind/below; rm -r dir; ln -s a.txt dir; mkdir -p n/m; "
                             "printf 'no newline' > n/m/new; chmod 755 n/m/new; mkdir void; "
                             "echo planted > build/planted; echo x > x.log; rm .venv/bin/tool"),
            policy_line(folder, place) +
                "verify: ['pwd; find . -path ./.git -prune -o -printf \"%p %y %l\\n\" | "
                "sort; cat a.txt build/out n/m/new; test -x n/m/new', 'echo more > a.log']\n");

        ProgramStart start = folder.start({"--isolation", place.isolation});
        const ProgramEnd end = folder.run_as(caller, start);

        BOOST_TEST(end.status == 0, end.errors);
        const std::string text = printed(folder);
        const std::string tree = text.substr(text.find('\n') + 1);
        BOOST_TEST(
            tree ==
                ". d \n./.gitignore f \n./.venv d \n./.venv/bin d \n./.venv/bin/tool f \n"
                "./Makefile f \n./a.txt f \n./build d \n./build/out f \n./deep d \n"
                "./deep/link l ../real\n./deep/tests d \n./deep/tests/check.sh f \n./dir l a.txt\n"
                "./kind d \n./kind/below f \n./linked l real\n./n d \n./n/m d \n./n/m/new f \n"
                "./node_modules d \n./node_modules/.bin d \n./node_modules/.bin/tool f \n"
                "./real d \n./real/check.sh f \n./real/one.sh f \n./src d \n./src/mod.py f \n"
                "./tests d \n./tests/check.sh f \n./tests/one.sh l ../real/one.sh\n"
                "./tests/port.py f \n"
                "right\nwrong\nno newline",
            text);
        if (caller.namespaces) BOOST_TEST(text.starts_with(folder.workspace().string() + "\n"));
        BOOST_TEST(!fs::exists(folder.workspace() / "a.log"));
        BOOST_TEST(read_file(folder.workspace() / "a.txt") == (own ? "right\n" : "wrong\n"));
        // The run's own tree is as the run left it.
        if (own) BOOST_TEST(read_file(folder.workspace() / "build/planted") == "planted\n");
        if (own) BOOST_TEST(!fs::exists(folder.workspace() / ".venv/bin/tool"));
        const Json result = folder.result();
        BOOST_TEST(result["verification"].string_at("in") == "fresh");
        const std::string digest = "sha256:" + sha256_hex(folder.artifact("changes.diff"));
        BOOST_TEST(result["verification"].string_at("diff") == digest);
        BOOST_TEST(folder.records("verification.completed").front().string_at("diff") == digest);
        BOOST_TEST(!fs::exists(folder.out() / "state"));
        BOOST_TEST(verify_run(folder.out()).ok);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(masks_hold_in_the_tree_as_in_the_runs) {
  for (const Caller& caller : all_callers()) {
    if (!caller.namespaces) continue;
    for (const char* isolation : {"overlay", "copy", "none"}) {
      BOOST_TEST_CONTEXT(caller.name << ", " << isolation) {
        const RunFolder folder;
        folder.write("work/.env", "SECRET=1\n");
        folder.write("work/.gitignore", ".env\nnode_modules\n");
        folder.write("work/AGENTS.md", "rules\n");
        folder.write("work/a.txt", "x\n");
        folder.write("work/node_modules/p/.env", "SECRET=2\n");
        folder.commit_workspace();
        write_file(folder.workspace() / ".git/config",
                   read_file(folder.workspace() / ".git/config") +
                       "[remote \"o\"]\n\turl = https://user:sesame@host.example/x\n");
        folder.write("policy.yaml", "version: 1\nextends: auto\npaths:\n  hide: ['**/.env']\n");
        folder.write_task(
            script_then_done("echo y >> a.txt; echo mark > node_modules/p/made"),
            "policy: policy.yaml\nverify:\n  keep: [node_modules]\n  commands:\n"
            "  - '! cat .env && ! cat node_modules/p/.env && ! grep sesame .git/config'\n"
            "  - '! echo x > .git/x && ! echo x >> AGENTS.md && ! mv .git g && git status'\n"
            "  - 'cat node_modules/p/made && echo z > node_modules/p/more && echo z > new'\n"
            "  may_change: [new]\n");

        const ProgramEnd end = folder.run_as(caller, folder.start({"--isolation", isolation}));

        BOOST_TEST(end.status == 0, end.errors + printed(folder));
        BOOST_TEST(printed(folder).find("mark\n") != std::string::npos, printed(folder));
        BOOST_TEST(printed(folder).find("SECRET") == std::string::npos, printed(folder));
        BOOST_TEST(!fs::exists(folder.workspace() / "node_modules/p/more"));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(places_inside_the_workspace_are_there_and_of_their_own) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      write_project(folder);
      folder.write("work/.home/.gitignore", "*\n");
      folder.write_task(
          script_then_done("echo right > a.txt; echo planted > $HOME/planted"),
          "policy: auto\nverify: ['test -w $HOME && test ! -e $HOME/planted && echo x > $HOME/x', "
          "'cat $HOME/x && sh tests/check.sh']\n");
      ProgramStart start = folder.start();
      start.environment["HOME"] = (folder.workspace() / ".home").string();

      const ProgramEnd end = folder.run_as(caller, start);

      BOOST_TEST(end.status == 0, end.errors + printed(folder));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_kept_comes_from_the_run_and_stays_the_runs) {
  for (const Caller& caller : all_callers()) {
    for (const Place& place : places_of(caller)) {
      BOOST_TEST_INFO_SCOPE(caller.name << ", " << place.isolation);
      const RunFolder folder;
      write_project(folder);
      CassetteWriter cassette;
      cassette
          .shell({"sh", "-c",
                  "echo right > a.txt; make build/out; echo new > build/new; "
                  "mkdir -p packages/p/node_modules; echo dep > packages/p/node_modules/d; "
                  "echo file > one.local; echo not > two.local"})
          .next();
      cassette.call("run_tests", Json::object()).next();
      cassette.shell({"sh", "-c", "cat build/new; test ! -e build/verified"}).next();
      folder.write_task(
          cassette.message("done"),
          policy_line(folder, place) +
              "verify:\n  keep: [build/, 'packages/*/node_modules', one.local, missing]\n"
              "  commands: ['cat build/out build/new packages/p/node_modules/d one.local', "
              "'test ! -e two.local && echo v > build/verified && echo w > build/new']\n");

      const ProgramEnd end = folder.run_as(caller, folder.start({"--isolation", place.isolation}));

      BOOST_TEST(end.status == 0, end.errors + printed(folder));
      BOOST_TEST(printed(folder) == "right\nnew\ndep\nfile\n");
      BOOST_TEST(folder.records("tool.output").at(2)["success"].boolean());
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_restored_is_verified_as_at_the_start_and_told) {
  for (const Caller& caller : all_callers()) {
    for (const Place& place : places_of(caller)) {
      BOOST_TEST_INFO_SCOPE(caller.name << ", " << place.isolation);
      const RunFolder folder;
      write_project(folder);
      folder.write_task(
          script_then_done("echo right > a.txt; echo 'exit 1' > tests/check.sh; "
                           "echo new > tests/new.sh; echo x > build/kept; echo fake > build/out"),
          policy_line(folder, place) +
              "verify:\n  commands: [sh tests/check.sh, test ! -e tests/new.sh, "
              "'grep wrong build/out && cat build/kept']\n"
              "  restore: ['tests/**', build/out]\n  keep: [build]\n");

      const ProgramEnd end = folder.run_as(caller, folder.start({"--isolation", place.isolation}));

      BOOST_TEST(end.status == 0, end.errors + printed(folder));
      const Json result = folder.result();
      BOOST_TEST((texts_of(result["verification"]["restored"]) ==
                  std::vector<std::string>{"tests/check.sh", "tests/new.sh"}));
      BOOST_TEST(warns_of(folder, "though the diff changes them: tests/check.sh, tests/new.sh"));
      BOOST_TEST(folder.artifact("changes.diff").find("b/tests/new.sh") != std::string::npos);
    }
  }
}

BOOST_AUTO_TEST_CASE(setup_runs_once_a_round_and_its_failure_is_told_as_such) {
  const RunFolder folder;
  write_project(folder);
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo right > a.txt; echo 'exit 3' > setup.sh"}).next();
  cassette.message("done").shell({"sh", "-c", "echo 'mkdir -p node_modules/dep' > setup.sh"});
  cassette.next().message("done now");
  folder.write_task(cassette,
                    "policy: auto\nverify:\n  setup: [sh setup.sh, 'echo x > made.txt']\n"
                    "  commands: ['test -d node_modules/dep', 'date +%s%N > build/time']\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors + printed(folder));
  const auto records = folder.records("verification.completed");
  std::vector<std::string> steps;
  for (const Json& record : records)
    steps.push_back((record["setup"].boolean() ? "setup " : "") + record.string_at("command"));
  const std::vector<std::string> wanted = {"setup sh setup.sh",       "setup sh setup.sh",
                                           "setup echo x > made.txt", "test -d node_modules/dep",
                                           "date +%s%N > build/time", "test -d node_modules/dep",
                                           "date +%s%N > build/time"};
  BOOST_TEST(steps == wanted, boost::test_tools::per_element());
  bool told = false;
  for (const Json& request : folder.records("model.request"))
    told = told || write_json(request).find("its setup `sh setup.sh`") != std::string::npos;
  for (const Json& request : folder.records("prompt"))
    told = told || write_json(request).find("its setup `sh setup.sh`") != std::string::npos;
  BOOST_TEST(told);
  BOOST_TEST(folder.artifact("changes.diff").find("made.txt") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_agent_is_told_what_the_tree_lacks_when_it_fails) {
  const RunFolder folder;
  write_project(folder);
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo right > a.txt; mkdir -p .venv/lib; echo x > .venv/lib/dep"});
  cassette.next().call("run_tests", Json::object()).next().message("done");
  folder.write_task(cassette, "policy: auto\nverify: {rounds: 0, commands: [cat .venv/lib/dep]}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 1, end.errors);
  const std::string shown = folder.records("tool.output").at(1).string_at("shown");
  BOOST_TEST(shown.find("which lacks what git ignores and what a build made in this run: "
                        ".venv/lib/dep") != std::string::npos,
             shown);
}

BOOST_AUTO_TEST_CASE(no_program_of_the_agent_stands_for_another_one_on_the_path) {
  const RunFolder folder;
  write_project(folder);
  folder.write("work/bin/tool", "#!/bin/sh\nexit 1\n");
  fs::permissions(folder.workspace() / "bin/tool", fs::perms(0755));
  folder.commit_workspace();
  const std::string verify = "policy: auto\nverify: {rounds: 0, commands: [sh tests/check.sh]}\n";
  const auto run = [&](const std::string& script) {
    folder.write_task(script_then_done(script), verify);
    ProgramStart start = folder.start({"--fresh"});
    start.environment["PATH"] = (folder.workspace() / "bin").string() + ":/usr/bin:/bin";
    return run_program(start);
  };

  const ProgramEnd shadowing = run("printf '#!/bin/sh\nexit 0\n' > bin/grep; chmod +x bin/grep");

  BOOST_TEST(shadowing.status == 1, shadowing.errors);
  BOOST_TEST(!folder.result()["verified"].boolean());
  BOOST_TEST(folder.result().string_at("reason").find("bin/grep (in place of /usr/bin/grep)") !=
                 std::string::npos,
             folder.result().string_at("reason"));
  // Programs of other names are the project's own work, and so is one of the start.
  const ProgramEnd own =
      run("echo right > a.txt; printf '#!/bin/sh\nexit 0\n' > bin/tool; cp bin/tool bin/other; "
          "cp bin/tool grep");
  BOOST_TEST(own.status == 0, own.errors);
}

BOOST_AUTO_TEST_CASE(attributes_that_let_git_check_out_other_bytes_are_named) {
  const RunFolder folder;
  write_project(folder);
  folder.write_task(
      script_then_done("echo right > a.txt; echo 'a.txt text eol=crlf' > src/.gitattributes"),
      "policy: auto\nverify: [sh tests/check.sh]\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(warns_of(folder, "the diff changes src/.gitattributes: once it is committed, git may "
                              "check out other bytes than were verified"));
}

BOOST_AUTO_TEST_CASE(commands_may_build_on_files_that_those_before_have_made) {
  const RunFolder folder;
  write_project(folder);
  const std::string verify =
      "policy: auto\nverify: {rounds: 0, restore: [\"tests/**\"], may_change: [tests/given.*], "
      "commands: ['cp a.txt made.txt; cp a.txt tests/given.txt; echo x > tests/x.log', "
      "'grep right made.txt tests/given.txt && test -e tests/x.log', rm made.txt]}\n";
  folder.write_task(script_then_done("echo right > a.txt"), verify);

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(folder.result()["verified"].boolean());
}

BOOST_AUTO_TEST_CASE(the_agent_is_told_what_a_command_may_not_leave_for_the_next) {
  const RunFolder folder;
  write_project(folder);
  folder.write_task(script_then_done("echo right > a.txt").message("done"),
                    "policy: auto\nverify: {rounds: 1, restore: [\"tests/**\"], commands: "
                    "['echo x > tests/given.txt', cat tests/given.txt]}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 1, end.errors);
  const std::string request = write_json(folder.records("model.request").back());
  BOOST_TEST(request.find("removed before the next command, as verify.restore names them and the "
                          "start does not have them: tests/given.txt") != std::string::npos,
             request);
}

BOOST_AUTO_TEST_CASE(the_runs_own_tree_is_verified_where_the_task_says_so) {
  const RunFolder folder;
  write_project(folder);
  folder.write_task(script_then_done("echo right > a.txt; echo planted > build/planted"),
                    "policy: auto\nverify: {in: run, commands: [cat build/planted]}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(folder.result()["verification"].string_at("in") == "run");
  BOOST_TEST(folder.result()["verification"]["diff"].is_null());
}

BOOST_AUTO_TEST_CASE(the_start_is_verified_in_a_tree_of_its_own_too) {
  const RunFolder folder;
  write_project(folder);
  folder.write_task(script_then_done("test ! -e made.txt && echo right > a.txt"),
                    "policy: auto\nverify: {before: fail, commands: ['echo x > made.txt', "
                    "sh tests/check.sh]}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(folder.artifact("changes.diff").find("made.txt") == std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
