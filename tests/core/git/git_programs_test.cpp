#include "core/git/git_programs.h"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "core/base/error.h"
#include "core/files/files.h"
#include "core/git/config/git_config_text.h"
#include "core/git/git_info.h"
#include "tests/support/git_repository.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

std::map<std::string, std::string> overrides_in(const std::filesystem::path& folder) {
  const auto programs = read_git_programs(folder);
  return {programs.overrides.begin(), programs.overrides.end()};
}

void add_to_config(const std::filesystem::path& folder, const std::string& text) {
  const auto config = folder / ".git" / "config";
  write_file(config, read_file(config, 1 << 20) + text);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(git_programs)

BOOST_AUTO_TEST_CASE(every_key_that_names_a_program_is_overridden) {
  const TemporaryFolder folder;
  make_repository(folder.path());
  add_to_config(folder.path(),
                "[filter \"a.B c\"]\n\tclean = evil\n\tProcess = evil\n\trequired\n"
                "[diff]\n\texternal = evil\n[diff \"x\"]\n\ttextconv = evil\n"
                "[core]\n\tsshCommand = evil\n[gpg \"ssh\"]\n\tprogram = evil\n"
                "[pager]\n\tlog = evil\n[user]\n\tname = x\n");
  write_file(folder.path() / ".gitmodules", "[submodule \"s\"]\n\tpath = s\n\tignore = none\n");

  const auto overrides = overrides_in(folder.path());

  BOOST_TEST(overrides.at("filter.a.B c.clean") == "");
  BOOST_TEST(overrides.at("filter.a.B c.process") == "");
  BOOST_TEST(overrides.at("filter.a.B c.required") == "false");
  BOOST_TEST(overrides.at("diff.x.textconv") == "cat");
  BOOST_TEST(overrides.at("core.sshcommand") == "false");
  BOOST_TEST(overrides.at("gpg.ssh.program") == "false");
  BOOST_TEST(overrides.at("pager.log") == "false");
  BOOST_TEST(overrides.at("submodule.s.ignore") == "all");
  BOOST_TEST(overrides.count("diff.external") == 1);
  BOOST_TEST(overrides.count("user.name") == 0);
}

BOOST_AUTO_TEST_CASE(included_files_are_read_whatever_their_condition) {
  const TemporaryFolder folder;
  make_repository(folder.path());
  add_to_config(folder.path(),
                "[include]\n\tpath = ../more/one.cfg\n\tpath = ../none.cfg\n\tpath = ~/home.cfg\n"
                "[includeIf \"hasconfig:remote.*.url:x\"]\n\tpath = two.cfg\n");
  std::filesystem::create_directories(folder.path() / "more");
  write_file(folder.path() / "more" / "one.cfg",
             "[filter \"one\"]\n\tclean = evil\n[include]\n\tpath = deep.cfg\n");
  write_file(folder.path() / "more" / "deep.cfg", "[filter \"deep\"]\n\tsmudge = evil\n");
  write_file(folder.path() / ".git" / "two.cfg", "[filter \"two\"]\n\tclean = evil\n");

  const auto programs = read_git_programs(folder.path());
  const auto overrides = overrides_in(folder.path());

  BOOST_TEST(overrides.count("filter.one.clean") == 1);
  BOOST_TEST(overrides.count("filter.deep.smudge") == 1);
  BOOST_TEST(overrides.count("filter.two.clean") == 1);
  const auto root = std::filesystem::canonical(folder.path());
  const std::vector<std::filesystem::path> included = {root / "more/one.cfg",
                                                       root / "more/deep.cfg", root / "none.cfg",
                                                       root / ".git/two.cfg", root / ".gitmodules"};
  BOOST_TEST((programs.included == included));
}

BOOST_AUTO_TEST_CASE(a_pipe_that_the_configuration_names_is_refused_and_not_waited_for) {
  const TemporaryFolder folder;
  make_repository(folder.path());
  BOOST_REQUIRE(::mkfifo((folder.path() / "pipe").c_str(), 0600) == 0);
  write_file(folder.path() / "more.cfg", "[include]\n\tpath = pipe\n");
  const auto config = read_file(folder.path() / ".git" / "config", 1 << 20);
  for (const char* include : {"[include]\n\tpath = ../pipe\n", "[include]\n\tpath = ../more.cfg\n",
                              "[includeIf \"gitdir:/none\"]\n\tpath = ../pipe\n"}) {
    write_file(folder.path() / ".git" / "config", config + include);
    BOOST_CHECK_THROW(read_git_programs(folder.path()), Error);
    BOOST_CHECK_THROW(read_git_info(folder.path()), Error);
  }
}

BOOST_AUTO_TEST_CASE(an_include_that_git_alone_can_follow_is_refused) {
  const TemporaryFolder folder;
  make_repository(folder.path());
  std::filesystem::create_directories(folder.path() / "a" / "b");
  std::filesystem::create_directory_symlink("a/b", folder.path() / "link");
  write_file(folder.path() / "a" / "x.cfg", "[filter \"x\"]\n\tclean = evil\n");
  const auto config = read_file(folder.path() / ".git" / "config", 1 << 20);
  for (const char* path : {"~daemon/../../tmp/x", "%(prefix)/../tmp/x", "../link/../x.cfg"}) {
    write_file(folder.path() / ".git" / "config", config + "[include]\n\tpath = " + path + "\n");
    BOOST_CHECK_THROW(read_git_programs(folder.path()), Error);
  }
}

BOOST_AUTO_TEST_CASE(submodules_that_only_a_commit_names_are_not_looked_into) {
  const TemporaryFolder folder;
  make_repository(folder.path());
  write_file(folder.path() / ".gitmodules", "[submodule \"s\"]\n\tpath = s\n\tignore = none\n");
  commit_all(folder.path());
  std::filesystem::remove(folder.path() / ".gitmodules");
  BOOST_TEST(overrides_in(folder.path()).at("submodule.s.ignore") == "all");
  git(folder.path(), {"rm", "-q", "--cached", ".gitmodules"});
  BOOST_TEST(overrides_in(folder.path()).at("submodule.s.ignore") == "all");
}

BOOST_AUTO_TEST_CASE(submodules_that_only_an_index_names_are_not_looked_into) {
  for (const char* version : {"2", "3", "4"}) {
    BOOST_TEST_CONTEXT("an index of version " << version) {
      const TemporaryFolder folder;
      make_repository(folder.path());
      write_file(folder.path() / ".gitmodule", "so that version 4 leaves out what they share\n");
      write_file(folder.path() / ".gitmodules", "[submodule \"s\"]\n\tpath = s\n");
      write_file(folder.path() / "later.txt", "\n");
      git(folder.path(), {"add", ".gitmodule", ".gitmodules"});
      // An intent to add is what only versions 3 and 4 can say.
      if (*version != '2') git(folder.path(), {"add", "-N", "later.txt"});
      git(folder.path(), {"update-index", "--index-version", version});
      std::filesystem::remove(folder.path() / ".gitmodules");
      BOOST_TEST(overrides_in(folder.path()).at("submodule.s.ignore") == "all");
      git(folder.path(), {"rm", "-q", "--cached", ".gitmodules"});
      BOOST_TEST(!overrides_in(folder.path()).contains("submodule.s.ignore"));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_configuration_is_read_as_git_reads_it) {
  const TemporaryFolder folder;
  const char* texts[] = {
      "[a]\n b = c # x \\\n[include]\n path = z\n",
      "[a]\n b = \"c\n[include]\n path = z\n",
      "[a]\n b = c \\\n[include]\n path = z\n",
      "[a] b = 1\n[core][include]path=x\n",
      "[a]\n ; x \\\n[include]\npath=y\n",
      "[a]\n b = \"c # \\\n\"[include]\npath=y\n",
      "[INCLUDE]\nPATH=y\n",
      "[include.foo]\npath=y\n",
      "[include \"\"]\npath=y\n",
      "\xef\xbb\xbf[include]path=y\n",
      "[diff \"x\\\"y\"]textconv=c\n",
      "[a]\rb=c\n[include]\rpath=y\r\n",
      "[a]\nb=c\x0b\n\x0b[include]\npath=y\n",
      "[a]\nb\n[ \"x\"]\nc=d\n",
      "[Filter \"A b\"]\nCLEAN = \"a\\tb\\n\" c\n",
      "[a]\nb=c\\d\n",
      "[a]\nb c\n",
      "[a\n",
      "[a]\nb=c",
      "[a]\nb=c\\",
      "[a \"b\\\nc\"]\nd=e\n",
      "x=y\n",
      "[a]\r\nb=c\r\n[d \"e\"]\r\nf=g\r\n",
      "[a]\n1=2\n",
      "[a \"b\" ]\nc=d\n",
      "[a]b=c;[include]\npath=y",
  };
  for (const char* text : texts) {
    write_file(folder.path() / "config", text);
    const Said said = run_program(
        {"git", "config", "-f", "config", "--no-includes", "--list", "-z"}, folder.path());
    const auto read = parse_git_config(text);
    BOOST_TEST_CONTEXT(text) {
      BOOST_REQUIRE(read.has_value() == (said.status == 0));
      if (!read) continue;
      std::string shown;
      for (const auto& [key, value, bare] : *read) shown += key + (bare ? "" : '\n' + value) + '\0';
      BOOST_TEST(shown == said.output);
      // A section without a name is read, and can't be named by any other spelling.
      if (shown.find(".x.c") != std::string::npos) continue;
      write_file(folder.path() / "again", write_git_config(*read));
      BOOST_TEST(git(folder.path(), {"config", "-f", "again", "--no-includes", "--list", "-z"}) ==
                 said.output);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_can_not_be_read_is_an_error_and_no_repository_is_none) {
  const TemporaryFolder folder;
  BOOST_TEST(read_git_programs(folder.path()).overrides.empty());
  make_repository(folder.path());
  add_to_config(folder.path(), "[include]\n\tpath = ../broken.cfg\n");
  write_file(folder.path() / "broken.cfg", "[filter\n");
  BOOST_CHECK_THROW(read_git_programs(folder.path()), Error);
}

BOOST_AUTO_TEST_SUITE_END()
