#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <set>

#include "core/base/error.h"
#include "core/workspace/diff/make_diff.h"
#include "core/workspace/open_workspace.h"
#include "core/workspace/start_keeping.h"
#include "core/workspace/undo_own_tree.h"
#include "core/workspace/work_times.h"
#include "tests/core/workspace/own_tree_bench.h"
#include "tests/core/workspace/trees.h"
#include "tests/core/workspace/workspaces.h"
#include "tests/support/git_repository.h"

// A run that works in the user's own tree (isolation none): what it changed, its diff, and putting
// the tree back.

using namespace sortie;
using test::everything;
using test::next_tick;
using test::OwnBench;
using test::put;
using test::Tree;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> names_of(const std::vector<ChangedPath>& changes) {
  std::vector<std::string> names;
  for (const ChangedPath& one : changes) names.push_back(one.path);
  return names;
}

struct stat status_at(const fs::path& path) {
  struct stat status {};
  BOOST_REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status;
}

using Names = std::vector<std::string>;

}  // namespace

BOOST_AUTO_TEST_SUITE(own_tree)

BOOST_AUTO_TEST_CASE(random_changes_are_found_put_back_and_their_diff_makes_them_again) {
  const char* count = std::getenv("SORTIE_TREES");
  const unsigned trees = count != nullptr ? static_cast<unsigned>(std::atoi(count)) : 30;
  const char* const first = std::getenv("SORTIE_FIRST_TREE");
  for (unsigned seed = first != nullptr ? static_cast<unsigned>(std::atoi(first)) : 0; seed < trees;
       ++seed) {
    BOOST_TEST_CONTEXT(seed) {
      OwnBench bench;
      test::RandomTrees random(5000 + seed);
      const Tree before = random.make(12);
      const Tree after = random.change(before, 10);
      test::become(bench.root, {}, before);
      if (seed % 3 != 0) bench.commit_all();
      if (seed % 3 == 2) put(bench.root / "dirty-before", "the user's work");
      const Tree start = test::read_tree(bench.root);
      const auto workspace = bench.open();
      next_tick(bench.folder.path());

      bench.run(*workspace, [&] { test::become(bench.root, before, after); });

      const Tree changed = test::read_tree(bench.root);
      const Diff diff = make_diff(*workspace, bench.view(), bench.root, {});
      const UndoneTree undone = undo_own_tree(bench.options.state);
      BOOST_TEST(undone.left.empty());
      BOOST_TEST(undone.failed.empty(), text_of(undone));
      BOOST_TEST(test::difference(test::read_tree(bench.root), start) == "");
      // `git apply` can't make a file below a link that led to itself: such a diff is not whole.
      for (const LeftOut& one : diff.left_out) BOOST_CHECK(one.why == LeftOut::Why::link_loop);
      if (!diff.left_out.empty()) continue;
      put(bench.folder / "changes.diff", std::string(diff.text.view()));
      const auto said =
          test::run_program({"git", "apply", "--allow-empty", "../changes.diff"}, bench.root);
      BOOST_TEST(said.status == 0, said.output);
      BOOST_TEST(test::difference(test::read_tree(bench.root), changed) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(only_what_git_lacks_is_copied) {
  OwnBench bench;
  for (int i = 0; i < 50; ++i)
    put(bench.root / ("f" + std::to_string(i)), "text " + std::to_string(i));
  put(bench.root / ".gitignore", "*.log\nbuild/\n");
  bench.commit_all();
  next_tick(bench.folder.path());
  put(bench.root / "f1", "edited before the run");
  put(bench.root / "new", "not tracked");
  put(bench.root / "x.log", "ignored");
  put(bench.root / "build/big", "ignored");
  fs::last_write_time(bench.root / "f2", fs::file_time_type::clock::now());

  const auto workspace = bench.open();

  BOOST_TEST(bench.kept_copies() == 2);  // f1, new
  next_tick(bench.folder.path());
  bench.run(*workspace, [&] {
    for (const char* name : {"f1", "f2", "new", "x.log", "build/big"})
      put(bench.root / name, "by the run");
    fs::remove(bench.root / "f3");
  });
  BOOST_TEST((names_of(workspace->changed_paths(bench.view())) ==
              Names{"build/big", "f1", "f2", "f3", "new", "x.log"}));
  const Files& start = workspace->start();
  BOOST_TEST(*start.read("f1") == "edited before the run");
  BOOST_TEST(*start.read("f2") == "text 2");
  BOOST_TEST(*start.read("f3") == "text 3");
  BOOST_TEST(*start.read("f4") == "text 4");
  BOOST_TEST(*start.read("new") == "not tracked");
  BOOST_TEST(!start.read("x.log"));  // nobody knows what it was
  BOOST_TEST(start.list("build").empty());

  const UndoneTree undone = undo_own_tree(bench.options.state);

  BOOST_TEST((undone.put_back == Names{"f1", "f2", "f3", "new"}));
  BOOST_TEST(test::run_program({"git", "status", "--porcelain"}, bench.root).output ==
             " M f1\n?? new\n");
  BOOST_TEST(read_file(bench.root / "x.log") == "by the run");  // ignored files stay
}

BOOST_AUTO_TEST_CASE(links_modes_folders_and_times_are_put_back) {
  OwnBench bench;
  put(bench.root / "script", "#!/bin/sh\n");
  ::chmod((bench.root / "script").c_str(), 0750);
  put(bench.root / "one", "two names");
  fs::create_hard_link(bench.root / "one", bench.root / "other");
  put(bench.root / "closed/inner", "x");
  fs::create_directories(bench.root / "empty/below");
  fs::create_symlink("script", bench.root / "link");
  put(bench.root / "was-file", "y");
  put(bench.root / "was-folder/z", "z");
  const Tree before = test::read_tree(bench.root);
  const auto time = fs::last_write_time(bench.root / "script");
  const auto workspace = bench.open();
  next_tick(bench.folder.path());

  bench.run(*workspace, [&] {
    put(bench.root / "script", "changed");
    ::chmod((bench.root / "script").c_str(), 0644);
    put(bench.root / "one", "changed");
    fs::remove(bench.root / "other");
    fs::remove_all(bench.root / "empty");
    fs::remove(bench.root / "link");
    fs::create_symlink("elsewhere", bench.root / "link");
    fs::remove(bench.root / "was-file");
    put(bench.root / "was-file/deep/er", "new");
    fs::remove_all(bench.root / "was-folder");
    put(bench.root / "was-folder", "new");
    fs::create_directories(bench.root / "made/folders");
    ::mkfifo((bench.root / "made/pipe").c_str(), 0600);
    ::chmod((bench.root / "closed").c_str(), 0);
  });
  const UndoneTree undone = undo_own_tree(bench.options.state);

  BOOST_TEST(undone.failed.empty(), text_of(undone));
  BOOST_TEST(test::difference(test::read_tree(bench.root), before) == "");
  BOOST_TEST((status_at(bench.root / "script").st_mode & 07777) == 0750);
  BOOST_TEST((status_at(bench.root / "closed").st_mode & 07777) == 0755);
  BOOST_CHECK(fs::last_write_time(bench.root / "script") == time);
  BOOST_TEST(fs::is_directory(bench.root / "empty/below"));
  BOOST_TEST(!fs::exists(fs::symlink_status(bench.root / "made")));
  BOOST_TEST(status_at(bench.root / "one").st_ino == status_at(bench.root / "other").st_ino);
  BOOST_TEST(!has_own_tree(bench.options.state));
  BOOST_TEST(text_of(undo_own_tree(bench.options.state)) == "");
}

BOOST_AUTO_TEST_CASE(what_somebody_else_changed_while_the_run_did_not_work_is_left) {
  OwnBench bench;
  put(bench.root / "a", "start");
  put(bench.root / "b", "start");
  const auto workspace = bench.open();
  next_tick(bench.folder.path());
  bench.run(*workspace, [&] {
    put(bench.root / "a", "by the run");
    put(bench.root / "b", "by the run");
    put(bench.root / "made/c", "by the run");
  });
  next_tick(bench.folder.path());
  put(bench.root / "b", "by the user");
  put(bench.root / "made/d", "by the user");
  put(bench.root / "e", "by the user");

  const UndoneTree undone = undo_own_tree(bench.options.state);

  BOOST_TEST((undone.put_back == Names{"a", "made/c"}));
  BOOST_TEST((undone.left == Names{"b", "e", "made/d"}));
  BOOST_TEST(read_file(bench.root / "a") == "start");
  BOOST_TEST(read_file(bench.root / "b") == "by the user");
  BOOST_TEST(read_file(bench.root / "made/d") == "by the user");
  BOOST_TEST(!fs::exists(bench.root / "made/c"));
}

BOOST_AUTO_TEST_CASE(files_whose_bytes_git_converts_are_put_back_byte_for_byte) {
  const struct {
    const char* name;
    const char* attributes;
    Names config;
    std::string content;
  } rows[] = {
      {"crlf by attribute", "*.txt text eol=crlf\n", {}, "one\r\ntwo\r\n"},
      {"crlf by setting", "", {"core.autocrlf", "true"}, "one\r\ntwo\r\n"},
      {"ident", "*.txt ident\n", {}, "$Id: whatever $\n"},
      {"a filter of the same size", "*.txt filter=f\n", {"filter.f.clean", "tr a-z b-za"}, "abc\n"},
      {"another encoding",
       "*.txt working-tree-encoding=UTF-16LE\n",
       {},
       std::string("a\0b\0\n\0", 6)},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      OwnBench bench;
      bench.git({"init", "-q"});
      if (!row.config.empty()) bench.git({"config", row.config[0], row.config[1]});
      put(bench.root / ".gitattributes", row.attributes);
      put(bench.root / "a.txt", row.content);
      next_tick(bench.folder.path());
      bench.commit_all();
      next_tick(bench.folder.path());
      const auto workspace = bench.open();

      bench.run(*workspace, [&] { put(bench.root / "a.txt", "changed"); });

      BOOST_TEST(*workspace->start().read("a.txt") == row.content);
      undo_own_tree(bench.options.state);
      BOOST_TEST(read_file(bench.root / "a.txt") == row.content);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_repository_full_of_traps_runs_nothing_and_its_git_folder_stays_as_it_is) {
  OwnBench bench;
  const std::string trap = "touch " + (bench.folder / "ran").string() + "; cat";
  put(bench.root / ".gitattributes", "* filter=trap diff=trap merge=trap text=auto\n");
  put(bench.root / "a", "text");
  bench.commit_all();
  for (const char* key : {"filter.trap.clean", "filter.trap.smudge", "filter.trap.process",
                          "diff.trap.textconv", "diff.trap.command", "diff.external",
                          "core.fsmonitor", "core.sshCommand", "core.alternateRefsCommand"})
    bench.git({"config", key, trap});
  for (const char* hook : {"post-index-change", "pre-commit", "post-checkout"}) {
    put(bench.root / ".git/hooks" / hook, "#!/bin/sh\n" + trap + "\n");
    ::chmod((bench.root / ".git/hooks" / hook).c_str(), 0755);
  }
  fs::remove(bench.folder / "ran");
  const auto digest = [&] {
    return test::run_program({"sh", "-c",
                              "find .git -type f | sort | xargs sha256sum; find .git | "
                              "sort | xargs stat -c '%n %Y %i %a'"},
                             bench.root)
        .output;
  };
  const std::string git_before = digest();
  const auto workspace = bench.open();
  next_tick(bench.folder.path());

  bench.run(*workspace, [&] {
    put(bench.root / "a", "changed");
    put(bench.root / ".gitattributes", "* filter=other\n");
    put(bench.root / ".gitignore", "*\n");
    put(bench.root / "new", "new");
  });
  bench.diff(*workspace);
  const UndoneTree undone = undo_own_tree(bench.options.state);

  BOOST_TEST(undone.failed.empty(), text_of(undone));
  BOOST_TEST((undone.put_back == Names{".gitattributes", ".gitignore", "a", "new"}));
  BOOST_TEST(!fs::exists(bench.folder / "ran"));
  BOOST_TEST(digest() == git_before);
}

BOOST_AUTO_TEST_CASE(a_record_that_was_made_elsewhere_undoes_nothing) {
  OwnBench bench;
  put(bench.root / "a", "start");
  const auto workspace = bench.open();
  next_tick(bench.folder.path());
  bench.run(*workspace, [&] { put(bench.root / "a", "by the run"); });
  const fs::path copy = bench.folder / "planted";
  fs::copy(bench.options.state, copy, fs::copy_options::recursive);

  BOOST_CHECK_EXCEPTION(undo_own_tree(copy), Error, [](const Error& error) {
    return std::string(error.what()).find("was made in another folder") != std::string::npos;
  });

  BOOST_TEST(read_file(bench.root / "a") == "by the run");
}

BOOST_AUTO_TEST_CASE(more_than_may_be_copied_is_refused_with_the_ways_out) {
  OwnBench bench;
  bench.options.copy_limit = 10'000;
  put(bench.root / "big", std::string(20'000, 'x'));

  BOOST_CHECK_EXCEPTION(bench.open(), Error, [](const Error& error) {
    const std::string what = error.what();
    return error.code() == ExitCode::environment && what.find("big") != std::string::npos &&
           what.find("workspace.copy_limit") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(without_namespaces_it_needs_a_policy_that_protects_nothing) {
  OwnBench bench;
  bench.options.namespaces = false;

  BOOST_CHECK_EXCEPTION(bench.open(), Error, [](const Error& error) {
    return error.code() == ExitCode::environment &&
           std::string(error.what()).find("paths.protect: []") != std::string::npos;
  });
  bench.options.protects = false;
  BOOST_CHECK(bench.open()->mount_plan().kind == MountPlan::Kind::direct);
}

BOOST_AUTO_TEST_CASE(a_run_that_goes_on_keeps_the_start_of_its_first_process) {
  OwnBench bench;
  put(bench.root / "a", "start");
  {
    const auto first = bench.open();
    next_tick(bench.folder.path());
    bench.run(*first, [&] { put(bench.root / "a", "by the run"); });
  }
  bench.options.isolation = Isolation::automatic;
  const auto second = bench.open();

  BOOST_CHECK(second->isolation() == Isolation::none);
  BOOST_TEST((names_of(second->changed_paths(bench.view())) == Names{"a"}));
  BOOST_TEST(*second->start().read("a") == "start");
}

BOOST_AUTO_TEST_SUITE_END()
