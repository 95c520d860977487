#include "policies/environment/toolchains.h"

#include <boost/test/unit_test.hpp>

#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

struct Home {
  TemporaryFolder folder;
  fs::path home;

  Home() : home(folder / "home") {
    for (const char* name : {"home/.cargo/bin", "home/.rustup", "home/go/pkg/mod", "home/.m2",
                             "home/.cache/pip", "home/.ssh", "elsewhere/cargo", "work"})
      fs::create_directories(folder / name);
  }
  Toolchains find(const Environment& own, const fs::path& run_home) const {
    return find_toolchains(own, home, run_home, {folder / "work"});
  }
  std::vector<fs::path> named(const std::vector<std::string>& names) const {
    std::vector<fs::path> paths;
    for (const auto& name : names) paths.push_back(folder / name);
    return paths;
  }
};

bool holds(const std::vector<fs::path>& list, const fs::path& path) {
  return std::find(list.begin(), list.end(), path) != list.end();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(toolchains)

BOOST_AUTO_TEST_CASE(known_folders_below_home_that_exist_are_found_once) {
  const Home here;

  const Toolchains found = here.find({}, here.home);

  BOOST_TEST((found.folders == here.named({"home/.cache/pip", "home/.cargo", "home/.m2",
                                           "home/.rustup", "home/go"})));
  BOOST_TEST(found.variables.empty());
  for (const char* file : {"home/.cargo/credentials.toml", "home/.m2/settings.xml", "home/.netrc",
                           "home/.gradle/gradle.properties", "home/.pypirc", "home/.npmrc",
                           "home/.config/pip/pip.conf"})
    BOOST_TEST(holds(found.credentials, here.folder / file), file);
}

BOOST_AUTO_TEST_CASE(variables_move_them_and_are_passed_on) {
  const Home here;
  const fs::path moved = here.folder / "elsewhere/cargo";

  const Toolchains found = here.find({{"CARGO_HOME", moved.string()}}, here.home);

  BOOST_TEST(holds(found.folders, moved));
  BOOST_TEST(!holds(found.folders, here.home / ".cargo"));
  BOOST_TEST(found.variables.at("CARGO_HOME") == moved.string());
  BOOST_TEST(holds(found.credentials, moved / "credentials.toml"));
}

BOOST_AUTO_TEST_CASE(moved_base_directories_move_the_folders_that_they_have) {
  const Home here;
  for (const char* name : {"home/.cache/uv", "home/.local/share/pnpm", "elsewhere/pip",
                           "elsewhere/go-build", "data/uv/python"})
    fs::create_directories(here.folder / name);
  const Environment own = {{"XDG_CACHE_HOME", (here.folder / "elsewhere").string()},
                           {"XDG_DATA_HOME", (here.folder / "data").string()}};

  const Toolchains found = here.find(own, here.home);

  // uv and pnpm have none there: they are used where they are.
  BOOST_TEST(
      (found.folders == here.named({"data/uv", "elsewhere/go-build", "elsewhere/pip",
                                    "home/.cache/uv", "home/.cargo", "home/.local/share/pnpm",
                                    "home/.m2", "home/.rustup", "home/go"})));
  BOOST_TEST((found.variables ==
              Environment{{"GOCACHE", (here.folder / "elsewhere/go-build").string()},
                          {"PIP_CACHE_DIR", (here.folder / "elsewhere/pip").string()},
                          {"UV_PYTHON_INSTALL_DIR", (here.folder / "data/uv/python").string()}}));
  BOOST_TEST(holds(found.credentials, here.folder / "data/uv/credentials"));

  Environment both = own;
  both["GOCACHE"] = (here.folder / "work").string();
  BOOST_TEST(here.find(both, here.home).variables.count("GOCACHE") == 0u);
  BOOST_TEST(here.find({{"XDG_CACHE_HOME", "elsewhere"}}, here.home).variables.empty());
}

BOOST_AUTO_TEST_CASE(where_home_is_another_folder_the_variables_lead_to_the_callers) {
  const Home here;

  const Toolchains found = here.find({}, "/private/home");

  BOOST_TEST(found.variables.at("CARGO_HOME") == (here.home / ".cargo").string());
  BOOST_TEST(found.variables.at("GOMODCACHE") == (here.home / "go/pkg/mod").string());
}

BOOST_AUTO_TEST_CASE(where_home_is_another_folder_ccache_only_reads_the_callers_cache) {
  const Home here;
  fs::create_directories(here.home / ".cache/ccache");

  const Environment apart = here.find({}, "/private/home").variables;
  const Environment same = here.find({}, here.home).variables;

  BOOST_TEST(apart.at("CCACHE_DIR") == (here.home / ".cache/ccache").string());
  BOOST_TEST(apart.at("CCACHE_READONLY") == "1");
  BOOST_TEST(apart.at("CCACHE_TEMPDIR") == "/private/home/tmp");
  BOOST_TEST(same.count("CCACHE_READONLY") == 0u);
}

BOOST_AUTO_TEST_CASE(a_variable_shows_no_folder_that_holds_others) {
  const Home here;
  const std::string refused[] = {"/",
                                 "/home",
                                 "/proc/self",
                                 "relative/cargo",
                                 here.home.string(),
                                 here.home.string() + "/",
                                 here.home.string() + "/.cargo/..",
                                 here.folder.path().string(),
                                 (here.folder / "work").string(),
                                 (here.folder / "missing").string()};
  for (const auto& value : refused) {
    const Toolchains found = here.find({{"GOPATH", value}}, here.home);
    BOOST_TEST(found.variables.count("GOPATH") == 0u, value);
    BOOST_TEST(!holds(found.folders, value), value);
  }
}

BOOST_AUTO_TEST_CASE(without_a_home_only_variables_count) {
  const Home here;
  const fs::path moved = here.folder / "elsewhere/cargo";

  BOOST_TEST(find_toolchains({}, "", "/home/agent", {}).folders.empty());
  BOOST_TEST(find_toolchains({{"CARGO_HOME", moved.string()}}, "", "/home/agent", {}).folders ==
             std::vector<fs::path>{moved});
}

BOOST_AUTO_TEST_SUITE_END()
