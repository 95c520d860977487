#include "core/workspace/diff/diff.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/git/git_info.h"
#include "core/workspace/diff/make_diff.h"
#include "core/workspace/open_workspace.h"
#include "tests/core/workspace/changed_copy.h"
#include "tests/core/workspace/trees.h"
#include "tests/core/workspace/workspaces.h"
#include "tests/support/git_repository.h"

using namespace sortie;
using test::Bench;
using Run = test::ChangedCopy;
using test::Tree;
namespace fs = std::filesystem;

namespace {

using Strings = std::vector<std::string>;

auto fails(ExitCode code, const std::string& text) {
  return [=](const Error& error) {
    BOOST_TEST_MESSAGE(error.what());
    return error.code() == code && std::string(error.what()).find(text) != std::string::npos;
  };
}

}  // namespace

BOOST_AUTO_TEST_SUITE(diff)

BOOST_AUTO_TEST_CASE(a_clean_tree_is_diffed_against_head) {
  Run run;
  run.put({{"a", {0100644, "one\n"}}, {"b", {0100644, "two\n"}}});
  test::make_repository(run.bench.root);
  test::commit_all(run.bench.root);
  run.put({{"b", {0100644, "edited by the user\n"}}});
  run.open();

  run.change({{"a", {0100644, "1\n"}}, {"new", {0100644, "n\n"}}});
  const Diff diff = run.diff();

  BOOST_TEST(diff.base == "head");
  BOOST_TEST((diff.applies_to == Strings{"start", "head", "index"}));
  BOOST_TEST((test::paths_of(diff) == Strings{"a", "new"}));
  BOOST_TEST(diff.head_commit + "\n" == test::git(run.bench.root, {"rev-parse", "HEAD"}));
  test::put_file(run.bench.folder / "changes.diff", diff.text);
  test::git(run.bench.root, {"apply", "--check", "--index", "../changes.diff"});
}

BOOST_AUTO_TEST_CASE(a_dirty_touched_path_has_the_start_or_head_as_its_base) {
  Run run;
  run.put({{"a", {0100644, "one\n"}}});
  test::make_repository(run.bench.root);
  test::commit_all(run.bench.root);
  run.put({{"a", {0100644, "one\nuser\n"}}});
  run.open();
  run.change({{"a", {0100644, "one\nuser\nrun\n"}}});

  const Diff start = run.diff();
  const Diff head = run.diff({.base = DiffBase::head});

  BOOST_TEST(start.base == "start");
  BOOST_TEST((start.applies_to == Strings{"start"}));
  BOOST_TEST(start.text.find("+user") == std::string::npos);
  BOOST_TEST(head.base == "head");
  BOOST_TEST((head.applies_to == Strings{"head", "index"}));
  BOOST_TEST(head.text.find("+user\n+run") != std::string::npos);
  test::put_file(run.bench.folder / "head.diff", head.text);
  test::git(run.bench.root, {"apply", "--check", "--cached", "../head.diff"});
}

BOOST_AUTO_TEST_CASE(what_has_a_file_in_the_way_of_the_diff_is_nothing_it_applies_to) {
  const struct {
    const char* name;
    Tree change;
    Strings applies_to;
  } rows[] = {
      {"a folder for a file", {{"a/x", {0100644, "1\n"}}}, {"start"}},
      {"a file for a folder", {{"b", {0100644, "1\n"}}}, {"start"}},
      {"beside them", {{"c", {0100644, "1\n"}}}, {"start", "head", "index"}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Run run;
      run.put({{"a", {0100644, "1\n"}}, {"b/c", {0100644, "2\n"}}});
      test::make_repository(run.bench.root);
      test::commit_all(run.bench.root);
      fs::remove(run.bench.root / "a");
      fs::remove_all(run.bench.root / "b");
      run.open();
      run.change(row.change);

      const Diff diff = run.diff();

      BOOST_TEST((diff.applies_to == row.applies_to));
      BOOST_TEST(diff.base == (row.applies_to.size() == 1 ? "start" : "head"));
    }
  }
}

