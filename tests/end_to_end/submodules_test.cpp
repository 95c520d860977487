// Submodules that the task lists (output.diff.submodules): the changes in each are a diff of its own.
#include <signal.h>

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "core/record/transcript_reader.h"
#include "tests/end_to_end/submodules_run.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

using Strings = std::vector<std::string>;

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Text, binary, moved, removed, ignored and executable files, in both submodules and beside them.
const std::string kEveryChange =
    "echo 2 > sub/file; chmod +x sub/file; mv sub/gone sub/moved; printf '\\000\\001' > sub/image; "
    "ln -s file sub/link; mkdir sub/new; printf 'no newline' > sub/new/x; echo 3 > sub/inner/file; "
    "rm sub/inner/gone; echo top >> file";

const std::string kBoth = "output: {diff: {submodules: [sub, sub/inner]}}\n";

std::string task_with(const std::string& more) {
  return "policy: auto\nverify: {commands: ['grep 2 sub/file && test -L sub/link && test ! -e sub/gone"
         " && grep 3 sub/inner/file'], rounds: 0}\n" +
         more;
}

void apply(const fs::path& diff, const fs::path& folder) {
  git(folder, {"apply", "--index", diff.string()});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(submodules)

BOOST_AUTO_TEST_CASE(a_listed_submodule_has_a_diff_of_its_own_that_applies_in_it) {
  for (const char* isolation : {"overlay", "copy", "none"}) {
    for (const Caller& caller : all_callers()) {
      if (std::string(isolation) != "copy" && !caller.namespaces) continue;
      BOOST_TEST_CONTEXT(isolation << ", " << caller.name) {
        const RunFolder folder;
        make_modules(folder);
        const RunFolder aside;  // that stays the test's own
        const fs::path clone = clone_modules(folder, aside.path("clone").string());
        folder.write_task(script_of(kEveryChange), task_with(kBoth));
        const auto before = files_of(folder.workspace());
        give_to(folder.path(""), caller.uid);

        const ProgramEnd end = folder.run_as(caller, folder.start({"--isolation", isolation}));

        BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
        const bool in_place = std::string(isolation) == "none";
        BOOST_TEST((files_of(folder.workspace()) == before) != in_place);
        apply(folder.out() / "changes.diff", clone);
        apply(folder.out() / "submodules/sub.diff", clone / "sub");
        apply(folder.out() / "submodules/sub/inner.diff", clone / "sub/inner");
        BOOST_TEST(read_file(clone / "sub/file") == "2\n");
        BOOST_TEST(read_file(clone / "sub/moved") == "module\n");
        BOOST_TEST(read_file(clone / "sub/image") == std::string("\0\1", 2));
        BOOST_TEST(read_file(clone / "sub/new/x") == "no newline");
        BOOST_TEST(fs::read_symlink(clone / "sub/link") == "file");
        BOOST_TEST(read_file(clone / "sub/inner/file") == "3\n");
        BOOST_TEST(!fs::exists(clone / "sub/inner/gone"));
        BOOST_TEST(read_file(clone / "file") == "work\ntop\n");
        BOOST_TEST(!holds(folder.artifact("changes.diff"), "sub"));
        BOOST_TEST(holds(folder.artifact("submodules/sub.diff"), "rename from gone\n"));
        BOOST_TEST(verify_run(folder.out()).problem == "");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_result_tells_of_each_diff_and_verify_and_replay_find_it_the_same) {
  const RunFolder folder;
  make_modules(folder);
  folder.write_task(script_of(kEveryChange), task_with(kBoth));

  const ProgramEnd end = folder.run({"--diff", folder.path("all.diff").string()});

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  const Json result = folder.result();
  BOOST_TEST(result.integer_at("changed_files") == 8);
  Strings told;
  for (const Json& one : result["submodules"].items()) {
    told.push_back(one.string_at("path") + " " + one.string_at("diff") + " " +
                   one["changed_files"].text() + " " + one.string_at("base"));
    BOOST_TEST((one["applies_to"].texts() == Strings{"start", "head", "index"}));
    BOOST_TEST(
        one.string_at("head_commit") ==
        git(folder.workspace() / one.string_at("path"), {"rev-parse", "HEAD"}).substr(0, 40));
  }
  BOOST_TEST((told == Strings{"sub submodules/sub.diff 5 head",
                              "sub/inner submodules/sub/inner.diff 2 head"}),
             boost::test_tools::per_element());
  BOOST_TEST(result["left_out"].items().empty());
  // --diff has the workspace's alone, and says so.
  BOOST_TEST(read_file(folder.path("all.diff")) == folder.artifact("changes.diff"));
  BOOST_TEST(holds(end.errors, "lacks the changes in submodules"), end.errors);
  BOOST_TEST(holds(result.string_at("next"), "sub/inner apply"), result.string_at("next"));
  // The digest of what was verified is that of all of them.
  const Said sums = test::run_program(
      {"sh", "-c",
       "sha256sum changes.diff submodules/sub.diff submodules/sub/inner.diff | sha256sum"},
      folder.out());
  BOOST_TEST("sha256:" + sums.output.substr(0, 64) == result["verification"].string_at("diff"));
  Strings names;
  for (const Json& record : folder.records("diff.written"))
    names.push_back(record.string_at("name") + " of " + record.string_at("submodule"));
  BOOST_TEST((names == Strings{"changes.diff of ", "submodules/sub.diff of sub",
                               "submodules/sub/inner.diff of sub/inner"}),
             boost::test_tools::per_element());
  for (const char* command : {"verify", "replay"}) {
    const ProgramEnd checked =
        run_program({.argv = {sortie_binary(), command, folder.out().string(), "-C",
                              folder.workspace().string()}});
    BOOST_TEST(checked.status == 0, command << ": " << checked.errors << checked.output);
  }
}

BOOST_AUTO_TEST_CASE(what_the_list_does_not_name_fails_the_run_with_the_line_to_add) {
  const struct {
    const char* name;
    std::string script;
    std::string list;
    Strings left_out;
  } rows[] = {
      {"a submodule in a listed one",
       "echo 2 > sub/file; echo 3 > sub/inner/file",
       "[sub]",
       {"submodule sub/inner/file: in the submodule sub/inner; `output: {diff: {submodules: "
        "[sub/inner]}}` in the task gives it a diff of its own, and so does a run with -C there"}},
      {"the submodule around a listed one",
       "echo 2 > sub/file; echo 3 > sub/inner/file",
       "[sub/inner]",
       {"submodule sub/file: in the submodule sub; `output: {diff: {submodules: [sub]}}` in the "
        "task gives it a diff of its own, and so does a run with -C there"}},
      {"one that is not checked out",
       "echo 2 > empty/file",
       "['*']",
       {"submodule empty/file: in the submodule empty, which is not checked out"}},
      {"a listed one that is gone",
       "rm -r sub",
       "[sub, sub/inner]",
       {"submodule sub: the submodule itself was removed, or replaced by a folder that is none",
        "submodule sub/inner: the submodule itself was removed, or replaced by a folder that is "
        "none"}},
      {"a folder in place of a listed one",
       "mv sub /tmp/sub; mkdir sub; cp /tmp/sub/file sub/file; echo 2 >> sub/file",
       "['sub*']",
       {"submodule sub: the submodule itself was removed, or replaced by a folder that is none",
        "submodule sub/inner: the submodule itself was removed, or replaced by a folder that is "
        "none"}},
      {"a link in place of a listed one", "mv sub other; ln -s other sub", "[sub]", {}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      make_modules(folder);
      folder.write_task(script_of(row.script + "; echo rest > rest"),
                        "policy: auto\nverify: {commands: ['true'], rounds: 0}\n"
                        "output: {diff: {submodules: " +
                            row.list + "}}\n");
      const auto before = files_of(folder.workspace());

      const ProgramEnd end = folder.run({"--apply"});

      BOOST_TEST(end.status == 1, end.errors);
      const Strings left_out = left_out_of(folder.result());
      if (row.left_out.empty())
        BOOST_TEST(!left_out.empty());
      else
        BOOST_TEST(left_out == row.left_out, boost::test_tools::per_element());
      BOOST_TEST((files_of(folder.workspace()) == before));
      BOOST_TEST(!fs::exists(folder.out() / "changes.diff"));
      BOOST_TEST(!fs::exists(folder.out() / "submodules"));
      BOOST_TEST(holds(folder.artifact("partial.diff"), "rest"));
      if (row.list == "[sub]" && !row.left_out.empty())
        BOOST_TEST(holds(folder.artifact("partial-submodules/sub.diff"), "+2\n"));
      BOOST_TEST(verify_run(folder.out()).problem == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_list_that_names_no_submodule_is_an_error_before_anything_starts) {
  const struct {
    const char* list;
    const char* says;
  } rows[] = {
      {"[sbu]", "sbu is no submodule of the workspace; did you mean sub?"},
      {"[file]", "file is no submodule of the workspace"},
      {"['lib/*']", "names no submodule of the workspace; it has empty, sub, sub/inner"},
      {"[empty]", "empty is not checked out; `git submodule update --init empty`"},
      {"[../module]", "leads out of the workspace"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.list) {
      const RunFolder folder;
      make_modules(folder);
      folder.write_task(
          script_of("true"),
          std::string("policy: auto\noutput: {diff: {submodules: ") + row.list + "}}\n");

      const ProgramEnd end = folder.run();

      BOOST_TEST(end.status == 2, end.errors);
      BOOST_TEST(holds(end.errors, row.says), end.errors);
      BOOST_TEST(holds(end.errors, "task.yaml:"), end.errors);
      BOOST_TEST(!fs::exists(folder.out() / "transcript.jsonl"));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_link_in_place_of_a_submodule_is_not_followed) {
  const RunFolder folder;
  make_modules(folder);
  fs::rename(folder.workspace() / "sub", folder.path("elsewhere"));
  fs::create_symlink(folder.path("elsewhere"), folder.workspace() / "sub");
  folder.write_task(script_of("true"), "policy: auto\noutput: {diff: {submodules: [sub]}}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 2, end.errors);
  BOOST_TEST(holds(end.errors, "sub is not checked out"), end.errors);
}

/// The tree counts, whatever HEAD of the submodule is; and the link to its commit stays.
BOOST_AUTO_TEST_CASE(a_commit_of_the_agent_in_a_submodule_changes_nothing_about_its_diff) {
  const RunFolder folder;
  folder.write("module/file", "module\n");
  make_repository(folder.path("module"));
  commit_all(folder.path("module"));
  folder.write("work/file", "work\n");
  make_repository(folder.workspace());
  commit_all(folder.workspace());
  // Its .git is a folder in it.
  git(folder.path(""), {"clone", "-q", "module", "work/sub"});
  git(folder.workspace(), {"-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
                           folder.path("module").string(), "sub"});
  git(folder.workspace(), {"commit", "-q", "-m", "module"});
  folder.write("work/sub/file", "mine\n");
  folder.write_task(
      script_of("cd sub && echo agent >> file && (git add -A && git -c user.name=a -c "
                "user.email=a@b commit -q -m x; true) && echo later > later"),
      "policy: auto\noutput: {diff: {submodules: [sub]}}\n");

  const ProgramEnd end = folder.run();

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_TEST(folder.artifact("changes.diff") == "");
  BOOST_TEST(
      (folder.result()["submodules"].items().front()["applies_to"].texts() == Strings{"start"}));
  git(folder.workspace() / "sub", {"apply", (folder.out() / "submodules/sub.diff").string()});
  BOOST_TEST(read_file(folder.workspace() / "sub/file") == "mine\nagent\n");
  BOOST_TEST(read_file(folder.workspace() / "sub/later") == "later\n");
}

/// Each repository's rules are about its own files; globs and limits of the task about all.
BOOST_AUTO_TEST_CASE(
    ignore_rules_are_the_submodules_own_and_what_the_task_expects_counts_all_files) {
  const struct {
    const char* name;
    std::string more;
    int status;
    const char* says;
  } rows[] = {
      {"as it is", "", 0, "2 ignored paths"},
      {"too many files", "expect: {diff: {max_files: 1}}\n", 1, "2 changed files"},
      {"too many lines", "expect: {diff: {max_lines: 1}}\n", 1, "2 added and deleted lines"},
      {"a denied path", "expect: {diff: {deny: ['sub/**']}}\n", 1, "sub/kept.top"},
      {"an allowed path", "expect: {diff: {allow: ['file']}}\n", 1, "sub/kept.top"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      make_modules(folder);
      folder.write("work/.gitignore", "*.top\n");
      commit_all(folder.workspace());
      folder.write("work/sub/.gitignore", "*.own\n");
      folder.write_task(script_of("echo 1 > x.top; echo 2 > sub/x.own; echo 3 > sub/kept.top; "
                                  "echo 4 > x.own"),
                        "policy: auto\nverify: {commands: ['test -e sub/kept.top && ! test -e "
                        "sub/x.own'], rounds: 0}\noutput: {diff: {submodules: [sub]}}\n" +
                            row.more);

      const ProgramEnd end = folder.run();

      BOOST_TEST(end.status == row.status, end.errors);
      BOOST_TEST(holds(end.errors, row.says), end.errors);
      BOOST_TEST((folder.result()["ignored_changes"].texts() == Strings{"sub/x.own", "x.top"}));
    }
  }
}

BOOST_AUTO_TEST_CASE(nothing_that_a_submodule_configures_is_run) {
  const RunFolder folder;
  make_modules(folder);
  const fs::path sub = folder.workspace() / "sub";
  const std::string trap = "touch " + folder.path("ran").string();
  for (const char* key : {"core.fsmonitor", "filter.evil.clean", "filter.evil.smudge",
                          "filter.evil.process", "diff.evil.textconv", "diff.evil.command",
                          "diff.external", "core.sshCommand", "core.alternateRefsCommand"})
    git(sub, {"config", key, trap});
  folder.write("work/.git/modules/sub/info/attributes", "* filter=evil diff=evil\n");
  folder.write("work/.git/modules/sub/hooks/post-index-change", "#!/bin/sh\n" + trap + "\n");
  fs::permissions(folder.workspace() / ".git/modules/sub/hooks/post-index-change",
                  fs::perms::owner_all);
  folder.write_task(script_of("echo 2 > sub/file"),
                    "policy: auto\noutput: {diff: {submodules: [sub]}}\n");

  const ProgramEnd end = folder.run({"--apply"});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(read_file(sub / "file") == "2\n");
  BOOST_TEST(!fs::exists(folder.path("ran")));
}

BOOST_AUTO_TEST_CASE(a_secret_in_a_submodules_diff_is_a_leak_and_is_not_written) {
  const std::string secret = "sk-verysecretvalue-0123456789abcdef";
  const RunFolder folder;
  make_modules(folder);
  folder.write_task(script_of("printf 'sk-verysecret%s\\n' value-0123456789abcdef > sub/file"),
                    "policy: auto\noutput: {diff: {submodules: [sub]}}\n");
  ProgramStart start = folder.start();
  start.environment["MY_API_KEY"] = secret;

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 9, end.errors);
  BOOST_TEST(holds(end.errors, "sub/file:1"), end.errors);
  BOOST_TEST(!holds(folder.artifact("partial-submodules/sub.diff"), secret));
  BOOST_TEST(!fs::exists(folder.out() / "submodules"));
}

BOOST_AUTO_TEST_CASE(restored_and_kept_paths_of_the_verification_are_those_of_the_workspace) {
  const RunFolder folder;
  make_modules(folder);
  folder.write_task(
      script_of("echo 2 > sub/file; echo 3 > sub/new"),
      "policy: auto\noutput: {diff: {submodules: [sub]}}\n"
      "verify: {commands: ['grep module sub/file && cat sub/new && echo > sub/made'], "
      "restore: ['sub/f*'], may_change: ['sub/made'], rounds: 0}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST((folder.result()["verification"]["restored"].texts() == Strings{"sub/file"}));
  BOOST_TEST(holds(folder.artifact("submodules/sub.diff"), "+2\n"));
  BOOST_TEST(!holds(folder.artifact("submodules/sub.diff"), "made"));
}

BOOST_AUTO_TEST_CASE(a_workspace_in_a_folder_of_its_repository_names_submodules_from_there) {
  const RunFolder folder;
  folder.write("module/file", "module\n");
  make_repository(folder.path("module"));
  commit_all(folder.path("module"));
  folder.write("work/dir/file", "work\n");
  make_repository(folder.workspace());
  commit_all(folder.workspace());
  git(folder.workspace(), {"-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
                           folder.path("module").string(), "dir/sub"});
  git(folder.workspace(), {"commit", "-q", "-m", "module"});
  folder.write_task(script_of("echo 2 > sub/file; echo 3 > file"),
                    "policy: auto\noutput: {diff: {submodules: [sub]}}\n");
  const fs::path target = clone_modules(folder, folder.path("target").string());

  const ProgramEnd end = folder.run({"-C", (folder.workspace() / "dir").string(), "--apply"});

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_TEST(read_file(folder.workspace() / "dir/sub/file") == "2\n");
  BOOST_TEST(read_file(folder.workspace() / "dir/file") == "3\n");
  const ProgramEnd landed =
      run_program({.argv = {sortie_binary(), "land", folder.out().string()}, .folder = target});
  BOOST_TEST(landed.status == 0, landed.errors);
  BOOST_TEST(read_file(target / "dir/sub/file") == "2\n");
  const ProgramEnd checked = run_program(
      {.argv = {sortie_binary(), "verify", folder.out().string(), "-C", target.string()}});
  BOOST_TEST(holds(checked.output, "submodules/sub.diff: applied to the recorded base, 1 of 1"),
             checked.printed());
}

BOOST_AUTO_TEST_CASE(a_failure_in_the_users_own_tree_takes_changes_in_submodules_back) {
  const RunFolder folder;
  make_modules(folder);
  folder.write_task(script_of(kEveryChange),
                    "policy: auto\nverify: {commands: ['false'], rounds: 0}\n" + kBoth);
  const auto before = files_of(folder.workspace());

  const ProgramEnd end = folder.run({"--isolation", "none"});

  if (end.status == 7) return;  // no namespaces here
  BOOST_TEST(end.status == 1, end.errors);
  BOOST_TEST((files_of(folder.workspace()) == before));
  BOOST_TEST(holds(folder.artifact("partial-submodules/sub.diff"), "+2\n"));
}

/// Killed in its second turn; in the user's own tree the submodule is not there any more then.
BOOST_AUTO_TEST_CASE(a_run_that_was_killed_goes_on_with_the_submodules_of_its_start) {
  for (const char* isolation : {"overlay", "copy", "none"}) {
    BOOST_TEST_CONTEXT(isolation) {
      const RunFolder folder;
      make_modules(folder);
      folder.write_task(CassetteWriter()
                            .shell({"sh", "-c", "echo 2 > sub/file; cp -r sub aside; rm -r sub"})
                            .next()
                            .shell({"sleep", "5"})
                            .next()
                            .shell({"sh", "-c", "cp -r aside sub; rm -r aside"})
                            .next()
                            .message("done"),
                        "policy: auto\n" + kBoth);
      Program program(folder.start({"--isolation", isolation}));
      if (program.wait_for_output_text("sleep 5")) program.signal(SIGKILL);
      program.finish();

      const ProgramEnd end = folder.run({"--isolation", isolation});

      if (end.status == 7) continue;  // it does not work here
      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(holds(folder.artifact("submodules/sub.diff"), "+2\n"));
      BOOST_TEST(folder.artifact("changes.diff") == "");
      BOOST_TEST(verify_run(folder.out()).problem == "");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
