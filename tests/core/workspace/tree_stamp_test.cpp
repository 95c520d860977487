#include "core/workspace/tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <functional>

#include "core/files/files.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

std::optional<std::string> stamp_of_tree(const fs::path& folder) {
  return tree_stamp(Fd(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(a_trees_stamp)

BOOST_AUTO_TEST_CASE(a_stamp_differs_once_anything_was_written_to) {
  const struct {
    const char* name;
    std::function<void(const fs::path&)> change;
    bool differs;
  } rows[] = {
      {"nothing", [](const fs::path&) {}, false},
      {"reading", [](const fs::path& tree) { read_file(tree / "a"); }, false},
      {"content", [](const fs::path& tree) { write_file(tree / "a", "other"); }, true},
      {"the same content again", [](const fs::path& tree) { write_file(tree / "a", "a"); }, true},
      {"a new file", [](const fs::path& tree) { write_file(tree / "sub/new", ""); }, true},
      {"a new folder", [](const fs::path& tree) { fs::create_directory(tree / "d"); }, true},
      {"a file less", [](const fs::path& tree) { fs::remove(tree / "a"); }, true},
      {"another name", [](const fs::path& tree) { fs::rename(tree / "a", tree / "b"); }, true},
      {"mode", [](const fs::path& tree) { ::chmod((tree / "a").c_str(), 0755); }, true},
      {"mode of a folder", [](const fs::path& tree) { ::chmod((tree / "sub").c_str(), 0700); },
       true},
      {"a link's target",
       [](const fs::path& tree) {
         fs::remove(tree / "link");
         fs::create_symlink("sub", tree / "link");
       },
       true},
      {"a file written in place, its time set back",
       [](const fs::path& tree) {
         struct stat before {};
         ::stat((tree / "a").c_str(), &before);
         const Fd file(::open((tree / "a").c_str(), O_WRONLY | O_CLOEXEC));
         BOOST_REQUIRE(::write(file.get(), "b", 1) == 1);
         const timespec times[] = {before.st_atim, before.st_mtim};
         ::futimens(file.get(), times);
       },
       true},
      {"a file that came and went",
       [](const fs::path& tree) {
         write_file(tree / "temporary", "");
         fs::remove(tree / "temporary");
       },
       false},
      {"git's own", [](const fs::path& tree) { write_file(tree / ".git/index", "x"); }, false},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const TemporaryFolder folder;
      const fs::path tree = folder / "tree";
      fs::create_directories(tree / "sub");
      fs::create_directories(tree / ".git");
      write_file(tree / "a", "a");
      write_file(tree / "sub/c", "c");
      fs::create_symlink("a", tree / "link");
      const auto before = stamp_of_tree(tree);
      BOOST_REQUIRE(before.has_value());
      // The kernel's clock for file times may stand still for some milliseconds.
      const Fd probe(::open((folder / "probe").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
      struct stat last {};
      ::stat((tree / "sub/c").c_str(), &last);
      for (struct stat now{}; now.st_ctim.tv_sec <= last.st_ctim.tv_sec &&
                              now.st_ctim.tv_nsec <= last.st_ctim.tv_nsec;) {
        BOOST_REQUIRE(::fchmod(probe.get(), 0600) == 0);
        ::fstat(probe.get(), &now);
        if (now.st_ctim.tv_sec > last.st_ctim.tv_sec) break;
      }

      row.change(tree);

      BOOST_TEST((stamp_of_tree(tree) != before) == row.differs);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_tree_that_can_not_be_walked_has_no_stamp) {
  const TemporaryFolder folder;
  fs::path deep = folder.path();
  for (int i = 0; i < 210; ++i) deep /= "d";
  fs::create_directories(deep);

  BOOST_TEST(!stamp_of_tree(folder.path()).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