BOOST_AUTO_TEST_CASE(ignored_changes_are_listed_tracked_and_included_ones_are_in) {
  Run run;
  run.put({{".gitignore", {0100644, "*.o\nbuild/\n*.log\n"}}, {"kept.o", {0100644, "1"}}});
  test::make_repository(run.bench.root);
  test::git(run.bench.root, {"add", "-f", "kept.o"});
  test::commit_all(run.bench.root);
  run.open();

  run.change({{"kept.o", {0100644, "2"}},
              {"x.o", {0100644, "x"}},
              {"build/deep/y", {0100644, "y"}},
              {"run.log", {0100644, "log"}},
              {".gitignore", {0100644, "*.c\n"}},
              {"new.c", {0100644, "c"}}});
  const Diff diff = run.diff({.include = {"*.log"}});

  BOOST_TEST((test::paths_of(diff) == Strings{".gitignore", "kept.o", "run.log"}));
  BOOST_TEST((diff.ignored_changes == Strings{"build/deep/y", "new.c", "x.o"}));
}

BOOST_AUTO_TEST_CASE(ignore_files_speak_where_there_is_no_repository) {
  Run run;
  run.put({{".gitignore", {0100644, "*.o\n"}}, {"sub/.gitignore", {0100644, "/tmp/\n"}}});
  run.open();

  run.change({{"a.o", {0100644, "1"}},
              {"sub/tmp/x", {0100644, "2"}},
              {"tmp/x", {0100644, "3"}},
              {"a.c", {0100644, "4"}}});
  const Diff diff = run.diff();

  BOOST_TEST(diff.base == "start");
  BOOST_TEST(diff.head_commit == "");
  BOOST_TEST((diff.applies_to == Strings{"start"}));
  BOOST_TEST((test::paths_of(diff) == Strings{"a.c", "tmp/x"}));
  BOOST_TEST((diff.ignored_changes == Strings{"a.o", "sub/tmp/x"}));
}

BOOST_AUTO_TEST_CASE(a_repository_without_commits_has_only_its_start) {
  Run run;
  run.put({{"a", {0100644, "1\n"}}});
  test::make_repository(run.bench.root);
  run.open();
  run.change({{"a", {0100644, "2\n"}}});

  BOOST_TEST(run.diff().base == "start");
  BOOST_CHECK_EXCEPTION(run.diff({.base = DiffBase::head}), Error,
                        fails(ExitCode::usage, "no commit"));
  const auto info = read_git_info(run.bench.root);
  BOOST_REQUIRE(info);
  BOOST_TEST(info->branch == "main");
  BOOST_TEST(info->head_commit == "");
}

BOOST_AUTO_TEST_CASE(a_workspace_below_the_toplevel_has_paths_of_its_own) {
  Run run;
  run.put({{"sub/a", {0100644, "1\n"}}, {".gitignore", {0100644, "/sub/out\n"}}});
  test::make_repository(run.bench.root);
  test::commit_all(run.bench.root);
  run.open("sub");

  run.change({{"a", {0100644, "2\n"}}, {"out", {0100644, "x"}}});
  const Diff diff = run.diff();

  BOOST_TEST(diff.base == "head");
  BOOST_TEST((test::paths_of(diff) == Strings{"a"}));
  BOOST_TEST((diff.ignored_changes == Strings{"out"}));
  test::put_file(run.bench.folder / "changes.diff", diff.text);
  test::git(run.bench.root / "sub", {"apply", "../../changes.diff"});
  BOOST_TEST(read_file(run.bench.root / "sub/a") == "2\n");
  BOOST_TEST(read_git_info(run.bench.root / "sub")->toplevel == run.bench.root);
}

BOOST_AUTO_TEST_CASE(a_linked_worktree_is_a_repository_too) {
  Run run;
  fs::create_directory(run.bench.folder / "main");
  test::become(run.bench.folder / "main", {}, {{"a", {0100644, "1\n"}}});
  test::make_repository(run.bench.folder / "main");
  test::commit_all(run.bench.folder / "main");
  fs::remove(run.bench.root);
  test::git(run.bench.folder / "main", {"worktree", "add", "-q", "-b", "side", "../tree"});
  run.open();
  run.change({{"a", {0100644, "2\n"}}, {".git", {0100644, "gitdir: /elsewhere\n"}}});

  const Diff diff = run.diff();

  BOOST_TEST((test::paths_of(diff) == Strings{"a"}));
  BOOST_TEST((diff.applies_to == Strings{"start", "head", "index"}));
  const auto info = read_git_info(run.bench.root);
  BOOST_REQUIRE(info);
  BOOST_TEST(info->branch == "side");
  BOOST_TEST(info->toplevel == run.bench.root);
}

