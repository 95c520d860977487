#include "core/workspace/git_programs.h"

#include <boost/test/unit_test.hpp>
#include <map>
#include <string>

#include "core/base/error.h"
#include "core/base/files.h"
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
  const std::vector<std::filesystem::path> included = {
      root / "more/one.cfg", root / "more/deep.cfg", root / "none.cfg", root / ".git/two.cfg"};
  BOOST_TEST((programs.included == included));
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
