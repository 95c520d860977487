// Folders of the machine that are looked through for sockets, or shown without them.
#include <boost/test/unit_test.hpp>
#include <string>

#include "app/confinement/command_profile.h"
#include "tests/support/temporary_folder.h"

namespace sortie::test {
namespace {

namespace fs = std::filesystem;

/// A folder with more entries than are looked through.
struct LargeFolder {
  TemporaryFolder folder;
  fs::path path = folder.path() / "large";

  LargeFolder() {
    fs::create_directory(path);
    for (int i = 0; i <= 20'000; ++i) fs::create_symlink("x", path / std::to_string(i));
  }
};

BOOST_AUTO_TEST_SUITE(hidden_sockets)

BOOST_AUTO_TEST_CASE(a_large_folder_is_shown_without_its_sockets) {
  const LargeFolder large;
  SandboxProfile profile;
  std::vector<std::string> warnings;

  hide_sockets(profile, {large.path}, warnings);

  BOOST_TEST(warnings.empty());
  BOOST_TEST(profile.hide.empty());
  BOOST_TEST((profile.without_sockets == std::vector<fs::path>{large.path}));
}

BOOST_AUTO_TEST_CASE(a_large_folder_that_must_be_looked_through_is_warned_of) {
  const LargeFolder large;
  const fs::path other_name = large.folder.path() / "other-name";
  fs::create_directory_symlink(large.path, other_name);
  SandboxProfile profile;
  std::vector<std::string> warnings;

  hide_sockets(profile, {other_name}, warnings);

  BOOST_TEST(profile.without_sockets.empty());
  BOOST_TEST_REQUIRE(warnings.size() == 1);
  BOOST_TEST(warnings[0].find("other-name has more files and folders than are looked through") !=
                 std::string::npos,
             warnings[0]);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test