BOOST_AUTO_TEST_CASE(a_hostile_repository_runs_nothing) {
  Run run;
  const std::string marker = run.bench.folder / "marker";
  run.put({{"a.txt", {0100644, "1\n"}},
           {".gitattributes", {0100644, "* filter=evil diff=evil merge=evil text eol=crlf\n"}}});
  test::make_repository(run.bench.root);
  test::commit_all(run.bench.root);
  const std::string evil = "touch " + marker;
  for (const auto* key :
       {"filter.evil.clean", "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv",
        "diff.evil.command", "diff.external", "core.fsmonitor", "core.sshCommand", "core.pager",
        "core.alternateRefsCommand", "credential.helper", "core.editor"}) {
    test::git(run.bench.root, {"config", key, evil});
  }
  test::git(run.bench.root, {"config", "core.worktree", "/"});
  test::git(run.bench.root, {"config", "core.hooksPath", (run.bench.folder / "hooks").native()});
  for (const auto* hook : {"post-index-change", "pre-commit", "post-checkout"}) {
    fs::create_directories(run.bench.folder / "hooks");
    test::put_file(run.bench.folder / "hooks" / hook, "#!/bin/sh\n" + evil + "\n");
    fs::permissions(run.bench.folder / "hooks" / hook, fs::perms::owner_all);
  }
  fs::remove(marker);
  run.open();
  run.change({{"a.txt", {0100644, "2\n"}}, {"b.txt", {0100644, "3\n"}}});

  const Diff diff = run.diff();

  BOOST_TEST((test::paths_of(diff) == Strings{"a.txt", "b.txt"}));
  BOOST_TEST(read_git_info(run.bench.root)->toplevel == run.bench.root);
  BOOST_TEST(!fs::exists(marker));
}

BOOST_AUTO_TEST_CASE(what_a_diff_cannot_hold_is_named_and_the_rest_is_diffed) {
  Run run;
  run.put({{".gitattributes", {0100644, "*.bin filter=lfs\n"}}, {"a.bin", {0100644, "pointer"}}});
  test::make_repository(run.bench.root);
  test::commit_all(run.bench.root);
  fs::create_directory(run.bench.root / "module");
  test::become(run.bench.root / "module", {}, {{"inner", {0100644, "1\n"}}});
  test::make_repository(run.bench.root / "module");
  test::commit_all(run.bench.root / "module");
  test::git(run.bench.root, {"add", "module"});
  run.open();

  run.change({{"a.bin", {0100644, "other"}},
              {"b.bin", {0100644, "new"}},
              {"git~1/x", {0100644, "in disguise"}},
              {"made/.git/HEAD", {0100644, "ref: refs/heads/main\n"}},
              {"made/.git/config", {0100644, ""}},
              {"made/file", {0100644, "f\n"}},
              {"module/inner", {0100644, "2\n"}}});

  const Diff diff = run.diff();

  Strings told;
  for (const LeftOut& one : diff.left_out)
    told.push_back(std::string(name_of(one.why)) + " " + one.path);
  BOOST_TEST(told == (Strings{"lfs a.bin", "lfs b.bin", "bad-name git~1/x", "git-folder made/.git",
                              "submodule module/inner"}),
             boost::test_tools::per_element());
  BOOST_TEST((test::paths_of(diff) == Strings{"made/file"}));
  BOOST_TEST((diff.applies_to == Strings{"start", "head", "index"}));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_read_is_named_and_the_rest_is_diffed) {
  Run run;
  run.put({{"d/was", {0100644, "1\n"}}});
  run.open();
  run.change({{"closed", {0100000, "x"}}, {"d/new", {0100644, "n"}}, {"rest", {0100644, "r\n"}}});
  fs::permissions(run.tree() / "d", fs::perms::none);

  const Diff diff = run.diff();

  fs::permissions(run.tree() / "d", fs::perms::owner_all);
  BOOST_REQUIRE(diff.left_out.size() == 2u);
  BOOST_TEST(diff.left_out[0].path == "closed");
  BOOST_TEST(diff.left_out[1].path == "d");
  BOOST_TEST((diff.left_out[1].why == LeftOut::Why::unreadable));
  BOOST_TEST((test::paths_of(diff) == Strings{"rest"}));
}

