// ci/setup and ci/build, in a copy of its place, with programs that stand for dpkg and npm.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "core/files/files.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

/// Everything of Debian's is there, and npm does what the test wants.
class SetupFolder {
 public:
  explicit SetupFolder(const std::string& npm) {
    const fs::path source = SORTIE_SOURCE_DIR;
    fs::create_directories(folder_ / "ci");
    fs::copy_file(source / "ci/setup", folder_ / "ci/setup");
    fs::create_directories(folder_ / "tests/support");
    fs::copy(source / "tests/support/npm", folder_ / "tests/support/npm");
    fs::create_directories(folder_ / "bin");
    program("dpkg-query", "printf 'ii '");
    program("npm", npm);
  }

  ProgramEnd run(const std::string& all) const {
    return run_program({.argv = {"bash", (folder_ / "ci/setup").string(), "tests"},
                        .folder = folder_.path(),
                        .environment = {{"PATH", (folder_ / "bin").string() + ":/usr/bin:/bin"},
                                        {"SORTIE_TEST_ALL", all}}});
  }

 private:
  void program(const std::string& name, const std::string& script) const {
    write_file(folder_ / "bin" / name, "#!/bin/sh\n" + script + "\n");
    fs::permissions(folder_ / "bin" / name, fs::perms::owner_all);
  }

  TemporaryFolder folder_;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(setup)

BOOST_AUTO_TEST_CASE(packages_that_npm_cannot_install_are_a_failure_where_all_tests_are_to_run) {
  const SetupFolder without("exit 1");
  const ProgramEnd mild = without.run("");
  BOOST_TEST(mild.status == 0, mild.errors);
  BOOST_TEST(mild.errors.find("will be skipped") != std::string::npos, mild.errors);

  const ProgramEnd strict = without.run("true");
  BOOST_TEST(strict.status == 1, strict.errors);

  const SetupFolder with("exit 0");
  BOOST_TEST(with.run("true").status == 0);
}

BOOST_AUTO_TEST_CASE(a_build_folder_is_configured_once_and_again_where_it_was_moved_to) {
  const TemporaryFolder folder;
  const fs::path first = folder / "first";
  fs::create_directories(first / "ci");
  fs::copy_file(fs::path(SORTIE_SOURCE_DIR) / "ci/build", first / "ci/build");
  fs::create_directory(folder / "bin");
  write_file(folder / "bin/cmake",
             "#!/bin/sh\n[ \"$1\" = --preset ] || exit 0\nmkdir -p build/release\n"
             "[ ! -e build/release/CMakeCache.txt ] || exit 1\ntouch build/release/build.ninja\n"
             "echo \"CMAKE_HOME_DIRECTORY:INTERNAL=$PWD\" > build/release/CMakeCache.txt\n"
             "echo configured >> \"$CONFIGURED\"\n");
  fs::permissions(folder / "bin/cmake", fs::perms::owner_all);
  const auto build = [&folder](const fs::path& place) {
    return run_program({.argv = {"bash", (place / "ci/build").string(), "sortie"},
                        .folder = folder.path(),
                        .environment = {{"PATH", (folder / "bin").string() + ":/usr/bin:/bin"},
                                        {"CONFIGURED", (folder / "configured").string()}}})
        .status;
  };

  BOOST_TEST(build(first) == 0);
  BOOST_TEST(build(first) == 0);
  BOOST_TEST(read_file(folder / "configured") == "configured\n");
  fs::rename(first, folder / "second");
  BOOST_TEST(build(folder / "second") == 0);
  BOOST_TEST(build(folder / "second") == 0);
  BOOST_TEST(read_file(folder / "configured") == "configured\nconfigured\n");
}

BOOST_AUTO_TEST_SUITE_END()
