#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <functional>

#include "core/base/error.h"
#include "core/workspace/diff/diff.h"
#include "core/workspace/diff/make_diff.h"
#include "core/workspace/open_workspace.h"
#include "core/workspace/overlay.h"
#include "core/workspace/tree.h"
#include "tests/core/workspace/trees.h"
#include "tests/core/workspace/workspaces.h"
#include "tests/support/git_repository.h"

using namespace sortie;
using test::Bench;
using test::in_view;
using test::isolations;
using test::next_tick;
using test::overlay_works;
using test::Tree;
namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(conflicts)

// What the user writes to a file that the run does not touch is the user's own business.
BOOST_AUTO_TEST_CASE(a_touched_path_that_the_user_changed_too_is_a_conflict_in_every_isolation) {
  using Strings = std::vector<std::string>;
  for (const Isolation isolation : {Isolation::copy, Isolation::overlay}) {
    if (isolation == Isolation::overlay && !overlay_works()) continue;
    BOOST_TEST_CONTEXT((isolation == Isolation::copy ? "copy" : "overlay")) {
      Bench bench;
      Tree before;
      for (const char* name : {"both", "edited", "gone", "mine", "yours", "dir/kept", "dir/theirs",
                               "tracked/went", "moved", "same"})
        before[name] = {0100644, std::string(name) + "\n"};
      test::become(bench.root, {}, before);
      test::make_repository(bench.root);
      test::commit_all(bench.root);
      bench.options.isolation = isolation;
      const auto workspace = open_workspace(bench.options);
      Diff diff;
      next_tick(bench.folder / "");

      const std::string refused = in_view(
          *workspace,
          [](const fs::path& root) {
            test::put_file(root / "both", "by the run\n");
            test::put_file(root / "mine", "by the run\n");
            test::put_file(root / "new", "by the run\n");
            test::put_file(root / "same", "alike\n");
            fs::remove(root / "gone");
            fs::remove_all(root / "dir");
            fs::rename(root / "moved", root / "elsewhere");
            test::put_file(root / "tracked/other", "by the run\n");
            // As editors and apply_patch write: a new file in the old one's place.
            test::put_file(root / "tracked/draft", "by the run\n");
            fs::rename(root / "tracked/draft", root / "tracked/went");
          },
          [&](const Files& view) {
            const fs::path user = bench.folder / "tree";
            test::put_file(user / "both", "by the user\n");
            test::put_file(user / "yours", "by the user\n");
            test::put_file(user / "new", "by the user\n");
            test::put_file(user / "same", "alike\n");
            test::put_file(user / "gone", "by the user\n");
            test::put_file(user / "dir/theirs", "by the user\n");
            fs::remove(user / "tracked/went");
            diff = make_diff(*workspace, view, bench.root, {});
          });
      BOOST_REQUIRE_MESSAGE(refused.empty(), refused);

      const Strings conflicts = diff.conflicts;
      BOOST_TEST(conflicts == (Strings{"both", "dir/theirs", "gone", "new", "tracked/went"}),
                 boost::test_tools::per_element());
      BOOST_TEST((diff.applies_to == Strings{"head", "index"}));
      BOOST_TEST(diff.text.find("-both\n+by the run") != std::string::npos, diff.text);
      BOOST_TEST(diff.text.find("by the user") == std::string::npos, diff.text);
      BOOST_TEST(diff.text.find("rename to elsewhere") != std::string::npos, diff.text);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_folder_that_the_user_exchanged_and_a_file_that_went_are_conflicts) {
  using Strings = std::vector<std::string>;
  const struct {
    const char* name;
    std::function<void(const fs::path& user)> edit;
    Strings conflicts;
  } rows[] = {
      {"another folder in its place",
       [](const fs::path& user) {
         fs::rename(user / "d", user / "d.old");
         fs::rename(user / "e", user / "d");
       },
       {"d/deep/f", "d/deep/gone"}},
      {"another folder further up, written to since",
       [](const fs::path& user) {
         fs::rename(user / "d", user / "d.old");
         fs::rename(user / "e", user / "d");
         test::put_file(user / "d/later", "by the user\n");
       },
       {"d/deep/f", "d/deep/gone"}},
      {"an untracked file", [](const fs::path& user) { fs::remove(user / "notes"); }, {"notes"}},
      {"an untracked file's folder",
       [](const fs::path& user) { fs::remove_all(user / "u"); },
       {"u/notes"}},
      {"a file beside", [](const fs::path& user) { test::put_file(user / "beside", "x"); }, {}},
      {"a file beside in the folder",
       [](const fs::path& user) { test::put_file(user / "d/deep/beside", "x"); },
       {}},
  };
  for (const Isolation isolation : {Isolation::copy, Isolation::overlay}) {
    if (isolation == Isolation::overlay && !overlay_works()) continue;
    for (const auto& row : rows) {
      BOOST_TEST_CONTEXT((isolation == Isolation::copy ? "copy: " : "overlay: ") << row.name) {
        Bench bench;
        Tree before;
        for (const char* name : {"d/deep/f", "d/deep/gone", "e/deep/f", "e/deep/gone", "moved"})
          before[name] = {0100644, std::string(name) + "\n"};
        test::become(bench.root, {}, before);
        test::make_repository(bench.root);
        test::commit_all(bench.root);
        test::put_file(bench.root / "notes", "the user's\n");
        fs::create_directories(bench.root / "u");
        test::put_file(bench.root / "u/notes", "the user's\n");
        bench.options.isolation = isolation;
        const auto workspace = open_workspace(bench.options);
        Diff diff;
        next_tick(bench.folder / "");

        const std::string refused = in_view(
            *workspace,
            [](const fs::path& root) {
              test::put_file(root / "d/deep/f", "by the run\n");
              fs::remove(root / "d/deep/gone");
              test::put_file(root / "notes", "by the run\n");
              test::put_file(root / "u/notes", "by the run\n");
              test::put_file(root / "new", "by the run\n");
              fs::rename(root / "moved", root / "elsewhere");
            },
            [&](const Files& view) {
              row.edit(bench.folder / "tree");
              diff = make_diff(*workspace, view, bench.root, {});
            });

        BOOST_REQUIRE_MESSAGE(refused.empty(), refused);
        const Strings conflicts = diff.conflicts;
        BOOST_TEST(conflicts == row.conflicts, boost::test_tools::per_element());
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(without_an_edit_of_the_users_there_is_no_conflict) {
  for (const Isolation isolation : {Isolation::copy, Isolation::overlay}) {
    if (isolation == Isolation::overlay && !overlay_works()) continue;
    Bench bench;
    test::become(bench.root, {}, {{"a", {0100644, "x"}}, {"d/b", {0100644, "y"}}});
    bench.options.isolation = isolation;
    const auto workspace = open_workspace(bench.options);
    Diff diff;

    const std::string refused = in_view(
        *workspace,
        [](const fs::path& root) {
          test::put_file(root / "a", "1");
          fs::remove_all(root / "d");
          test::put_file(root / "d", "now a file");
        },
        [&](const Files& view) { diff = make_diff(*workspace, view, bench.root, {}); });

    BOOST_REQUIRE_MESSAGE(refused.empty(), refused);
    BOOST_TEST(diff.conflicts.empty());
    BOOST_TEST(diff.files.size() == 3u);
  }
}

BOOST_AUTO_TEST_SUITE_END()
