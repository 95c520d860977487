#include "core/workspace/diff/diff_scope.h"

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"
#include "core/workspace/diff/changed_state.h"
#include "core/workspace/diff/make_diff.h"
#include "core/workspace/open_workspace.h"
#include "tests/core/workspace/trees.h"
#include "tests/core/workspace/workspaces.h"
#include "tests/support/git_repository.h"

// Which changes a diff is about: what git ignores, by rules of the run too, and what a build left.

using namespace sortie;
using test::Bench;
using test::Tree;
namespace fs = std::filesystem;

namespace {

using Strings = std::vector<std::string>;

constexpr const char* kCacheTag = "Signature: 8a477f597d28d172789f06886806bc55\n";
const std::string kElf = std::string("\177ELF\2\1\1", 7) + std::string(60, '\0');

struct Case {
  std::string name;
  Tree start;
  Tree made;        ///< added or changed by the run
  Strings removed;  ///< by the run
  DiffOptions options{};
  Strings in_diff;
  Strings ignored{};
  Strings products{};  ///< "PATH: DETAIL"
  bool repository = true;
};

Strings paths(const Diff& diff) {
  Strings names;
  for (const auto& file : diff.files) {
    if (!file.old_path.empty())
      names.push_back(file.old_path + " -> " + file.path);
    else
      names.push_back(file.path);
  }
  return names;
}

/// Makes the changes in every isolation, and compares; the state that a verification checks has the
/// same paths as the diff.
void check(const Case& row) {
  for (const Isolation isolation : test::isolations()) {
    BOOST_TEST_CONTEXT(row.name << ", " << test::name_of_isolation(isolation)) {
      Bench bench;
      test::become(bench.root, {}, row.start);
      if (row.repository) {
        test::make_repository(bench.root);
        test::git(bench.root, {"add", "-f", "."});
        test::git(bench.root, {"commit", "-q", "--allow-empty", "-m", "start"});
      }
      bench.options.isolation = isolation;
      const auto workspace = open_workspace(bench.options);
      Diff diff;
      ChangedState state;

      const std::string refused = test::in_view(
          *workspace,
          [&](const fs::path& root) {
            for (const auto& path : row.removed) fs::remove(root / path);
            test::become(root, {}, row.made);
          },
          [&](const Files& view) {
            diff = make_diff(*workspace, view, bench.root, row.options);
            state = changed_state(*workspace, view, bench.root, row.options, {});
          });

      BOOST_REQUIRE_MESSAGE(refused.empty(), refused);
      BOOST_TEST(paths(diff) == row.in_diff, boost::test_tools::per_element());
      BOOST_TEST(diff.ignored_changes == row.ignored, boost::test_tools::per_element());
      Strings products;
      for (const LeftOut& one : diff.left_out) {
        BOOST_TEST((one.why == LeftOut::Why::product));
        products.push_back(one.path + ": " + one.detail);
      }
      BOOST_TEST(products == row.products, boost::test_tools::per_element());
      std::set<std::string> in_diff;
      for (const auto& file : diff.files) {
        in_diff.insert(file.path);
        if (!file.old_path.empty()) in_diff.insert(file.old_path);
      }
      std::set<std::string> in_state;
      for (const auto& one : state) in_state.insert(one.first);
      BOOST_TEST(in_state == in_diff, boost::test_tools::per_element());
    }
  }
}

TreeEntry file(const std::string& content = "x\n") { return {0100644, content}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(diff_scope)

BOOST_AUTO_TEST_CASE(ignore_rules_of_the_run_hold_for_new_untracked_paths) {
  const Case rows[] = {
      {.name = "a tool's own folder",
       .start = {{"a", file()}},
       .made = {{"a", file("2\n")},
                {".cache-of-x/.gitignore", file("*\n")},
                {".cache-of-x/v/nodeids", file()},
                {"sub/.venv2/.gitignore", file("# Created by venv\n*\n")},
                {"sub/.venv2/bin/python", file()}},
       .in_diff = {"a"},
       .ignored = {".cache-of-x/.gitignore", ".cache-of-x/v/nodeids", "sub/.venv2/.gitignore",
                   "sub/.venv2/bin/python"}},
      {.name = "lines that libgit2 never gets past",
       .start = {{"a", file()}, {"d/.gitignore", file("\v\n \f\n*.o\n")}},
       .made = {{".gitignore", file("\vx\n!\f\n*.log\n\v")},
                {"new.log", file()},
                {"d/new.o", file()},
                {"d/new.c", file()}},
       .in_diff = {".gitignore", "d/new.c"},
       .ignored = {"d/new.o", "new.log"}},
      {.name = "the agent adds a line",
       .start = {{".gitignore", file("*.log\n")}, {"a", file()}},
       .made = {{".gitignore", file("*.log\nbuild/\n")}, {"build/x", file()}, {"new.log", file()}},
       .in_diff = {".gitignore"},
       .ignored = {"build/x", "new.log"}},
      {.name = "tracked and existing files stay in",
       .start = {{"build/old.c", file()}, {"gone.c", file()}},
       .made = {{".gitignore", file("*\n")}, {"build/old.c", file("2\n")}, {"build/new.c", file()}},
       .removed = {"gone.c"},
       .in_diff = {".gitignore", "build/old.c", "gone.c"},
       .ignored = {"build/new.c"}},
      {.name = "existing files without a repository",
       .start = {{"old.c", file()}},
       .made = {{".gitignore", file("*.c\n")}, {"old.c", file("2\n")}, {"new.c", file()}},
       .in_diff = {".gitignore", "old.c"},
       .ignored = {"new.c"},
       .repository = false},
      {.name = "an ignore file that hides itself hides nothing but others",
       .start = {{"src/a", file()}},
       .made = {{"src/.gitignore", file("*\n")}, {"src/new", file()}},
       .in_diff = {"src/.gitignore"},
       .ignored = {"src/new"}},
      {.name = "a removed rule takes nothing in",
       .start = {{".gitignore", file("*.key\n")}},
       .made = {{".gitignore", file("*.c\n")}, {"x.key", file()}, {"x.c", file()}},
       .in_diff = {".gitignore"},
       .ignored = {"x.c", "x.key"}},
      {.name = "a link, a folder and a broken pattern are no rules",
       .start = {{"a", file()}, {"rules", file("*\n")}},
       .made = {{".gitignore", {0120000, "rules"}},
                {"d/.gitignore/x", file()},
                {"e/.gitignore", file("[\n\\\n!\n")},
                {"e/b", file()}},
       .in_diff = {".gitignore", "d/.gitignore/x", "e/.gitignore", "e/b"}},
  };
  for (const Case& row : rows) check(row);
}

BOOST_AUTO_TEST_CASE(what_a_build_left_stays_out_and_is_listed) {
  const Tree cmake = {{"a.c", file("2\n")},
                      {"build/CMakeCache.txt", file()},
                      {"build/Makefile", file()},
                      {"build/sub/lib.txt", file()}};
  const Case rows[] = {
      {.name = "a build tree of CMake",
       .start = {{"a.c", file()}},
       .made = cmake,
       .in_diff = {"a.c"},
       .products = {"build/: a build tree of CMake: 3 new files"}},
      {.name = "the switch",
       .start = {{"a.c", file()}},
       .made = cmake,
       .options = {.products = Products::include},
       .in_diff = {"a.c", "build/CMakeCache.txt", "build/Makefile", "build/sub/lib.txt"}},
      {.name = "what patches wrote and what is included",
       .start = {{"a.c", file()}},
       .made = cmake,
       .options = {.include = {"build/sub"}, .patched = {"build/Makefile"}},
       .in_diff = {"a.c", "build/Makefile", "build/sub/lib.txt"},
       .products = {"build/: a build tree of CMake: 1 new file"}},
      {.name = "a sign that a patch wrote is none",
       .start = {{"a.c", file()}},
       .made = cmake,
       .options = {.patched = {"build/CMakeCache.txt"}},
       .in_diff = {"a.c", "build/CMakeCache.txt", "build/Makefile", "build/sub/lib.txt"}},
      {.name = "by name and by content",
       .start = {{"a.c", file()}},
       .made = {{"a.o", file("o")},
                {"prog", {0100755, kElf}},
                {"s/__pycache__/a.pyc", file()},
                {"Makefile", file("# CMAKE generated file: DO NOT EDIT!\n")},
                {"config.h", file("/* config.h.  Generated from config.h.in by configure.  */\n")},
                {"node_modules/x/index.js", file()},
                {"target/CACHEDIR.TAG", file(kCacheTag)},
                {"target/debug/x.d", file()},
                {"target2/CACHEDIR.TAG", file("no tag\n")},
                {"build/plan.md", file()},
                {"dist/app.js", file()}},
       .in_diff = {"build/plan.md", "dist/app.js", "target2/CACHEDIR.TAG"},
       .products = {"Makefile: filled in by a build tool", "a.o: made by a tool",
                    "config.h: filled in by a build tool",
                    "node_modules/: made by a tool: 1 new file", "prog: an ELF file",
                    "s/__pycache__/: made by a tool: 1 new file", "target/: a cache: 2 new files"}},
      {.name = "a sign in a folder of the start hides none of its new files",
       .start = {{"src/a.c", file()}},
       .made = {{"src/CACHEDIR.TAG", file(kCacheTag)}, {"src/new.c", file()}},
       .in_diff = {"src/CACHEDIR.TAG", "src/new.c"}},
      {.name = "the same without a repository",
       .start = {{"src/a.c", file()}},
       .made = {{"src/CACHEDIR.TAG", file(kCacheTag)}, {"src/new.c", file()}},
       .in_diff = {"src/CACHEDIR.TAG", "src/new.c"},
       .repository = false},
      {.name = "changed and removed products stay in",
       .start = {{"lib/a.o", file("1")}, {"node_modules/x/a.js", file()}, {"b.pyc", file()}},
       .made = {{"lib/a.o", file("2")}, {"node_modules/x/new.js", file("new\n")}},
       .removed = {"b.pyc"},
       .in_diff = {"b.pyc", "lib/a.o", "node_modules/x/new.js"}},
      {.name = "moved ones stay in",
       .start = {{"data/prog", {0100755, kElf}},
                 {"t/CMakeCache.txt", file("c\n")},
                 {"t/list", file("one\n")},
                 {"v/node_modules/x.js", file("js\n")}},
       .made = {{"fixtures/prog", {0100755, kElf}},
                {"u/CMakeCache.txt", file("c\n")},
                {"u/list", file("one\n")},
                {"w/node_modules/x.js", file("js\n")}},
       .removed = {"data/prog", "t/CMakeCache.txt", "t/list", "v/node_modules/x.js"},
       .in_diff = {"data/prog -> fixtures/prog", "t/CMakeCache.txt -> u/CMakeCache.txt",
                   "t/list -> u/list", "v/node_modules/x.js -> w/node_modules/x.js"}},
  };
  for (const Case& row : rows) check(row);
}

BOOST_AUTO_TEST_CASE(new_files_that_name_the_workspaces_place_are_listed) {
  Bench bench;
  test::become(bench.root, {}, {{"old", file()}});
  bench.options.isolation = Isolation::copy;
  const auto workspace = open_workspace(bench.options);
  const std::string place = "/home/ci/project";
  Diff diff;

  const std::string refused = test::in_view(
      *workspace,
      [&](const fs::path& root) {
        test::become(root, {},
                     {{"old", file(place + "\n")},
                      {"in", file("dir=" + place + "/src\n")},
                      {"is", file(place)},
                      {"longer", file(place + "s/src " + place + "-2 " + place + ".old")},
                      {"inner", file("x" + place)}});
      },
      [&](const Files& view) { diff = make_diff(*workspace, view, bench.root, {.place = place}); });

  BOOST_REQUIRE_MESSAGE(refused.empty(), refused);
  BOOST_TEST((diff.bound_to_place == Strings{"in", "is"}));
}

BOOST_AUTO_TEST_SUITE_END()
