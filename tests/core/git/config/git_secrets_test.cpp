#include "core/git/config/git_secrets.h"

#include <boost/test/unit_test.hpp>
#include <set>

#include "core/files/files.h"
#include "core/workspace/tree_search.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

constexpr const char* kToken = "ghs_16C7e42F292c6912E7710c838347Ae178B4a";

std::set<std::string> secrets_of(const fs::path& folder) {
  std::set<std::string> values;
  for (const Secret& secret : git_config_secrets(folder, search_tree(folder).git_files))
    values.insert(secret.value);
  return values;
}

std::vector<CleanGitConfig> clean_configs(const fs::path& folder) {
  return clean_git_configs(folder, search_tree(folder).git_files);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(git_secrets)

BOOST_AUTO_TEST_CASE(a_configuration_is_shown_without_its_credentials_and_else_as_it_is) {
  const std::string token = kToken;
  const struct {
    std::string config;
    std::string shown;  ///< what git lists of it
  } rows[] = {
      {"[http \"https://github.com/\"]\n\textraheader = AUTHORIZATION: basic " + token + "\n", ""},
      {"[remote \"o\"]\n\turl = https://x-access-token:" + token + "@host/a.git\n\tfetch = +a:b\n",
       "remote.o.url=https://host/a.git\nremote.o.fetch=+a:b\n"},
      {"[remote \"o\"]\n\turl = https://" + token + "@host/a.git\n",
       "remote.o.url=https://host/a.git\n"},
      {"[remote \"o\"]\n\turl = ssh://git:" + token + "@host/a.git\n",
       "remote.o.url=ssh://git@host/a.git\n"},
      {"[url \"https://u:" + token + "@host/\"]\n\tinsteadOf = https://host/\n",
       "url.https://host/.insteadof=https://host/\n"},
      {"[github]\n\ttoken = " + token + "\n\tuser = me\n", "github.user=me\n"},
      {"[credential]\n\thelper = \"!f() { echo password=" + token + "; }; f\"\n", ""},
      {"[github]\n\toauth = " + token + "\n[a]\n\tauthorization = " + token + "\n", ""},
      {"[core]\n\tsshCommand = sshpass -p '" + token + "' ssh\n\tbare\n", "core.bare\n"},
      {"[alias]\n\tx = \"!curl -H 'Authorization: Bearer " + token + "' h\"\n", ""},
      {"[core]\n\t; https://u:" + token + "@host/\n\tbare\n", "core.bare\n"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.config) {
      const TemporaryFolder folder;
      make_repository(folder.path());
      write_file(folder.path() / ".git/config", row.config);
      BOOST_TEST(secrets_of(folder.path()).count(kToken) == 1u);
      const auto clean = clean_configs(folder.path());
      BOOST_REQUIRE(clean.size() == 1u);
      BOOST_TEST(clean[0].file == fs::canonical(folder.path()) / ".git/config");
      write_file(folder.path() / "shown", clean[0].text);
      BOOST_TEST(git(folder.path(), {"config", "-f", "shown", "--list"}) == row.shown);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_configuration_that_commands_could_read_is_looked_at) {
  for (const char* file :
       {".git/config", ".git/config.worktree", ".git/modules/a/config",
        ".git/modules/a/modules/b/config", ".git/worktrees/w/config.worktree", "other/.git/config",
        "included", ".git/config.bak", "a/b/c/d/e/f/.git/config", "node_modules/m/.git/config"}) {
    const TemporaryFolder folder;
    make_repository(folder.path());
    git(folder.path(), {"config", "include.path", "../included"});
    const fs::path path = folder.path() / file;
    fs::create_directories(path.parent_path());
    const std::string text = fs::exists(path) ? read_file(path, 1 << 20) : "";
    write_file(path, text + "[http]\n\textraHeader = Authorization: Bearer " + kToken + "\n");
    BOOST_TEST(secrets_of(folder.path()).count(kToken) == 1u, file);
    BOOST_TEST(clean_configs(folder.path()).size() == 1u, file);
  }
}

BOOST_AUTO_TEST_CASE(addresses_beside_the_configuration_are_shown_without_passwords) {
  const std::string address = std::string("https://u:") + kToken + "@host/a";
  for (const char* file :
       {".git/remotes/o", ".git/branches/o", ".git/credentials", "kept/tokens"}) {
    const TemporaryFolder folder;
    make_repository(folder.path());
    git(folder.path(), {"config", "credential.helper", "store --file kept/tokens"});
    fs::create_directories((folder.path() / file).parent_path());
    write_file(folder.path() / file, "URL: " + address + "\n");
    BOOST_TEST(secrets_of(folder.path()).count(kToken) == 1u, file);
    const auto clean = clean_configs(folder.path());
    BOOST_REQUIRE(clean.size() == 1u);
    BOOST_TEST(clean[0].text == "URL: https://host/a\n", file);
  }
}

BOOST_AUTO_TEST_CASE(a_configuration_without_credentials_stays_as_it_is) {
  const TemporaryFolder folder;
  make_repository(folder.path());
  git(folder.path(), {"remote", "add", "origin", "https://github.com/a/b.git"});
  git(folder.path(), {"remote", "add", "other", "ssh://git@host/a.git"});
  BOOST_TEST(clean_configs(folder.path()).empty());
  BOOST_TEST(git_config_secrets(folder.path(), search_tree(folder.path()).git_files).empty());
}

BOOST_AUTO_TEST_SUITE_END()
