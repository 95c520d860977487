// Changes that one diff can't hold: each is listed, its file is kept, and partial.diff has the rest.
#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "core/files/files.h"
#include "core/json/json.h"
#include "core/record/transcript_reader.h"
#include "tests/end_to_end/submodules_run.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

using Strings = std::vector<std::string>;

/// The agent is not asked again.
const std::string kOnce = "policy: auto\nverify: {commands: ['true'], rounds: 0}\n";

}  // namespace

BOOST_AUTO_TEST_SUITE(undiffable)

BOOST_AUTO_TEST_CASE(changes_in_submodules_are_listed_and_kept_and_the_rest_is_a_diff) {
  const auto listed = [](const std::string& path) {
    return "; `output: {diff: {submodules: [" + path +
           "]}}` in the task gives it a diff of its own, and so does a run with -C there";
  };
  const struct {
    const char* name;
    std::string script;
    Strings left_out;
    Strings kept;
  } rows[] = {
      {"a changed, a new and a removed file",
       "echo 2 > sub/file; echo 3 > sub/new; rm sub/gone",
       {"submodule sub/file: in the submodule sub" + listed("sub"),
        "submodule sub/gone: removed from the submodule sub" + listed("sub"),
        "submodule sub/new: in the submodule sub" + listed("sub")},
       {"sub/file", "sub/new"}},
      {"a submodule in a submodule",
       "echo 2 > sub/inner/file",
       {"submodule sub/inner/file: in the submodule sub/inner" + listed("sub/inner")},
       {"sub/inner/file"}},
      {"one that is not checked out",
       "echo 2 > empty/file",
       {"submodule empty/file: in the submodule empty, which is not checked out"},
       {"empty/file"}},
      {"a file in its place",
       "rmdir empty; echo 2 > empty",
       {"submodule empty: it is a submodule of the repository"},
       {"empty"}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      make_modules(folder);
      folder.write_task(script_of(row.script + "; echo rest > rest"), kOnce);
      const auto before = read_tree(folder.workspace());

      const ProgramEnd end = folder.run();

      BOOST_TEST(end.status == 1, end.errors);
      const Json result = folder.result();
      BOOST_TEST(left_out_of(result) == row.left_out, boost::test_tools::per_element());
      Strings kept;
      for (const auto& [path, digest] : result["kept"].members()) kept.push_back(path);
      BOOST_TEST(kept == row.kept, boost::test_tools::per_element());
      BOOST_TEST(folder.artifact("kept/" + row.kept.front()) == "2\n");
      BOOST_TEST((read_tree(folder.workspace()) == before));
      BOOST_TEST(!fs::exists(folder.out() / "changes.diff"));
      git(folder.workspace(), {"apply", (folder.out() / "partial.diff").string()});
      BOOST_TEST(read_file(folder.workspace() / "rest") == "rest\n");
      BOOST_TEST(verify_run(folder.out()).ok);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_submodule_at_another_commit_is_no_change_of_the_run) {
  const RunFolder folder;
  make_modules(folder);
  folder.write("work/sub/file", "next\n");
  git(folder.workspace() / "sub", {"config", "user.name", "Test"});
  git(folder.workspace() / "sub", {"config", "user.email", "test@example.org"});
  commit_all(folder.workspace() / "sub");
  folder.write_task(script_of("echo more >> file; cat sub/file"), "policy: auto\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  git(folder.path(""), {"clone", "-q", "work", "clean"});
  git(folder.path("clean"), {"apply", "--index", (folder.out() / "changes.diff").string()});
  BOOST_TEST(read_file(folder.path("clean/file")) == "work\nmore\n");
  BOOST_TEST(folder.artifact("changes.diff").find("sub") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_submodule_as_the_workspace_has_a_diff_of_its_own) {
  const RunFolder folder;
  make_modules(folder);
  folder.write_task(script_of("echo more >> file; rm gone"), "policy: auto\n");

  const ProgramEnd end = folder.run({"-C", (folder.workspace() / "sub").string()});

  BOOST_TEST(end.status == 0, end.errors);
  git(folder.workspace() / "sub", {"apply", "--index", (folder.out() / "changes.diff").string()});
  BOOST_TEST(read_file(folder.workspace() / "sub/file") == "module\nmore\n");
}

/// As in a partial clone: the version in HEAD of a file with changes that are not committed.
BOOST_AUTO_TEST_CASE(a_version_of_head_that_is_missing_is_left_out_of_a_diff_against_head) {
  const RunFolder folder;
  folder.write("work/a.txt", "1\n");
  folder.write("work/b.txt", "1\n2\n");
  folder.commit_workspace();
  const std::string id = git(folder.workspace(), {"rev-parse", "HEAD:a.txt"});
  fs::remove(folder.workspace() / ".git/objects" / id.substr(0, 2) / id.substr(2, 38));
  folder.write("work/a.txt", "mine\n");
  folder.write_task(script_of("echo run >> a.txt; echo run >> b.txt"),
                    kOnce + "output: {diff: {base: head}}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 1, end.errors);
  BOOST_TEST((left_out_of(folder.result()) ==
              Strings{"missing a.txt: HEAD's version of it is not in this repository, and nothing "
                      "is fetched"}));
  BOOST_TEST(folder.artifact("kept/a.txt") == "mine\nrun\n");
  git(folder.workspace(), {"apply", (folder.out() / "partial.diff").string()});
  BOOST_TEST(read_file(folder.workspace() / "b.txt") == "1\n2\nrun\n");
}

/// libgit2 would block on the ignore file.
BOOST_AUTO_TEST_CASE(without_any_diff_every_changed_path_is_listed_and_every_file_kept) {
  const RunFolder folder;
  folder.write("work/a.txt", "1\n");
  folder.write("work/b.txt", "1\n");
  folder.write("work/d/x", "1\n");
  folder.commit_workspace();
  BOOST_REQUIRE(::mkfifo((folder.workspace() / "d/.gitignore").c_str(), 0600) == 0);
  folder.write_task(script_of("echo 2 > a.txt; rm b.txt; echo 3 > d/c.txt"), "policy: auto\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 7, end.errors);
  BOOST_TEST(
      (left_out_of(folder.result()) ==
       Strings{"no-diff a.txt: written", "no-diff b.txt: removed", "no-diff d/c.txt: written"}));
  BOOST_TEST(folder.artifact("kept/a.txt") == "2\n");
  BOOST_TEST(folder.artifact("kept/d/c.txt") == "3\n");
  BOOST_TEST(!fs::exists(folder.out() / "partial.diff"));
}

BOOST_AUTO_TEST_SUITE_END()
