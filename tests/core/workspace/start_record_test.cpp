#include "core/workspace/start_record.h"

#include <boost/test/unit_test.hpp>
#include <functional>

#include "core/base/error.h"
#include "core/workspace/diff/changed_state.h"
#include "core/workspace/diff/diff.h"
#include "core/workspace/diff/make_diff.h"
#include "core/workspace/open_workspace.h"
#include "tests/core/workspace/trees.h"
#include "tests/core/workspace/workspaces.h"
#include "tests/support/git_repository.h"

using namespace sortie;
using test::Bench;
using test::Tree;
namespace fs = std::filesystem;

namespace {

using Strings = std::vector<std::string>;
using Work = std::function<void(const fs::path& root)>;

/// What the rules of the start leave of the run's work, whatever is done to them meanwhile.
const Strings kInDiff = {"kept.c", "sub/deep/kept.c", "tracked.o"};
const Strings kIgnored = {"build/x", "private/x", "sub/deep/x.gen", "x.o"};

void make_start(const fs::path& root) {
  test::become(root, {},
               {{".gitignore", {0100644, "*.o\n"}},
                {"sub/deep/.gitignore", {0100644, "*.gen\n"}},
                {"sub/deep/f", {0100644, "f\n"}},
                {"tracked.o", {0100644, "1\n"}}});
  test::make_repository(root);
  test::git(root, {"add", "-f", "tracked.o"});
  test::commit_all(root);
  test::put_file(root / ".git/info/exclude", "/private\n");
  // Not committed: known by the record alone.
  test::put_file(root / ".gitignore", "*.o\n/build/\n");
}

void work(const fs::path& root) {
  test::become(root, {},
               {{"kept.c", {0100644, "1\n"}},
                {"sub/deep/kept.c", {0100644, "1\n"}},
                {"tracked.o", {0100644, "2\n"}},
                {"build/x", {0100644, "1\n"}},
                {"private/x", {0100644, "1\n"}},
                {"sub/deep/x.gen", {0100644, "1\n"}},
                {"x.o", {0100644, "1\n"}}});
}

struct Row {
  const char* name;
  Work user;
};

Work shell(const char* line) {
  return [=](const fs::path& root) {
    const auto said = test::run_program({"sh", "-c", line}, root);
    BOOST_TEST(said.status == 0, said.output);
  };
}

const Row kRows[] = {
    {"nothing", [](const fs::path&) {}},
    {"everything ignored at the top", shell("echo '*' > .gitignore")},
    {"everything ignored in a folder", shell("echo '*' > sub/deep/.gitignore")},
    {"everything ignored by the repository", shell("echo '*' > .git/info/exclude")},
    {"an ignore file where none was", shell("echo '*' > sub/.gitignore")},
    {"everything ignored by the configuration",
     shell("echo '*' > .git/all; git config core.excludesFile .git/all")},
    {"no rule any more", shell("rm .gitignore sub/deep/.gitignore .git/info/exclude")},
    {"a tracked file that is tracked no more", shell("git rm -q --cached tracked.o")},
    {"a commit", shell("git commit -qam later")},
    {"another branch",
     shell("git stash -q && git checkout -q --orphan other && git rm -qrf . && echo '*' > "
           ".gitignore && git add -f .gitignore && git commit -qm other")},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(start_record)

BOOST_AUTO_TEST_CASE(the_rules_and_the_head_of_the_start_decide_what_a_diff_holds) {
  for (const Isolation isolation : test::isolations()) {
    for (const Row& row : kRows) {
      BOOST_TEST_CONTEXT(test::name_of_isolation(isolation) << ": " << row.name) {
        Bench bench;
        make_start(bench.root);
        const std::string head = test::git(bench.root, {"rev-parse", "HEAD"});
        bench.options.isolation = isolation;
        const auto workspace = open_workspace(bench.options);
        Diff diff;
        Strings verified;
        test::next_tick(bench.folder / "");

        const std::string refused = test::in_view(*workspace, work, [&](const Files& view) {
          row.user(bench.folder / "tree");
          diff = make_diff(*workspace, view, bench.root, {});
          for (const auto& [path, word] : changed_state(*workspace, view, bench.root, {}, {}))
            verified.push_back(path);
        });

        BOOST_REQUIRE_MESSAGE(refused.empty(), refused);
        Strings files;
        for (const DiffFile& file : diff.files) files.push_back(file.path);
        BOOST_TEST(files == kInDiff, boost::test_tools::per_element());
        BOOST_TEST(verified == kInDiff, boost::test_tools::per_element());
        BOOST_TEST(diff.ignored_changes == kIgnored, boost::test_tools::per_element());
        BOOST_TEST(diff.head_commit + "\n" == head);
      }
    }
  }
}

// The record outlives the process: a run that goes on began when it began.
BOOST_AUTO_TEST_CASE(a_run_that_goes_on_keeps_its_start) {
  for (const Isolation isolation : test::isolations()) {
    Bench bench;
    make_start(bench.root);
    const std::string head = test::git(bench.root, {"rev-parse", "HEAD"});
    bench.options.isolation = isolation;
    open_workspace(bench.options);
    test::next_tick(bench.folder / "");
    test::put_file(bench.root / ".gitignore", "*\n");
    test::git(bench.root, {"commit", "-qam", "later"});
    Diff diff;

    const auto workspace = open_workspace(bench.options);
    const std::string refused = test::in_view(*workspace, work, [&](const Files& view) {
      diff = make_diff(*workspace, view, bench.root, {});
    });

    BOOST_REQUIRE_MESSAGE(refused.empty(), refused);
    BOOST_TEST(diff.files.size() == kInDiff.size());
    BOOST_TEST(diff.ignored_changes == kIgnored, boost::test_tools::per_element());
    BOOST_TEST(diff.head_commit + "\n" == head);
  }
}

BOOST_AUTO_TEST_CASE(the_record_holds_for_a_folder_of_a_repository_and_for_one_without) {
  for (const bool is_repository : {true, false}) {
    for (const Isolation isolation : test::isolations()) {
      Bench bench;
      test::become(bench.root, {},
                   {{".gitignore", {0100644, "*.o\n"}}, {"sub/.gitignore", {0100644, "*.gen\n"}}});
      if (is_repository) {
        test::make_repository(bench.root);
        test::commit_all(bench.root);
      }
      bench.options.root = bench.root / "sub";
      bench.options.isolation = isolation;
      const auto workspace = open_workspace(bench.options);
      test::next_tick(bench.folder / "");
      Diff diff;

      const std::string refused = test::in_view(
          *workspace,
          [](const fs::path& root) {
            test::become(root, {}, {{"x.o", {0100644, "1"}}, {"x.gen", {0100644, "1"}}});
          },
          [&](const Files& view) {
            test::put_file(bench.root / ".gitignore", "");
            test::put_file(bench.root / "sub/.gitignore", "");
            diff = make_diff(*workspace, view, bench.options.root, {});
          });

      BOOST_REQUIRE_MESSAGE(refused.empty(), refused);
      const Strings ignored = is_repository ? Strings{"x.gen", "x.o"} : Strings{"x.gen"};
      BOOST_TEST(diff.ignored_changes == ignored, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(a_submodule_stays_out_whatever_index_is_missing) {
  for (const char* index : {".git/index", ".git/modules/module/index"}) {
    for (const Isolation isolation : test::isolations()) {
      BOOST_TEST_CONTEXT(test::name_of_isolation(isolation) << ": " << index) {
        Bench bench;
        const fs::path other = bench.folder / "other";
        fs::create_directory(other);
        test::become(other, {}, {{"inner", {0100644, "1\n"}}});
        test::make_repository(other);
        test::commit_all(other);
        test::become(bench.root, {}, {{"a", {0100644, "1\n"}}});
        test::make_repository(bench.root);
        test::git(bench.root, {"-c", "protocol.file.allow=always", "submodule", "add", "-q",
                               other.string(), "module"});
        test::commit_all(bench.root);
        fs::remove(bench.root / index);
        bench.options.isolation = isolation;
        const auto workspace = open_workspace(bench.options);
        Diff diff;

        const std::string refused = test::in_view(
            *workspace,
            [](const fs::path& root) {
              test::put_file(root / "a", "2\n");
              test::put_file(root / "module/inner", "2\n");
            },
            [&](const Files& view) { diff = make_diff(*workspace, view, bench.root, {}); });

        BOOST_REQUIRE_MESSAGE(refused.empty(), refused);
        BOOST_REQUIRE(diff.files.size() == 1u);
        BOOST_TEST(diff.files.front().path == "a");
        BOOST_REQUIRE(diff.left_out.size() == 1u);
        BOOST_TEST((diff.left_out.front().why == LeftOut::Why::submodule));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_lost_head_is_told_with_what_brings_it_back) {
  for (const char* object : {"HEAD", "HEAD^{tree}"}) {
    Bench bench;
    test::become(bench.root, {}, {{"a", {0100644, "1\n"}}});
    test::make_repository(bench.root);
    test::commit_all(bench.root);
    const std::string id = test::git(bench.root, {"rev-parse", object});
    fs::remove(bench.root / ".git/objects" / id.substr(0, 2) / id.substr(2, 38));

    BOOST_CHECK_EXCEPTION(check_start(bench.root), Error, [](const Error& error) {
      const std::string text = error.what();
      BOOST_TEST_MESSAGE(text);
      return error.code() == ExitCode::environment && text.find("git fsck") != text.npos &&
             text.find("git fetch") != text.npos;
    });
  }
}

BOOST_AUTO_TEST_SUITE_END()
