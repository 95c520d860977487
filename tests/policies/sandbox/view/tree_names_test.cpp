// Names of a tree that are looked for again and again.
#include "policies/sandbox/view/tree_names.h"

#include <boost/test/unit_test.hpp>
#include <string>

#include "core/files/files.h"
#include "tests/support/temporary_folder.h"

namespace sortie::test {
namespace {

namespace fs = std::filesystem;

/// A tree whose globs are looked for.
struct Searched {
  TemporaryFolder folder;

  void make(const std::string& name) const {
    fs::create_directories((folder.path() / name).parent_path());
    write_file(folder.path() / name, "");
  }
};

std::string listed(const std::set<fs::path>& paths) {
  std::string text;
  for (const auto& path : paths) text += (text.empty() ? "" : " ") + path.string();
  return text;
}

BOOST_AUTO_TEST_SUITE(tree_names)

BOOST_AUTO_TEST_CASE(each_look_finds_what_came_and_what_went) {
  const Searched tree;
  tree.make("a/b/c/d/e/OWNERS");
  tree.make("a/other");
  tree.make("node_modules/x/OWNERS");
  tree.make(".git/OWNERS");
  fs::create_symlink("a", tree.folder.path() / "link");
  TreeNames names(tree.folder.path(), {"**/OWNERS", "ci/*.yml"});
  BOOST_TEST(listed(names.matches()) == "a/b/c/d/e/OWNERS");
  BOOST_TEST(listed(names.links()) == "link");

  // Each change comes at once after a look: the ctime of a folder is coarse.
  // So many that some come at the end of a clock's tick.
  for (int i = 0; i < 300; ++i) {
    const std::string place = "a/n" + std::to_string(i);
    fs::create_directories(tree.folder.path() / place);
    names.look();
    tree.make(place + "/owners");
    names.look();
    BOOST_TEST(names.matches().count(place + "/owners") == 1u);
    fs::create_symlink("x", tree.folder.path() / place / "l");
    names.look();
    BOOST_TEST(names.links().count(place + "/l") == 1u);
    fs::remove_all(tree.folder.path() / place);
    names.look();
    BOOST_TEST(listed(names.matches()) == "a/b/c/d/e/OWNERS");
  }
  fs::rename(tree.folder.path() / "a/b", tree.folder.path() / "moved");
  tree.make("ci/x.yml");
  names.look();
  BOOST_TEST(listed(names.matches()) == "ci/x.yml moved/c/d/e/OWNERS");
}

BOOST_AUTO_TEST_CASE(a_ctime_is_settled_once_its_clock_has_gone_on) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  const timespec fine{.tv_sec = 100, .tv_nsec = 5};
  const std::int64_t at = 100 * kSecond + 5;
  BOOST_TEST(!is_settled(fine, at - 1, true));  // the clock was set back
  BOOST_TEST(!is_settled(fine, at, true));      // the same tick
  BOOST_TEST(is_settled(fine, at + 1, true));
  // A server's clock may differ, and ticks otherwise.
  BOOST_TEST(!is_settled(fine, at + kSecond / 10, false));
  BOOST_TEST(is_settled(fine, at + kSecond / 10 + 1, false));
  // Where whole seconds are kept, or every other one, each change within them has the same.
  const timespec whole{.tv_sec = 100, .tv_nsec = 0};
  for (const bool local : {true, false}) {
    BOOST_TEST(!is_settled(whole, 102 * kSecond - 1, local));
    BOOST_TEST(is_settled(whole, 103 * kSecond, local));
  }
}

BOOST_AUTO_TEST_CASE(a_tree_that_is_too_large_is_looked_through_on_its_upper_levels) {
  const Searched tree;
  for (int i = 0; i < 20; ++i) tree.make("a/b/c/" + std::to_string(i));
  tree.make("a/b/OWNERS");
  tree.make("a/b/c/OWNERS");
  TreeNames all(tree.folder.path(), {"**/OWNERS"}, 100);
  BOOST_TEST((all.reach() == TreeNames::Reach::everywhere));
  BOOST_TEST(listed(all.matches()) == "a/b/OWNERS a/b/c/OWNERS");

  TreeNames upper(tree.folder.path(), {"**/OWNERS"}, 10);
  BOOST_TEST((upper.reach() == TreeNames::Reach::upper_levels));
  BOOST_TEST(listed(upper.matches()) == "a/b/OWNERS");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test
