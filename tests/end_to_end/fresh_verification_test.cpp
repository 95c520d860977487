// What a verification in a tree of its own checks: the state at the start and the run's diff, and
// nothing else that the agent left.
#include <boost/test/unit_test.hpp>
#include <set>
#include <string>
#include <vector>

#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/record/transcript_reader.h"
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

/// One try to make what fails look verified.
struct Trick {
  const char* name;
  const char* script;  ///< what the agent does
  const char* verify;  ///< the commands, as YAML; they fail where the trick has no effect
  const char* more = "";
};

const char* const kCheck = "[sh tests/check.sh]";

const std::vector<Trick>& tricks() {
  static const std::vector<Trick> rows = {
      {"a start-up file of Python in HOME",
       "d=$(python3 -c 'import site; print(site.getusersitepackages())'); mkdir -p $d; "
       "echo 'import os; os._exit(0)' > $d/usercustomize.py; echo x >> a.txt",
       "['python3 -c \"import sys; sys.exit(1)\"']"},
      {"a .pth file in HOME",
       "d=$(python3 -c 'import site; print(site.getusersitepackages())'); mkdir -p $d; "
       "echo 'import os; os._exit(0)' > $d/x.pth; echo x >> a.txt",
       "['python3 -c \"import sys; sys.exit(1)\"']"},
      {"a stale .pyc in an ignored __pycache__",
       "echo \"VALUE = 'right'\" > src/mod.py; touch -d @1000000000 src/mod.py; "
       "python3 -m py_compile src/mod.py; "
       "echo \"VALUE = 'wrong'\" > src/mod.py; touch -d @1000000000 src/mod.py; echo x >> a.txt",
       "['cd src && python3 -c \"import mod; assert mod.VALUE == chr(114) + chr(105) + chr(103) + "
       "chr(104) + chr(116)\"']"},
      {"an ignored conftest that skips what fails",
       "echo 'exit 0' > conftest.local; echo x >> a.txt",
       "['if [ -e conftest.local ]; then . ./conftest.local; fi; exit 1']"},
      {"a shim in node_modules/.bin",
       "printf '#!/bin/sh\\nexit 0\\n' > node_modules/.bin/tool; echo x >> a.txt",
       "['PATH=node_modules/.bin:$PATH tool']"},
      {"a program in an ignored venv",
       "printf '#!/bin/sh\\nexit 0\\n' > .venv/bin/tool; echo x >> a.txt",
       "['PATH=.venv/bin:$PATH tool']"},
      {"a fake product in build/", "echo right > build/out; echo x >> a.txt",
       "['grep right build/out']"},
      {"a product that make takes for new",
       "echo right > build/out; echo worse > a.txt; touch -d @1000000000 a.txt", "['make test']"},
      {"old times, so that make keeps the product of the start",
       "echo right > a.txt; make build/out; echo worse > a.txt; touch -d @1000000000 a.txt",
       "['make test']"},
      {"an included Makefile that git ignores",
       "printf 'GREP = true\\ntest: ; @exit 0\\n.PHONY: none\\n"
       "grep=true\\noverride MAKEFLAGS += -i\\n' > build/more.mk; echo x >> a.txt",
       "['make test']"},
      {"variables in an ignored .env", "echo 'EXPECTED=wrong' > .env; echo x >> a.txt",
       "['EXPECTED=right; if [ -e .env ]; then . ./.env; fi; grep -q \"^$EXPECTED\" a.txt']"},
      {"settings of a tool in an ignored file", "echo 'exit 0' > tool.local; echo x >> a.txt",
       "['for f in *.local; do if [ -e \"$f\" ]; then . \"./$f\"; fi; done; exit 1']"},
      {"an edited test", "echo 'exit 0' > tests/check.sh; echo x >> a.txt", kCheck,
       ", restore: [tests/**]"},
      {"a removed test", "rm tests/check.sh; echo x >> a.txt",
       "['for t in tests/*.sh; do if [ -e $t ]; then sh $t || exit 1; fi; done']",
       ", restore: [\"tests/**\"]"},
      {"an added test helper that the tests load",
       "echo 'exit 0' > tests/helper.sh; echo x >> a.txt",
       "['if [ -e tests/helper.sh ]; then . tests/helper.sh; fi; exit 1']", ", restore: [tests]"},
      {"a test behind another case of its name",
       "mkdir -p Tests; echo 'exit 0' > Tests/check.sh; echo x >> a.txt", kCheck},
      {"a process that stays and writes",
       "(setsid sh -c 'while true; do echo right > a.txt; echo right > build/out; sleep 0.01; done' "
       "> /dev/null 2>&1 &); echo x >> a.txt",
       "['grep right build/out']"},
      {"a process that stays and answers on a port",
       "(setsid python3 -m http.server 8976 --bind 127.0.0.1 > /dev/null 2>&1 &); echo x >> a.txt",
       "[python3 tests/port.py]"},
      {"a hook of git",
       "printf '#!/bin/sh\\nexit 0\\n' > .git/hooks/pre-commit; git config alias.t '!exit 0'; "
       "echo x >> a.txt",
       "['git t || exit 1']"},
      {"a link to what lies in /tmp",
       "mkdir -p /tmp/p; echo right > /tmp/p/x; ln -s /tmp/p/x link; echo x >> a.txt",
       "['grep right link']"},
      {"the start-up files of shells",
       "for f in .bashrc .profile .bash_profile .shrc; do echo 'exit 0' > $HOME/$f; done; "
       "echo x >> a.txt",
       "['ENV=$HOME/.shrc BASH_ENV=$HOME/.bashrc bash -lc \"exit 1\"']"},
      {"a socket in TMPDIR", "mkfifo $TMPDIR/agent; echo right > $TMPDIR/answer; echo x >> a.txt",
       "['grep right $TMPDIR/answer']"},
      {"a poisoned cache below HOME",
       "mkdir -p $HOME/.cache/tool; echo right > $HOME/.cache/tool/result; echo x >> a.txt",
       "['grep right ${XDG_CACHE_HOME:-$HOME/.cache}/tool/result']"},
      {"marks in /dev/shm and /var/tmp",
       "for d in /dev/shm /var/tmp; do echo right > $d/mark-7121 2> /dev/null; done; echo x >> a.txt",
       "['grep -h right /dev/shm/mark-7121 /var/tmp/mark-7121']"},
      {"permissions that git does not store", "chmod 0757 a.txt tests; echo x >> a.txt",
       "['test -k a.txt || stat -c %a a.txt tests | grep -q 7$']"},
      {"an empty folder", "mkdir -p ready; echo x >> a.txt", "['test -d ready']"},
      {"a pipe", "mkfifo ready; echo x >> a.txt", "['test -p ready']"},
      {"a hidden link over an ignored folder",
       "mv build old.local; ln -s old.local build; echo right > old.local/out; echo x >> a.txt",
       "['grep right build/out']"},
      {"code that rewrites itself while it is checked",
       "printf 'trap \"echo exit 1 > tests/new.sh\" EXIT\\nexit 0\\n' > tests/new.sh",
       "['sh tests/new.sh']"},
      {"a product that the diff leaves out",
       "mkdir -p out; echo x > out/CMakeCache.txt; echo right > out/result; echo x >> a.txt",
       "['grep right out/result']"},
  };
  return rows;
}

/// Those that work wherever the test runs. A HOME, a /tmp and a /dev/shm of its own stop the others
/// already, where the run could have them.
const std::vector<std::string> kWorkInRun = {
    "a stale .pyc in an ignored __pycache__",
    "an ignored conftest that skips what fails",
    "a shim in node_modules/.bin",
    "a program in an ignored venv",
    "a fake product in build/",
    "a product that make takes for new",
    "old times, so that make keeps the product of the start",
    "an included Makefile that git ignores",
    "variables in an ignored .env",
    "settings of a tool in an ignored file",
    "an edited test",
    "a removed test",
    "an added test helper that the tests load",
    "permissions that git does not store",
    "an empty folder",
    "a pipe",
    "a hidden link over an ignored folder",
    "a product that the diff leaves out"};

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
                "./Makefile f \n./a.txt f \n./build d \n./build/out f \n./dir l a.txt\n"
                "./kind d \n./kind/below f \n./n d \n./n/m d \n./n/m/new f \n"
                "./node_modules d \n./node_modules/.bin d \n./node_modules/.bin/tool f \n"
                "./src d \n./src/mod.py f \n./tests d \n./tests/check.sh f \n./tests/port.py f \n"
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