// git update-index --split-index and a sparse index are of kinds that libgit2 does not know.
BOOST_AUTO_TEST_CASE(where_the_index_cannot_be_read_head_stands_in_for_it) {
  const struct {
    const char* name;
    std::function<void(const fs::path&)> make;
  } rows[] = {
      {"split",
       [](const fs::path& root) {
         test::git(root, {"update-index", "--split-index"});
       }},
      {"sparse",
       [](const fs::path& root) {
         test::git(root, {"sparse-checkout", "set", "--cone", "--sparse-index", "in"});
       }},
      {"damaged",
       [](const fs::path& root) { test::put_file(root / ".git/index", "DIRC and no more"); }},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      Run run;
      run.put({{"a", {0100644, "1\n"}},
               {"in/b", {0100644, "2\n"}},
               {"out/c", {0100644, "3\n"}},
               {".gitignore", {0100644, "*.o\n"}},
               {".gitattributes", {0100644, "*.bin filter=lfs\n"}}});
      test::make_repository(run.bench.root);
      test::commit_all(run.bench.root);
      row.make(run.bench.root);
      run.open();
      run.change({{"a", {0100644, "x\n"}},
                  {"in/new", {0100644, "n\n"}},
                  {"x.o", {0100644, "o"}},
                  {"y.bin", {0100644, "b"}}});

      const Diff diff = run.diff();

      BOOST_TEST(!diff.index_problem.empty());
      BOOST_TEST((test::paths_of(diff) == Strings{"a", "in/new"}));
      BOOST_TEST((diff.ignored_changes == Strings{"x.o"}));
      BOOST_TEST(diff.left_out.size() == 1u);
      BOOST_TEST((diff.applies_to == Strings{"start", "head"}));
    }
  }
}

BOOST_AUTO_TEST_CASE(links_that_leave_the_tree_are_told) {
  Run run;
  run.put({{"old", {0120000, "/etc/passwd"}}, {"dir/x", {0100644, "x"}}});
  run.open();
  run.change({{"absolute", {0120000, "/etc/passwd"}},
              {"dir/up", {0120000, "../../elsewhere"}},
              {"dir/in", {0120000, "../old"}},
              {"dir/round", {0120000, "../dir/x"}}});

  BOOST_TEST((run.diff().outward_links ==
              Strings{"absolute -> /etc/passwd", "dir/up -> ../../elsewhere"}));
}

BOOST_AUTO_TEST_CASE(too_large_files_are_listed_with_their_digest) {
  Run run;
  run.open();
  run.change({{"large", {0100644, std::string(101, 'x')}}, {"small", {0100644, "x"}}});

  const Diff diff = run.diff({.max_file_size = 100});

  const TooLarge large{"large", "sha256:" + sha256_hex(std::string(101, 'x')) + " 101"};
  BOOST_TEST((diff.too_large == std::vector<TooLarge>{large}));
  BOOST_TEST((test::paths_of(diff) == Strings{"small"}));
}

BOOST_AUTO_TEST_CASE(nothing_changed_is_an_empty_diff) {
  Run run;
  run.put({{"a", {0100644, "1\n"}}});
  run.open();

  const Diff diff = run.diff();

  BOOST_TEST(diff.text == "");
  BOOST_TEST(diff.files.empty());
  BOOST_TEST((diff.applies_to == Strings{"start"}));
}

BOOST_AUTO_TEST_CASE(the_parts_of_a_change_are_told) {
  Run run;
  run.put({{"gone", {0100644, "1\n2\n"}},
           {"moved", {0100644, "a\nb\nc\nd\n"}},
           {"type", {0100644, "t\n"}}});
  run.open();
  test::become(run.tree(), test::read_tree(run.tree()),
               {{"new", {0100755, "n\n"}},
                {"to/here", {0100644, "a\nb\nc\nd\ne\n"}},
                {"type", {0120000, "new"}}});

  const Diff diff = run.diff();

  const auto text = [](const DiffFile& file) {
    return file.path + "<" + file.old_path + " " + std::to_string(static_cast<int>(file.kind)) +
           " +" + std::to_string(file.added_lines) + " -" + std::to_string(file.deleted_lines);
  };
  Strings told;
  for (const auto& file : diff.files) told.push_back(text(file));
  BOOST_TEST(
      (told == Strings{"gone< 1 +0 -2", "new< 0 +1 -0", "to/here<moved 2 +1 -0", "type< 2 +1 -1"}));
}

