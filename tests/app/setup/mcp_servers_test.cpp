#include "app/setup/mcp_servers.h"

#include <fcntl.h>

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "core/files/files.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;

namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(server_program)

BOOST_AUTO_TEST_CASE(what_a_program_may_run_once_it_is_started_again) {
  const test::TemporaryFolder folder;
  const fs::path workspace = folder / "work";
  fs::create_directories(workspace / "real");
  fs::create_directory_symlink("real", workspace / "linked");
  fs::create_directory_symlink("../..", workspace / "out");
  const DiskFiles view(Fd(::open(workspace.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
  const std::string inside = (workspace / "srv").string();
  const struct {
    std::vector<std::string> argv;
    const char* changed;
    bool matters;
  } rows[] = {
      // Installed: what its words name.
      {{"some-server", "--stdio"}, "src/a.c", false},
      {{"/opt/bin/some-server"}, "src/a.c", false},
      {{"some-server", "rules.json"}, "rules.json", true},
      {{"some-server", "--rules=./conf/rules.json"}, "conf/rules.json", true},
      {{"some-server", "rules"}, "rules.json", true},
      {{"some-server", "rules"}, "rules/one", true},
      {{"some-server", "rules"}, "rulesets", false},
      {{"some-server", "conf/rules"}, "conf", true},  // the folder has become a link
      {{"some-server", "linked/rules"}, "real/rules", true},
      {{"some-server", "."}, "src/a.c", true},
      {{"some-server", "out/x"}, "src/a.c", true},
      {{"some-server", "../x"}, "x", false},
      // In the workspace, or what runs others: anything.
      {{"./srv"}, "src/a.c", true},
      {{inside}, "src/a.c", true},
      {{"/opt/../" + inside}, "src/a.c", true},
      {{"python3", "srv.py"}, "src/a.c", true},
      {{"python3.11", "-m", "srv"}, "json.py", true},
      {{"/usr/bin/python3", "srv.py"}, "json.py", true},
      {{"npx", "-y", "some-server"}, "package.json", true},
      {{"env", "some-server"}, "src/a.c", true},
      {{"sh", "-c", "some-server"}, "src/a.c", true},
      {{"make"}, "Makefile", true},
      // What it runs is installed.
      {{"python3", "/opt/server.py"}, "json.py", false},
      {{"python3", "/opt/server.py", "rules.json"}, "rules.json", true},
      {{"python3", inside}, "json.py", true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.argv.back() << ", " << row.changed) {
      const std::string found = changed_under(row.argv, workspace, {{.path = row.changed}}, view);
      BOOST_TEST(found == (row.matters ? row.changed : ""));
      BOOST_TEST(changed_under(row.argv, workspace, {}, view) == "");
    }
  }
}

BOOST_AUTO_TEST_CASE(the_path_that_its_words_name_is_told_first) {
  const test::TemporaryFolder folder;
  const DiskFiles view(Fd(::open(folder.path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)));
  const std::vector<ChangedPath> changed = {{.path = "a.txt"}, {.path = "srv.py"}};
  BOOST_TEST(changed_under({"python3", "srv.py"}, folder.path(), changed, view) == "srv.py");
}

BOOST_AUTO_TEST_SUITE_END()
