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

BOOST_AUTO_TEST_CASE(a_script_is_read_in_an_encoding_that_keeps_ascii) {
  const struct {
    const char* locale;
    bool kept;
  } rows[] = {{"C", true},
              {"de_DE.UTF-8", true},
              {"de_DE.utf8@euro", true},
              {"zh_TW.BIG5", false},
              {"zh_TW", false},
              {"zh_TW@x.UTF-8", false},
              {"ja_JP.SJIS.UTF-8", false},
              {"UTF-8", false}};
  for (const auto& row : rows) {
    const auto environment = shell_string_environment({{"LANG", row.locale}});
    BOOST_TEST(!environment.contains("LC_ALL") == row.kept, row.locale);
  }
}

BOOST_AUTO_TEST_SUITE_END()