BOOST_AUTO_TEST_CASE(what_is_too_large_together_is_named_and_the_rest_is_diffed) {
  Run run;
  run.put({});
  run.open();
  for (int i = 0; i < 30; ++i) {
    const auto file = run.tree() / std::to_string(i);
    write_file(file, "");
    fs::resize_file(file, 9u << 20);  // holes: no disk is needed
  }
  const Diff diff = run.diff();

  BOOST_TEST(diff.files.size() == 28u);  // 252 MiB
  BOOST_REQUIRE(diff.left_out.size() == 2u);
  BOOST_TEST((diff.left_out[0].why == LeftOut::Why::too_much));
  BOOST_TEST(diff.left_out[0].detail.find("exceed 256 MiB") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_draft_of_one_path_looks_at_nothing_else) {
  Run run;
  run.put({{"a", {0100644, "one\n"}}, {"dir/b", {0100644, "two\n"}}, {"dirt", {0100644, "x\n"}}});
  test::make_repository(run.bench.root);
  test::commit_all(run.bench.root);
  run.open();
  run.change({{"a", {0100644, "1\n"}},
              {"dir/b", {0100644, "2\n"}},
              {"dir/new", {0100644, "n\n"}},
              {"dirt", {0100644, "y\n"}}});
  // Larger than any diff may be: by its size alone.
  write_file(run.tree() / "huge", "");
  fs::resize_file(run.tree() / "huge", 3ull << 30);
  const auto draft = [&](const std::string& only) {
    DiffOptions options;
    options.draft = true;
    options.only = only;
    return run.diff(options);
  };

  const Diff whole = draft("");

  BOOST_TEST((test::paths_of(whole) == Strings{"a", "dir/b", "dir/new", "dirt"}));
  BOOST_TEST((whole.too_large == std::vector<TooLarge>{{"huge"}}));
  BOOST_TEST((test::paths_of(draft("dir")) == Strings{"dir/b", "dir/new"}));
  BOOST_TEST(draft("dir").too_large.empty());
  BOOST_TEST((test::paths_of(draft("a")) == Strings{"a"}));
  BOOST_TEST(draft("none").text.empty());
  BOOST_TEST(whole.text.find(draft("dir").text) != std::string::npos);
  fs::remove(run.tree() / "huge");
  BOOST_TEST(whole.text == run.diff().text);
}

BOOST_AUTO_TEST_CASE(a_draft_is_bounded_in_bytes) {
  Run run;
  run.put({{"a", {0100644, std::string(700, 'a') + "\n"}}});
  run.open();
  run.change({{"a", {0100644, std::string(700, 'b') + "\n"}}});
  DiffOptions options;
  options.draft = true;
  options.max_bytes = 1000;

  BOOST_CHECK_EXCEPTION(run.diff(options), Error, fails(ExitCode::task_failed, "reached at a"));
}

// What it throws comes through wherever it is asked, and each file is a chance to ask.
BOOST_AUTO_TEST_CASE(a_diff_is_ended_by_its_pace_wherever_it_is) {
  struct Ended {
    int calls;
  };
  for (const Isolation isolation : {Isolation::copy, Isolation::overlay}) {
    BOOST_TEST_CONTEXT((isolation == Isolation::copy ? "copy" : "overlay")) {
      Bench bench;
      Tree before;
      for (int i = 0; i < 40; ++i) before["d/" + std::to_string(i)] = {0100644, "x\n"};
      test::become(bench.root, {}, before);
      bench.options.isolation = isolation;
      const auto workspace = open_workspace(bench.options);
      int all = 0;
      std::vector<int> ended;
      const std::string refused = test::in_view(
          *workspace,
          [&](const fs::path& root) {
            for (int i = 0; i < 20; ++i) fs::remove(root / "d" / std::to_string(i));
            for (int i = 0; i < 20; ++i) write_file(root / ("n" + std::to_string(i)), "y\n");
          },
          [&](const Files& view) {
            DiffOptions options;
            options.draft = true;
            options.check_cancel = [&all] { ++all; };
            BOOST_TEST(make_diff(*workspace, view, bench.root, options).files.size() == 40u);
            for (int at = 1; at <= all; at += 7) {
              int calls = 0;
              options.check_cancel = [&] {
                if (++calls == at) throw Ended{at};
              };
              try {
                (void)make_diff(*workspace, view, bench.root, options);
              } catch (const Ended& end) {
                ended.push_back(end.calls);
              }
            }
          });
      BOOST_REQUIRE_MESSAGE(refused.empty(), refused);

      BOOST_TEST(all >= 4 * 40);  // found, read, put into a tree, told
      BOOST_TEST(static_cast<int>(ended.size()) == (all + 6) / 7);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
