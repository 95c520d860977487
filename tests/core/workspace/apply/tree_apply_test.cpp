#include "core/workspace/apply/tree_apply.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/files.h"
#include "core/git/git_repository.h"
#include "core/workspace/apply/recover_tree.h"
#include "tests/core/workspace/apply/real_tree.h"
#include "tests/support/program.h"

using namespace sortie;
using namespace sortie::test;

BOOST_AUTO_TEST_SUITE(tree_apply)

BOOST_AUTO_TEST_CASE(a_diff_with_every_kind_of_change_makes_exactly_the_tree_that_it_says) {
  const RealTree tree(kBefore);

  tree.apply(diff_of(kBefore, kAfter));

  BOOST_TEST((tree.entries() == kAfter));
  BOOST_TEST(!tree.has_folder("deep"));
  BOOST_TEST(!tree.has_folder(kApplyFolder));
  tree.apply(diff_of(kAfter, kBefore));
  BOOST_TEST((tree.entries() == kBefore));
  BOOST_TEST(!tree.has_folder("new"));
}

BOOST_AUTO_TEST_CASE(changes_that_are_there_already_are_no_conflict_and_nothing_is_written) {
  const TouchedFiles before = {{"a", {kFile, "1\n"}}, {"b", {kFile, "b\n"}}};
  const TouchedFiles after = {{"a", {kFile, "2\n"}}, {"c", {kFile, "c\n"}}};
  const RealTree tree(after);

  const PlannedChanges planned = tree.plan(diff_of(before, after));

  BOOST_TEST(planned.conflicts.empty());
  BOOST_TEST(planned.changes.empty());
}

