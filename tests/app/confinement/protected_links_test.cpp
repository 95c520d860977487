// What globs match behind links, and how far that is looked for.
#include "app/confinement/protected_links.h"

#include <fcntl.h>

#include <boost/test/unit_test.hpp>
#include <string>

#include "tests/support/temporary_folder.h"

namespace sortie::test {
namespace {

namespace fs = std::filesystem;

struct LinkedTree {
  TemporaryFolder folder;
  ProtectedLinks links{{folder.path()}, {"all/**", "**/OWNERS", "ops/*.yml"}};

  void make(const std::string& name, const std::string& content = "x") const {
    fs::create_directories((folder.path() / name).parent_path());
    write_file(folder.path() / name, content);
  }
  void make_many(const std::string& name) const {
    fs::create_directories(folder.path() / name);
    for (int i = 0; i < 20'001; ++i)
      fs::create_symlink("x", folder.path() / name / std::to_string(i));
  }
  LinkLeads look(const std::set<fs::path>& paths) const {
    return links.look(DiskFiles(Fd(::open(folder.path().c_str(), O_PATH | O_CLOEXEC))), paths);
  }
};

BOOST_AUTO_TEST_SUITE(protected_links_of_trees)

BOOST_AUTO_TEST_CASE(more_behind_links_than_can_be_looked_at_is_not_as_it_was) {
  const LinkedTree tree;
  fs::create_symlink("big", tree.folder.path() / "all");
  fs::create_symlink("missing", tree.folder.path() / "ops");
  const LinkLeads start = tree.look({"all", "ops"});
  tree.make_many("big/in");
  tree.make("missing/a.yml");

  const LinkLeads now = tree.look({"all", "ops"});

  BOOST_TEST(start.beyond == "");
  BOOST_TEST(now.beyond == "");  // the folder is one match
  BOOST_TEST((names_led_elsewhere(start, now) == std::vector<std::string>{"all/in", "ops/a.yml"}));

  tree.make_many("big");
  const LinkLeads full = tree.look({"all", "ops"});
  BOOST_TEST(full.beyond.starts_with("all/"), full.beyond);
  BOOST_TEST((names_led_elsewhere(start, full) == std::vector<std::string>{full.beyond}));
  BOOST_TEST((names_led_elsewhere(full, full) == std::vector<std::string>{}));
}

BOOST_AUTO_TEST_CASE(what_no_glob_can_match_is_not_looked_through) {
  const LinkedTree tree;
  tree.make_many("lib");
  fs::create_symlink("lib", tree.folder.path() / "lib64");

  const LinkLeads start = tree.look({"lib64"});

  BOOST_TEST(start.beyond == "");
  BOOST_TEST(start.ways.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test
