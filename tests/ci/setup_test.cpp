// ci/setup, in a copy of its place, with programs that stand for dpkg and npm.
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

BOOST_AUTO_TEST_SUITE_END()
