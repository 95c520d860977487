#include "core/workspace/tree_search.h"

#include <boost/test/unit_test.hpp>
#include <random>

#include "core/files/files.h"
#include "core/text/name_filter.h"
#include "core/text/pattern.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

void make_file(const fs::path& path) {
  fs::create_directories(path.parent_path());
  write_file(path, "");
}

TreeSearch search_for_env(std::size_t entries) {
  return {.hides = [](const std::string& path) { return path.ends_with("/.env"); },
          .entries = entries};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tree_search)

BOOST_AUTO_TEST_CASE(what_is_hidden_is_found_at_every_depth_and_not_by_links_or_in_git) {
  const TemporaryFolder folder;
  const fs::path root = folder.path();
  make_file(root / "a/b/c/d/e/.env");
  make_file(root / "node_modules/m/.env");
  make_file(root / ".git/.env");
  fs::create_symlink("a", root / "link");
  const TreeFinds finds = search_tree(root, search_for_env(100));
  const std::vector<fs::path> expected = {root / "a/b/c/d/e/.env", root / "node_modules/m/.env"};
  BOOST_TEST((finds.hidden == expected));
  BOOST_TEST(finds.complete);
}

BOOST_AUTO_TEST_CASE(a_tree_of_more_entries_is_said_to_be_incomplete) {
  const TemporaryFolder folder;
  for (int i = 0; i < 10; ++i) make_file(folder.path() / std::to_string(i));
  BOOST_TEST(search_tree(folder.path(), search_for_env(10)).complete);
  BOOST_TEST(!search_tree(folder.path(), search_for_env(9)).complete);
}

BOOST_AUTO_TEST_CASE(what_is_found_does_not_depend_on_threads) {
  const TemporaryFolder folder;
  for (int i = 100; i < 200; ++i)
    for (int j = 0; j < i % 7; ++j)
      make_file(folder.path() / std::to_string(i) / ("below" + std::to_string(j)) / ".env");

  const TreeFinds all = search_tree(folder.path(), search_for_env(1'000));
  const TreeFinds some = search_tree(folder.path(), search_for_env(500));

  BOOST_TEST(all.complete);
  BOOST_TEST(all.hidden.size() == 299u);
  BOOST_TEST(!some.complete);
  for (int i = 0; i < 20; ++i)
    BOOST_TEST((search_tree(folder.path(), search_for_env(500)).hidden == some.hidden));
}

BOOST_AUTO_TEST_CASE(the_files_of_bare_repositories_are_found_too) {
  const TemporaryFolder folder;
  const fs::path bare = folder.path() / "x/bare";
  for (const char* name : {"HEAD", "config", "refs/config", "objects/config"})
    make_file(bare / name);
  make_file(folder.path() / "x/config");
  const std::vector<fs::path> expected = {bare / "config"};
  BOOST_TEST((search_tree(folder.path()).git_files == expected));
  // Of a folder that turns out to be one, the names that concern nothing count too, and no entry twice.
  TreeSearch search{.concerns = [](std::string_view) { return false; }, .entries = 7};
  BOOST_TEST((search_tree(folder.path(), search).git_files == expected));
  BOOST_TEST(search_tree(folder.path(), search).complete);
  search.entries = 6;
  BOOST_TEST(!search_tree(folder.path(), search).complete);
}

BOOST_AUTO_TEST_CASE(names_that_concern_nothing_change_nothing) {
  const std::vector<std::string> hide = {"**/.env",  "**/.env.*/**", "**/*.tfstate.*",
                                         "**/*.pem", "keys/**",      "**/hidden"};
  const std::vector<std::string> protect = {"vendor", "**/Jenkinsfile", "locked/**"};
  const std::vector<std::string> names = {".env",     ".env.d", "x.tfstate.1",  "a.PEM",  "keys",
                                          "hidden",   "vendor", "Jenkinsfile",  "locked", "plain",
                                          "f007.txt", ".git",   "node_modules", "HEAD"};
  const TemporaryFolder folder;
  const fs::path root = fs::canonical(folder.path());
  std::mt19937 random(7);
  for (int i = 0; i < 300; ++i) {
    fs::path path = root;
    for (auto depth = random() % 4 + 1; depth > 0; --depth) path /= names[random() % names.size()];
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (!error && !fs::exists(path)) write_file(path, "");
  }
  const Pattern hidden = Pattern::path_globs(hide, LetterCase::ignored);
  const Pattern guarded = Pattern::path_globs(protect, LetterCase::ignored);
  std::vector<std::string> globs = hide;
  globs.insert(globs.end(), protect.begin(), protect.end());
  const NameFilter filter(globs);
  const auto below = [&](const std::string& path) { return path.substr(root.native().size() + 1); };
  TreeSearch search{
      .hides = [&](const std::string& path) { return hidden.matches(below(path)); },
      .protects = [&](const std::string& path) { return guarded.matches(below(path)); }};
  const TreeFinds all = search_tree(root, search);
  search.concerns = [&](std::string_view name) { return filter.name_may_match(name); };
  const TreeFinds some = search_tree(root, search);
  BOOST_TEST(all.hidden.size() > 20u);
  BOOST_TEST(all.guarded.size() > 10u);
  BOOST_TEST((all.hidden == some.hidden));
  BOOST_TEST((all.guarded == some.guarded));
  BOOST_TEST((all.git_files == some.git_files));
}

BOOST_AUTO_TEST_SUITE_END()
