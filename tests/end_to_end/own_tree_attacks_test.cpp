// What a command can try in the user's own tree, on the real program.
#include <signal.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <string>

#include "core/files/files.h"
#include "tests/end_to_end/own_tree_run.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

/// Also where nothing can be mounted: there `none` wants a policy that protects nothing else.
void allow_everywhere(const OwnTreeRun& run) {
  run.write("policy.yaml",
            "version: 1\napproval: full-auto\nunreadable: allow\npaths: {protect: []}\n");
  std::string task = read_file(run.task());
  task.replace(task.find("policy: auto"), 12, "policy: policy.yaml");
  run.write("task.yaml", task);
}

void make_inner(const fs::path& folder) {
  fs::create_directories(folder);
  const std::string git = "git -C '" + folder.string() + "' -c user.name=t -c user.email=t@e ";
  const std::string line = "{ " + git + "init -q -b main && echo x > '" + (folder / "f").string() +
                           "' && " + git + "add -A && " + git + "commit -qm one; }";
  BOOST_REQUIRE(std::system(line.c_str()) == 0);
}

std::string all_of(const fs::path& folder) {
  return run_program({"sh", "-c",
                      "find . -printf '%p %y %m %l\n' | sort; find . -type f | sort | xargs "
                      "sha256sum"},
                     folder)
      .output;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(own_tree_attacks)

BOOST_AUTO_TEST_CASE(a_command_that_closes_the_workspace_is_undone) {
  for (const Caller& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const OwnTreeRun run(kWork + std::string("; chmod 0 new; chmod 0 ."));
      allow_everywhere(run);
      const std::string before = run.tree();

      const ProgramEnd end = run.run_as(caller, run.start(kInPlace));

      BOOST_TEST(end.status != 0, end.errors);
      BOOST_TEST(run.tree() == before, end.errors);
      BOOST_TEST(run.has_warning("is as it was at the start of the run again"));
      BOOST_TEST(!fs::exists(run.out() / "state"));
    }
  }
}