BOOST_AUTO_TEST_CASE(what_was_only_moved_or_got_another_mode_is_no_conflict_either) {
  const TouchedFiles before = {
      {"a", {kFile, lines(20)}}, {"m", {kFile, "m\n"}}, {"p", {kFile, lines(40)}}};
  const TouchedFiles after = {
      {"b", {kFile, lines(20)}}, {"m", {kProgram, "m\n"}}, {"q", {kProgram, lines(40)}}};
  const std::string diff = diff_of(before, after);
  const PlanOptions known{
      .moved_ends = {{"b", sha256_hex(lines(20))}, {"q", sha256_hex(lines(40))}}};
  const RealTree tree(after);

  const PlannedChanges planned = tree.plan(diff, known);

  BOOST_TEST(planned.conflicts.empty());
  BOOST_TEST(planned.changes.empty());
  // Another file of the same name is none that was moved.
  const RealTree other({{"b", {kFile, "mine\n"}}, {"m", {kProgram, "m\n"}}, {"q", after.at("q")}});
  BOOST_TEST(other.plan(diff, known).conflicts == std::vector<std::string>{"a: is not there"},
             boost::test_tools::per_element());
  const RealTree mode({{"b", after.at("b")}, {"m", {kProgram, "m\n"}}, {"q", {kFile, lines(40)}}});
  BOOST_TEST(mode.plan(diff, known).conflicts == std::vector<std::string>{"p: is not there"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_touched_path_that_changed_meanwhile_is_a_conflict) {
  const struct {
    const char* name;
    const char* path;
    TreeEntry entry;
    const char* conflict;
  } rows[] = {
      {"content", "a.txt", {kFile, "mine\n"}, "a.txt: has another content now"},
      {"mode", "a.txt", {kProgram, lines(30)}, "a.txt: has another mode now"},
      {"kind", "a.txt", {kLink, "b"}, "a.txt: has another mode now"},
      {"a new file is there",
       "new/folder/file",
       {kFile, "mine"},
       "new/folder/file: is there already"},
      {"a file in a new folder's place",
       "new",
       {kFile, "mine"},
       "new/folder/file: needs a folder in the place of the file new"},
      {"a link in a folder's place", "new", {kLink, "/tmp"}, "new/folder/file: is behind a link"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RealTree tree(kBefore);
      fs::remove(tree.path() / row.path);
      tree.put(row.path, row.entry);
      const auto before = read_tree(tree.path());

      const PlannedChanges planned = tree.plan(diff_of(kBefore, kAfter));

      BOOST_REQUIRE(!planned.conflicts.empty());
      BOOST_TEST(planned.conflicts.front() == row.conflict);
      BOOST_TEST((read_tree(tree.path()) == before));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_moved_file_is_compared_where_its_id_is_known) {
  const TouchedFiles before = {{"a", {kFile, lines(20)}}};
  const TouchedFiles after = {{"b", {kFile, lines(20)}}};
  const std::string diff = diff_of(before, after);
  const RealTree tree({{"a", {kFile, "mine\n"}}});

  BOOST_TEST(tree.plan(diff).conflicts.empty());
  BOOST_TEST(
      tree.plan(diff, {.moved_ids = {{"a", id_text(blob_id(lines(20)))}}}).conflicts.size() == 1u);
}

BOOST_AUTO_TEST_CASE(lines_that_changed_elsewhere_are_merged_and_the_same_ones_are_not) {
  const TouchedFiles before = {{"a", {kFile, lines(30)}}, {"image", {kFile, kBytes}}};
  const TouchedFiles after = {{"a", {kProgram, lines(30) + "end\n"}}, {"image", {kFile, "x\n"}}};
  const std::string diff = diff_of(before, after);
  const PlanOptions three_way{.base = [](const std::string& id) {
    return id == id_text(blob_id(lines(30))) ? std::optional(lines(30)) : std::nullopt;
  }};
  const RealTree tree({{"a", {kFile, "begin\n" + lines(30)}}, {"image", {kFile, kBytes}}});

  const PlannedChanges merged = tree.plan(diff, three_way);

  BOOST_TEST(merged.conflicts.empty());
  BOOST_REQUIRE(merged.changes.size() == 2u);
  BOOST_TEST((merged.changes[0].after ==
              std::optional(TreeEntry{kProgram, "begin\n" + lines(30) + "end\n"})));
  const RealTree same({{"a", {kFile, lines(30) + "my end\n"}}, {"image", {kFile, kBytes}}});
  BOOST_TEST(same.plan(diff, three_way).conflicts.size() == 1u);
  const RealTree unknown({{"a", {kFile, lines(30)}}, {"image", {kFile, "\1\2"}}});
  BOOST_TEST(unknown.plan(diff, three_way).conflicts.size() == 1u);
  const RealTree gone({{"image", {kFile, kBytes}}});
  BOOST_TEST(gone.plan(diff, three_way).conflicts.size() == 1u);
}

BOOST_AUTO_TEST_CASE(permissions_stay_and_only_the_executable_bits_follow_the_diff) {
  const TouchedFiles before = {{"a", {kFile, "1\n"}}, {"b", {kProgram, "1\n"}}};
  const TouchedFiles after = {{"a", {kProgram, "2\n"}}, {"b", {kProgram, "2\n"}}};
  const RealTree tree(before);
  ::chmod((tree.path() / "a").c_str(), 0640);
  ::chmod((tree.path() / "b").c_str(), 0700);

  tree.apply(diff_of(before, after));

  struct stat status {};
  ::stat((tree.path() / "a").c_str(), &status);
  BOOST_TEST((status.st_mode & 07777) == 0750u);
  ::stat((tree.path() / "b").c_str(), &status);
  BOOST_TEST((status.st_mode & 07777) == 0700u);
}

BOOST_AUTO_TEST_CASE(root_gives_new_files_to_the_owner_of_their_folder) {
  if (::geteuid() != 0) return;
  const RealTree tree({{"a/x", {kFile, "1\n"}}});
  give_to(tree.path(), 12345);

  tree.apply(diff_of({{"a/x", {kFile, "1\n"}}},
                     {{"a/x", {kFile, "2\n"}}, {"a/new/y", {kFile, "y"}}, {"l", {kLink, "a"}}}));

  for (const char* name : {"a/x", "a/new", "a/new/y", "l"}) {
    struct stat status {};
    ::lstat((tree.path() / name).c_str(), &status);
    BOOST_TEST(status.st_uid == 12345u, name);
  }
}

BOOST_AUTO_TEST_CASE(what_comes_between_planning_and_writing_is_a_conflict_and_nothing_changes) {
  const RealTree tree(kBefore);
  const PlannedChanges planned = tree.plan(diff_of(kBefore, kAfter));
  fs::remove(tree.path() / "image");
  tree.put("image", {kFile, "mine\n"});
  const auto before = read_tree(tree.path());

  BOOST_CHECK_EXCEPTION(TreeApply(tree.root(), planned.changes), Error,
                        [](const Error& error) { return error.code() == ExitCode::conflict; });

  BOOST_TEST((read_tree(tree.path()) == before));
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_not_empty_is_not_replaced_and_all_is_undone) {
  const TouchedFiles before = {{"d/x", {kFile, "x\n"}}, {"a", {kFile, "a\n"}}};
  const TouchedFiles after = {{"d", {kFile, "d\n"}}, {"a", {kFile, "b\n"}}};
  const RealTree tree(before);
  tree.put("d/untracked", {kFile, "mine\n"});
  const auto was = read_tree(tree.path());

  BOOST_CHECK_EXCEPTION(tree.apply(diff_of(before, after)), Error,
                        [](const Error& error) { return error.code() == ExitCode::conflict; });

  BOOST_TEST((read_tree(tree.path()) == was));
}

BOOST_AUTO_TEST_CASE(changes_that_were_not_settled_are_undone) {
  const RealTree tree(kBefore);
  const auto before = read_tree(tree.path());
  {
    TreeApply apply(tree.root(), tree.plan(diff_of(kBefore, kAfter)).changes);
    apply.perform();
    BOOST_TEST((read_tree(tree.path()) != before));
  }
  BOOST_TEST((read_tree(tree.path()) == before));
}

BOOST_AUTO_TEST_CASE(another_process_at_work_in_the_tree_is_named_busy) {
  const RealTree tree(kBefore);
  const TreeApply first(tree.root(), tree.plan(diff_of(kBefore, kAfter)).changes);

  BOOST_CHECK_EXCEPTION(recover_tree(tree.path()), Error,
                        [](const Error& error) { return error.code() == ExitCode::busy; });
}

BOOST_AUTO_TEST_CASE(a_folder_of_that_name_which_a_repository_brought_is_left_alone) {
  const RealTree tree(kBefore);
  // A real one, as an archive or a checkout would bring it along.
  const RealTree elsewhere(kBefore);
  TreeApply apply(elsewhere.root(), elsewhere.plan(diff_of(kBefore, kAfter)).changes);
  apply.perform();
  fs::copy(elsewhere.path() / kApplyFolder, tree.path() / kApplyFolder,
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  const auto before = read_tree(tree.path());

  BOOST_TEST((recover_tree(tree.path()).what == Recovery::What::nothing));

  BOOST_TEST((read_tree(tree.path()) == before));
  BOOST_CHECK_EXCEPTION(tree.apply(diff_of(kBefore, kAfter)), Error,
                        [](const Error& error) { return error.code() == ExitCode::environment; });
}

BOOST_AUTO_TEST_CASE(a_file_that_was_edited_after_the_kill_is_not_lost) {
  const RealTree tree(kBefore);
  const pid_t child = ::fork();
  if (child == 0) {
    TreeApply apply(tree.root(), tree.plan(diff_of(kBefore, kAfter)).changes);
    apply.perform();
    ::raise(SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  std::ofstream(tree.path() / "a.txt", std::ios::app) << "edited\n";

  BOOST_CHECK_EXCEPTION(recover_tree(tree.path()), Error, [](const Error& error) {
    return error.code() == ExitCode::conflict &&
           std::string(error.what()).find("a.txt: somebody has changed it since") !=
               std::string::npos;
  });
  BOOST_TEST(read_file(tree.path() / "a.txt").ends_with("edited\n"));
  BOOST_TEST((tree.entries().at("image") == kBefore.at("image")));
}

BOOST_AUTO_TEST_SUITE_END()
