#include <fcntl.h>
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <functional>

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

struct Row {
  const char* name;
  Work run;
  Work user;
  Strings conflicts{};
  Strings already{};
  Strings files{};  ///< in the diff, which has to apply to HEAD
};

Work put(const char* path, const char* text) {
  return [=](const fs::path& root) { test::put_file(root / path, text); };
}
Work drop(const char* path) {
  return [=](const fs::path& root) { fs::remove(root / path); };
}
Work shell(const char* line) {
  return [=](const fs::path& root) {
    const auto said = test::run_program({"sh", "-c", line}, root);
    BOOST_TEST(said.status == 0, said.output);
  };
}

const Row kRows[] = {
    {"the same edit", put("a", "2\n"), put("a", "2\n"), {}, {"a"}, {"a"}},
    {"the same edit, by another file in its place",
     put("a", "2\n"),
     shell("echo 2 > new && mv new a"),
     {},
     {"a"},
     {"a"}},
    {"the same new file", put("new", "n\n"), put("new", "n\n"), {}, {"new"}, {"new"}},
    {"the same removal", drop("a"), drop("a"), {}, {"a"}, {"a"}},
    {"the same mode", shell("chmod +x a"), shell("chmod +x a"), {}, {"a"}, {"a"}},
    {"the same edit, committed",
     put("a", "2\n"),
     shell("echo 2 > a && git commit -qam 2"),
     {},
     {"a"},
     {"a"}},
    {"a folder that both removed", shell("rm -r d"), shell("rm -r d"), {"d"}, {}, {}},
    {"another edit", put("a", "2\n"), put("a", "3\n"), {"a"}, {}, {"a"}},
    {"another mode", put("a", "2\n"), shell("echo 2 > a && chmod +x a"), {"a"}, {}, {"a"}},
    {"another new file", put("new", "n\n"), put("new", "m\n"), {"new"}, {}, {"new"}},
    {"an edit of what was removed", drop("a"), put("a", "3\n"), {"a"}, {}, {"a"}},
    {"a touched file", put("a", "2\n"), shell("touch a"), {}, {}, {"a"}},
    {"a touched file that is removed", drop("a"), shell("touch a"), {}, {}, {"a"}},
    {"a linked file", put("a", "2\n"), shell("ln a ../a2"), {}, {}, {"a"}},
    {"a tree of links", put("a", "2\n"), shell("cp -al . ../copy"), {}, {}, {"a"}},
    {"a file written anew as it was by both", put("a", "1\n"), shell("touch a"), {}, {}, {}},
    {"a touched file that was edited before the start",
     put("dirty", "3\n"),
     shell("touch dirty"),
     {"dirty"},
     {},
     {"dirty"}},
    {"an edit before the start, taken back by git",
     put("dirty", "3\n"),
     shell("git checkout -q dirty"),
     {"dirty"},
     {},
     {"dirty"}},
};

}  // namespace

BOOST_AUTO_TEST_SUITE(meanwhile)

BOOST_AUTO_TEST_CASE(what_the_user_did_alike_or_did_not_do_is_no_conflict) {
  for (const Isolation isolation : test::isolations()) {
    for (const Row& row : kRows) {
      // In a copy it is known which files of a removed folder the user removed too.
      const bool is_folder = row.conflicts == Strings{"d"};
      if (is_folder && isolation == Isolation::copy) continue;
      BOOST_TEST_CONTEXT(test::name_of_isolation(isolation) << ": " << row.name) {
        Bench bench;
        test::become(
            bench.root, {},
            {{"a", {0100644, "1\n"}}, {"d/f", {0100644, "f\n"}}, {"dirty", {0100644, "1\n"}}});
        test::make_repository(bench.root);
        test::commit_all(bench.root);
        test::put_file(bench.root / "dirty", "2\n");
        const std::string head = test::git(bench.root, {"rev-parse", "HEAD"});
        bench.options.isolation = isolation;
        const auto workspace = open_workspace(bench.options);
        Diff diff;
        test::next_tick(bench.folder / "");

        const std::string refused = test::in_view(*workspace, row.run, [&](const Files& view) {
          row.user(bench.folder / "tree");
          diff = make_diff(*workspace, view, bench.root, {});
        });

        BOOST_REQUIRE_MESSAGE(refused.empty(), refused);
        BOOST_TEST(diff.conflicts == row.conflicts, boost::test_tools::per_element());
        BOOST_TEST(diff.already == row.already, boost::test_tools::per_element());
        Strings files;
        for (const DiffFile& file : diff.files) files.push_back(file.path);
        BOOST_TEST(files == row.files, boost::test_tools::per_element());
        BOOST_TEST(diff.head_commit + "\n" == head);
        if (!row.conflicts.empty()) continue;
        test::git(bench.root, {"clone", "-q", ".", "../clone"});
        test::git(bench.folder / "clone", {"checkout", "-q", diff.head_commit});
        test::put_file(bench.folder / "changes.diff", diff.text);
        test::git(bench.folder / "clone", {"apply", "--index", "--allow-empty", "../changes.diff"});
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
