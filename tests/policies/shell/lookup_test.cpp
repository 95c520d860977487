#include "policies/shell/lookup.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(lookup)

BOOST_AUTO_TEST_CASE(a_name_is_bare_or_an_absolute_path_into_a_folder) {
  const std::vector<std::filesystem::path> folders = {"/usr/bin", "/opt/x/bin"};
  const struct {
    const char* word;
    const char* name;
  } rows[] = {
      {"git", "git"},
      {"g++-12.2", "g++-12.2"},
      {"[", "["},
      {"/usr/bin/git", "git"},
      {"/opt/x/bin/a", "a"},
      {"./git", ""},
      {"../bin/git", ""},
      {"/tmp/git", ""},
      {"/usr/bin/../bin/git", ""},
      {"//usr/bin/git", ""},
      {"/usr/bin//git", ""},
      {"/usr/bin/./git", ""},
      {"usr/bin/git", ""},
      {"/usr/bin/", ""},
      {"/usr/bin", ""},
      {"", ""},
      {".", ""},
      {"..", ""},
      {"a b", ""},
      {"a;b", ""},
      {"$x", ""},
      {"gît", ""},
      {"/usr/bin/a b", ""},
      {"/git", ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.word) { BOOST_TEST(command_name(row.word, folders) == row.name); }
  }
}

BOOST_AUTO_TEST_CASE(folders_are_absolute_and_outside_the_workspace) {
  const auto folders = lookup_folders({"/usr/bin/", "bin", "", "/w/bin", "/w/../w/x", "/wx"}, "/w");
  BOOST_TEST(command_name("/usr/bin/git", folders) == "git");
  BOOST_TEST(command_name("/wx/git", folders) == "git");
  BOOST_TEST(command_name("/w/bin/git", folders) == "");
  BOOST_TEST(command_name("/w/x/git", folders) == "");
  BOOST_TEST(command_name("bin/git", folders) == "");
  const bool merged = std::filesystem::equivalent("/bin", "/usr/bin");
  BOOST_TEST((command_name("/bin/git", folders) == "git") == merged);
}

BOOST_AUTO_TEST_SUITE_END()
