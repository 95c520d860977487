#include "app/run/protected_names.h"

#include <boost/test/unit_test.hpp>

#include "tests/app/run/run_bench.h"

using namespace sortie;
using sortie::test::end_of;
using sortie::test::RunBench;

BOOST_AUTO_TEST_SUITE(protected_names)

BOOST_AUTO_TEST_CASE(what_no_mount_guards_is_put_back_and_what_was_found_is_kept) {
  RunBench bench;
  bench.put_at_start("ci.yml", "on: push\n");
  bench.inputs.policy.protect = {"ci.yml", "Makefile"};
  bench.open(false);
  ProtectedNames& names = bench.tree().names();
  names.start_keeping();
  bench.change("ci.yml", "on: nothing\n");
  bench.change("Makefile", "all:\n\ttouch here\n");

  const RunEnds end = end_of([&] { names.check_unchanged("a command"); });

  BOOST_TEST((end.code == ExitCode::integrity));
  BOOST_TEST(end.reason == "a command changed the protected path Makefile");
  BOOST_TEST(read_file(bench.copy() / "ci.yml") == "on: push\n");
  BOOST_TEST(!std::filesystem::exists(bench.copy() / "Makefile"));
  BOOST_TEST(read_file(bench.out() / "kept/ci.yml.taken") == "on: nothing\n");
  BOOST_TEST(bench.result.kept.count("Makefile.taken") == 1u);
}

BOOST_AUTO_TEST_CASE(where_mounts_guard_them_nothing_is_looked_for) {
  RunBench bench;
  bench.put_at_start("ci.yml", "on: push\n");
  bench.inputs.policy.protect = {"ci.yml"};
  bench.open();
  bench.change("ci.yml", "on: nothing\n");

  BOOST_TEST(bench.tree().names().restore_changed().empty());
}

BOOST_AUTO_TEST_CASE(a_name_that_leads_elsewhere_than_at_the_start_ends_the_run) {
  RunBench bench;
  bench.put_at_start("docs/owners", "us\n");
  std::filesystem::create_symlink("docs/owners", bench.inputs.workspace / "OWNERS");
  bench.inputs.policy.protect = {"OWNERS"};
  bench.links = {"OWNERS"};
  bench.open();
  ProtectedNames& names = bench.tree().names();
  const std::vector<std::string> before = names.led_elsewhere();
  bench.change("docs/owners", "them\n");

  const RunEnds end = end_of([&] { names.check(Diff{}); });

  BOOST_TEST(before.empty());
  BOOST_TEST((end.code == ExitCode::integrity));
  BOOST_TEST(end.reason.find("OWNERS leads through a link to other content") != end.reason.npos);
}

BOOST_AUTO_TEST_CASE(paths_of_a_diff_begin_at_the_toplevel_of_the_repository) {
  const GitInfo git{.toplevel = "/repo"};

  BOOST_TEST(path_in_workspace("packages/a/x.c", "/repo/packages/a", git) == "x.c");
  BOOST_TEST(path_in_workspace("x.c", "/tree", GitInfo{}) == "x.c");
}

BOOST_AUTO_TEST_SUITE_END()
