#include "core/files/path_below.h"

#include <boost/test/unit_test.hpp>
#include <string>

using namespace sortie;

BOOST_AUTO_TEST_SUITE(path_below_folder)

BOOST_AUTO_TEST_CASE(a_path_lies_below_a_folder_by_whole_names_alone) {
  const struct {
    const char* path;
    const char* folder;
    bool below;        ///< is_below(): by words alone
    const char* rest;  ///< path_below(); "": nothing
  } rows[] = {
      {"/a", "/a", true, "."},
      {"/a/", "/a", true, "."},
      {"/a", "/a/", true, "."},
      {"/a/b", "/a", true, "b"},
      {"/a/b", "/a/", true, "b"},
      {"/a/b/", "/a", true, "b/"},
      {"/a//b", "/a", true, "b"},
      {"/ab", "/a", false, ""},
      {"/a", "/ab", false, ""},
      {"/a", "/a/b", false, ""},
      {"/a.prev", "/a", false, ""},
      {"/", "/", true, "."},
      {"/a", "/", true, "a"},
      {"/", "/a", false, ""},
      {"a/b", "a", true, "b"},
      {"a/b", "a/", true, "b"},
      {"ab", "a", false, ""},
      {"a", "/", false, ""},
      {"/a", "a", false, ""},
      // Nothing as a folder is the root of a tree with relative paths: whoever may have none at all
      // asks for that first.
      {"", "", true, "."},
      {"a", "", true, "a"},
      {"/a", "", true, ""},
      {"", "/a", false, ""},
      {"", "a", false, ""},
      // ".." is a name like any other to the one; to the other it leads up.
      {"/a/../b", "/a", true, ""},
      {"/a/..", "/a", true, ""},
      {"/b/../a", "/a", false, ""},
      {"/a/..b", "/a", true, "..b"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.path << " below " << row.folder) {
      BOOST_TEST(is_below(row.path, row.folder) == row.below);
      BOOST_TEST(path_below(row.path, row.folder).value_or("").string() == row.rest);
    }
  }
}

BOOST_AUTO_TEST_CASE(one_folder_of_several_is_enough) {
  BOOST_TEST(!is_below_any("a", {}));
  BOOST_TEST(!is_below_any("ab", {"a", "b"}));
  BOOST_TEST(is_below_any("b/c", {"a", "b"}));
  BOOST_TEST(is_below_any("out", {"out/"}));
}

BOOST_AUTO_TEST_SUITE_END()