BOOST_AUTO_TEST_CASE(no_repository_in_the_tree_gets_another_setting_hook_or_place) {
  const char* const attacks[] = {
      "echo '[core] fsmonitor = evil' >> inner/.git/config; echo evil > inner/.git/hooks/post-commit",
      "git -C inner -c user.name=a -c user.email=a@b commit -q --allow-empty -m evil",
      "mv inner moved",
      "rm -rf inner/.git",
      "mv inner/.git x; cp -r x inner/.git",
      "echo gitdir: ../evil > module/.git",
      "cd vendor/deep && rm -rf .git && git init -q",
      "echo evil > .git/hooks/post-checkout; echo evil >> .git/config; git add -A; rm -f .git/index"};
  for (const Caller& caller : all_callers()) {
    for (const std::string attack : attacks) {
      BOOST_TEST_CONTEXT(caller.name << ": " << attack) {
        const OwnTreeRun run("(" + attack + "); echo by the run > a.txt",
                             "expect: {tool_success: false}\n");
        run.write("work/.gitignore", "inner/\nvendor/\nmodule/\n");
        for (const char* name : {"inner", "vendor/deep", "real"})
          make_inner(run.workspace() / name);
        fs::rename(run.workspace() / "real", run.path("real"));
        run.write("work/module/.git", "gitdir: " + (run.path("real") / ".git").string() + "\n");
        allow_everywhere(run);
        give_to(run.task().parent_path(), caller.uid);
        const auto look = [&] {
          std::string text;
          for (const char* name : {"inner/.git", "vendor/deep/.git", "module"})
            text += all_of(run.workspace() / name);
          for (const char* name : {"config", "hooks"})
            text += run_program({"sh", "-c",
                                 std::string("cd .git && tar -c --sort=name --mtime=@0 ") + name +
                                     " | sha256sum"},
                                run.workspace())
                        .output;
          return text;
        };
        const std::string before = look();

        const ProgramEnd end = run_program(as_caller(caller, run.plain_start(kInPlace)));

        BOOST_TEST((end.status == 0 || end.status == 8), end.errors);
        BOOST_TEST(look() == before, end.errors);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(no_folder_of_sorties_own_applications_is_planted) {
  const char* const attacks[] = {
      "mkdir .sortie-apply; echo '{}' > .sortie-apply/journal; echo '*' > .sortie-apply/.gitignore",
      "mkdir -p sub/deep/.sortie-apply; echo '*' > sub/deep/.sortie-apply/.gitignore",
      "mkdir x; echo y > x/z; mv x .sortie-apply", "ln -s /etc .sortie-apply"};
  for (const Caller& caller : all_callers()) {
    for (const std::string attack : attacks) {
      BOOST_TEST_CONTEXT(caller.name << ": " << attack) {
        const OwnTreeRun run(attack + "; echo by the run > a.txt",
                             "expect: {tool_success: false}\n");
        allow_everywhere(run);

        const ProgramEnd end = run.run_as(caller, run.plain_start(kInPlace));

        BOOST_TEST((end.status == 0 || end.status == 8), end.errors);
        for (const char* name : {".sortie-apply", "sub/deep/.sortie-apply"})
          BOOST_TEST(!fs::exists(fs::symlink_status(run.workspace() / name)), end.errors);
      }
    }
  }
  const OwnTreeRun run(kWork);
  run.write_task(CassetteWriter()
                     .patch("*** Begin Patch\n*** Add File: .sortie-apply/journal\n+{}\n"
                            "*** End Patch\n")
                     .next()
                     .message("done"),
                 "policy: auto\nexpect: {tool_success: false, changes: any}\n");
  run.run(kInPlace);
  BOOST_TEST(!fs::exists(run.workspace() / ".sortie-apply"));
  BOOST_TEST(run.output(0).find("protected") != std::string::npos, run.output(0));
}

BOOST_AUTO_TEST_CASE(root_undoes_the_killed_run_of_a_user_and_a_user_is_told_of_roots) {
  std::optional<Caller> root;
  std::optional<Caller> user;
  for (const Caller& caller : all_callers())
    if (caller.namespaces) (caller.uid ? user : root) = caller;
  if (!root || !user || ::geteuid() != 0) {
    BOOST_TEST_MESSAGE("this user can't play both");
    return;
  }
  for (const bool root_first : {true, false}) {
    BOOST_TEST_CONTEXT(root_first) {
      const Waiting waiting(root_first ? "81" : "82");
      const OwnTreeRun run(kWork + waiting.words());
      give_to(run.path(""), user->uid);
      const auto owners = [&] {
        return run_program(
                   {"sh", "-c", "find . -path ./.git -prune -o -printf '%p %U %m\n' | sort"},
                   run.workspace())
            .output;
      };
      const std::string before = run.tree() + owners();
      Program program(as_caller(root_first ? *root : *user, run.plain_start(kInPlace)));
      BOOST_REQUIRE(wait_until([&] { return !waiting.processes().empty(); }));
      program.signal(SIGKILL);
      program.finish();
      BOOST_REQUIRE(wait_until([&] { return waiting.processes().empty(); }));
      run.write_task(script("true"), "policy: auto\nexpect: {changes: any}\n");
      std::vector<std::string> fresh = kInPlace;
      fresh.emplace_back("--fresh");

      if (root_first) {
        const ProgramEnd end = run_program(as_caller(*user, run.plain_start(fresh)));
        BOOST_TEST(end.status != 0, end.errors);
        BOOST_TEST(end.errors.find("ermission") != std::string::npos, end.errors);
        BOOST_TEST(read_file(run.workspace() / "a.txt") == "by the run\n");
      }
      const ProgramEnd end = run_program(as_caller(*root, run.plain_start(fresh)));

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(run.tree() + owners() == before, end.errors);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
