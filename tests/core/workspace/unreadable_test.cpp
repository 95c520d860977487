#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <functional>

#include "core/base/error.h"
#include "core/workspace/diff/diff.h"
#include "core/workspace/diff/make_diff.h"
#include "core/workspace/open_workspace.h"
#include "tests/core/workspace/trees.h"
#include "tests/core/workspace/workspaces.h"
#include "tests/support/git_repository.h"

using namespace sortie;
using test::Bench;
namespace fs = std::filesystem;

namespace {

using Strings = std::vector<std::string>;

struct Row {
  const char* name;
  std::function<void(const fs::path& root)> work;
  Strings left_out;  ///< as unreadable
  Strings files;     ///< in the diff
};

void make(const fs::path& path, mode_t mode) {
  test::put_file(path, "made\n");
  ::chmod(path.c_str(), mode);
}

/// A folder with a file in it.
void make_folder(const fs::path& folder, mode_t mode) {
  fs::create_directories(folder);
  test::put_file(folder / "inner", "made\n");
  ::chmod(folder.c_str(), mode);
}

const Row kRows[] = {
    {"a folder without permissions",
     [](const fs::path& root) { make_folder(root / "new", 0); },
     {"new"},
     {}},
    {"a folder that only others may read",
     [](const fs::path& root) { make_folder(root / "new", 0077); },
     {"new"},
     {}},
    {"a folder that can be gone through, not listed",
     [](const fs::path& root) { make_folder(root / "new", 0111); },
     {"new"},
     {}},
    {"a folder that can be listed, not gone through",
     [](const fs::path& root) { make_folder(root / "new", 0444); },
     {"new"},
     {}},
    {"a folder of the start",
     [](const fs::path& root) {
       test::put_file(root / "d/f", "changed\n");
       ::chmod((root / "d").c_str(), 0);
     },
     {"d"},
     {}},
    {"a folder of the start in which nothing was changed",
     [](const fs::path& root) { ::chmod((root / "d").c_str(), 0); },
     {"d"},
     {}},
    {"a folder made anew",
     [](const fs::path& root) {
       fs::remove_all(root / "d");
       make_folder(root / "d", 0);
     },
     {"d"},
     {}},
    {"a file", [](const fs::path& root) { make(root / "new", 0); }, {"new"}, {}},
    {"a file that can only be written",
     [](const fs::path& root) { make(root / "new", 0222); },
     {"new"},
     {}},
    {"a program that can only be run",
     [](const fs::path& root) { make(root / "new", 0111); },
     {"new"},
     {}},
    {"a file of the start", [](const fs::path& root) { make(root / "d/f", 0); }, {"d/f"}, {}},
    {"a file of the start whose content stays",
     [](const fs::path& root) { ::chmod((root / "d/f").c_str(), 0); },
     {"d/f"},
     {}},
    {"ignored ones",
     [](const fs::path& root) {
       make(root / "x.o", 0);
       make_folder(root / "build", 0);
     },
     {},
     {}},
    {"what its owner alone may read",
     [](const fs::path& root) {
       make_folder(root / "new", 0700);
       make(root / "secret", 0400);
     },
     {},
     {"new/inner", "secret"}},
    {"modes that git does not keep",
     [](const fs::path& root) {
       make_folder(root / "new", 01777);
       make_folder(root / "group", 02755);
       make(root / "program", 06755);
     },
     {},
     {"group/inner", "new/inner", "program"}},
};

/// Lets the folder be removed at the end.
void open_up(const fs::path& folder) { test::run_program({"chmod", "-R", "u+rwX", "."}, folder); }

}  // namespace

BOOST_AUTO_TEST_SUITE(unreadable)

// The rows hold for root, whose commands have none of root's rights, as for anybody else.
BOOST_AUTO_TEST_CASE(what_commands_cannot_read_is_in_no_diff_and_is_told) {
  for (const Isolation isolation : test::isolations()) {
    for (const Row& row : kRows) {
      BOOST_TEST_CONTEXT(test::name_of_isolation(isolation) << ": " << row.name) {
        Bench bench;
        test::become(bench.root, {},
                     {{"d/f", {0100644, "f\n"}}, {".gitignore", {0100644, "*.o\nbuild/\n"}}});
        bench.options.isolation = isolation;
        const auto workspace = open_workspace(bench.options);
        Diff diff;

        const std::string refused = test::in_view(*workspace, row.work, [&](const Files& view) {
          diff = make_diff(*workspace, view, bench.root, {});
        });

        BOOST_REQUIRE_MESSAGE(refused.empty(), refused);
        Strings left_out;
        for (const LeftOut& one : diff.left_out) {
          BOOST_TEST((one.why == LeftOut::Why::unreadable));
          left_out.push_back(one.path);
        }
        Strings files;
        for (const DiffFile& file : diff.files) files.push_back(file.path);
        BOOST_TEST(left_out == row.left_out, boost::test_tools::per_element());
        BOOST_TEST(files == row.files, boost::test_tools::per_element());
        open_up(bench.folder / "");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(of_a_tree_that_was_closed_as_a_whole_nothing_is_known) {
  for (const Isolation isolation : test::isolations()) {
    Bench bench;
    test::become(bench.root, {}, {{"f", {0100644, "f\n"}}});
    bench.options.isolation = isolation;
    const auto workspace = open_workspace(bench.options);

    const std::string refused = test::in_view(
        *workspace,
        [](const fs::path& root) {
          test::put_file(root / "new", "n\n");
          ::chmod(root.c_str(), 0);
        },
        [&](const Files& view) {
          BOOST_CHECK_EXCEPTION(
              (void)make_diff(*workspace, view, bench.root, {}), Error, [](const Error& error) {
                return error.code() == ExitCode::task_failed &&
                       std::string(error.what()).find("permissions") != std::string::npos;
              });
        });

    BOOST_REQUIRE_MESSAGE(refused.empty(), refused);
    open_up(bench.folder / "");
  }
}

BOOST_AUTO_TEST_SUITE_END()
