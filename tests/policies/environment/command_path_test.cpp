#include "policies/environment/command_path.h"

#include <boost/test/unit_test.hpp>
#include <fstream>

#include "tests/support/temporary_folder.h"

namespace sortie::test {
namespace {

namespace fs = std::filesystem;

/// A machine below one folder: HOME, a workspace, and installations in and beside them.
struct Machine {
  TemporaryFolder folder;
  fs::path root = fs::canonical(folder.path());
  CommandPathPlaces places;

  Machine() {
    for (const char* bin :
         {"w/.venv/bin", "w/node_modules/.bin", "home/.local/bin", "home/.local/lib", "home/bin",
          "home/lib", "home/tools/bin", "home/venv/bin", "srv/venv/bin", "srv/conda/bin",
          "srv/conda/conda-meta", "srv/node/bin", "srv/node/lib", "srv/plain/bin", "w/bin", "lib",
          "bin", "cache/venv/bin"})
      fs::create_directories(root / bin);
    for (const char* python : {"w/.venv", "home/venv", "srv/venv", "cache/venv"})
      std::ofstream(root / python / "pyvenv.cfg") << "home = /usr/bin\n";
    places.temporary.clear();  // all of it may lie in /tmp
    places.workspace = root / "w";
    places.home = root / "home";
    places.writable = {root / "home", root / "cache"};
    places.kept_apart = {root / "w", root / "cache"};
    places.installations = Installations::all;
  }

  CommandPath find(const std::string& entries, Environment more = {}) const {
    std::string path;
    for (std::size_t begin = 0; begin < entries.size();) {
      const std::size_t end = std::min(entries.find(' ', begin), entries.size());
      path += (path.empty() ? "" : ":") + (root / entries.substr(begin, end - begin)).string();
      begin = end + 1;
    }
    more["PATH"] = path;
    return find_command_path(more, places);
  }

  std::string names(const std::vector<fs::path>& paths) const {
    std::string text;
    for (const auto& path : paths) {
      const fs::path relative = path.lexically_relative(root);
      text += (text.empty() ? "" : " ") + relative.string();
    }
    return text;
  }
};

BOOST_AUTO_TEST_CASE(the_path_has_only_folders_that_no_command_can_change) {
  const fs::path root = fs::canonical("/usr");
  const struct {
    const char* name;
    std::string own;
    std::vector<fs::path> writable;
    std::vector<fs::path> folders;
  } rows[] = {
      {"order is kept", "/usr/sbin:/usr/bin", {}, {root / "sbin", root / "bin"}},
      {"a link is what it leads to, once", "/usr/bin:/bin:/usr/bin", {}, {fs::canonical("/bin")}},
      {"relative, empty and missing entries", ":bin:.:/no/such:/usr/bin", {}, {root / "bin"}},
      {"below a writable place", "/usr/sbin:/usr/bin", {"/usr/sbin"}, {root / "bin"}},
      {"a neighbour with the same beginning", "/usr/sbin", {"/usr/sb"}, {root / "sbin"}},
      {"a writable place behind dots", "/usr/bin/../../tmp:/usr/bin", {}, {root / "bin"}},
      {"a writable place with a final slash", "/usr/sbin:/usr/bin", {"/usr/sbin/"}, {root / "bin"}},
      {"nothing left", "/tmp", {}, {"/usr/local/bin", "/usr/bin", "/bin"}},
      {"nothing given", "", {}, {"/usr/local/bin", "/usr/bin", "/bin"}},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      CommandPathPlaces places;
      places.writable = row.writable;
      BOOST_TEST((find_command_path({{"PATH", row.own}}, places).folders == row.folders));
    }
  }
}

BOOST_AUTO_TEST_CASE(an_installation_is_shown_with_its_programs_and_what_stays_out_is_told) {
  const struct {
    const char* name;
    const char* path;
    const char* folders;
    const char* installations;
    const char* left_out;
  } rows[] = {
      {"a virtual environment", "srv/venv/bin", "srv/venv/bin", "srv/venv", ""},
      {"conda", "srv/conda/bin", "srv/conda/bin", "srv/conda", ""},
      {"programs with a lib", "srv/node/bin", "srv/node/bin", "srv/node", ""},
      {"programs alone", "srv/plain/bin", "srv/plain/bin", "", ""},
      {"a virtual environment in HOME", "home/venv/bin", "home/venv/bin", "home/venv", ""},
      {"HOME itself is none", "home/bin srv/plain/bin", "srv/plain/bin", "", "home/bin"},
      {"nor is what holds others", "home/.local/bin srv/plain/bin", "srv/plain/bin", "",
       "home/.local/bin"},
      {"programs alone in HOME", "home/tools/bin srv/plain/bin", "srv/plain/bin", "",
       "home/tools/bin"},
      {"what holds the workspace", "bin", "bin", "", ""},
      {"the workspace", "w/.venv/bin w/node_modules/.bin srv/plain/bin", "srv/plain/bin", "",
       "w/.venv/bin w/node_modules/.bin"},
      {"what commands write to", "cache/venv/bin srv/plain/bin", "srv/plain/bin", "",
       "cache/venv/bin"},
      {"what is not there", "no/such srv/plain/bin", "srv/plain/bin", "", ""},
  };
  const Machine machine;
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const CommandPath found = machine.find(row.path);

      BOOST_TEST(machine.names(found.folders) == row.folders);
      BOOST_TEST(machine.names(found.installations) == row.installations);
      std::vector<fs::path> left_out;
      for (const auto& one : found.left_out) left_out.emplace_back(one.entry);
      BOOST_TEST(machine.names(left_out) == row.left_out);
    }
  }
}

BOOST_AUTO_TEST_CASE(paths_read_keeps_a_folder_of_home_and_full_auto_one_of_the_workspace) {
  Machine machine;
  machine.places.shown.push_back(machine.root / "home/tools");
  machine.places.workspace_folders = WorkspaceFolders::kept;

  const CommandPath found = machine.find("w/.venv/bin home/tools/bin home/bin",
                                         {{"VIRTUAL_ENV", (machine.root / "w/.venv").string()},
                                          {"CONDA_PREFIX", (machine.root / "srv/conda").string()}});

  BOOST_TEST(machine.names(found.folders) == "w/.venv/bin home/tools/bin");
  BOOST_TEST(found.left_out.size() == 1u);
  BOOST_TEST(left_out_text(found.left_out[0]).find("paths.read") != std::string::npos);
  BOOST_TEST(
      (found.variables == Environment{{"VIRTUAL_ENV", (machine.root / "w/.venv").string()}}));
}

BOOST_AUTO_TEST_CASE(a_wide_entry_of_paths_read_keeps_nothing_that_commands_write_to) {
  Machine machine;
  machine.places.shown = {"/", machine.root};

  const CommandPath found = machine.find("w/bin home/bin cache/venv/bin srv/plain/bin");

  BOOST_TEST(machine.names(found.folders) == "srv/plain/bin");
}

BOOST_AUTO_TEST_CASE(without_toolchains_no_installation_of_home_is_shown) {
  Machine machine;
  machine.places.installations = Installations::outside_home;

  const CommandPath found = machine.find("home/venv/bin srv/venv/bin");

  BOOST_TEST(machine.names(found.folders) == "srv/venv/bin");
  BOOST_TEST(machine.names(found.installations) == "srv/venv");
}

}  // namespace
}  // namespace sortie::test
