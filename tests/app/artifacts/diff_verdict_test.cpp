#include "app/artifacts/diff_verdict.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

namespace {

using Strings = std::vector<std::string>;

DiffFile added(const std::string& path) { return {.path = path, .kind = ChangedPath::Kind::added}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(build_products)

BOOST_AUTO_TEST_CASE(products_are_grouped_by_their_line) {
  const auto groups = find_build_products({"a/__pycache__/x.pyc", "b.o", "c.c", "d/__pycache__/y"});

  BOOST_REQUIRE(groups.size() == 2u);
  BOOST_TEST(groups[0].ignore_line == "__pycache__/");
  BOOST_TEST(
      (groups[0].paths == std::vector<std::string>{"a/__pycache__/x.pyc", "d/__pycache__/y"}));
  BOOST_TEST(groups[1].ignore_line == "*.o");
}

BOOST_AUTO_TEST_CASE(products_that_are_left_out_are_told_with_their_lines_and_fail_nothing) {
  Diff diff;
  for (const char* path : {"build/", "a.o", "b.o", "node_modules/", "prog"})
    diff.left_out.push_back({path, LeftOut::Why::product, "made by a tool"});

  const auto warnings = diff_warnings(diff, {}, {});

  BOOST_TEST(undiffable_changes(diff) == "");
  BOOST_TEST(warnings == Strings{"left out of the diff as build products: build/, a.o, b.o and 2 "
                                 "more; output.diff.products: include takes them in, and the lines "
                                 "'/build/', '*.o', 'node_modules/', '/prog' in .gitignore would "
                                 "leave them to git"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(many_files_that_no_patch_wrote_are_told) {
  Diff diff;
  std::set<std::string> patched;
  for (int i = 0; i < 150; ++i) diff.files.push_back(added("gen/" + std::to_string(i)));
  for (int i = 0; i < 150; ++i) {
    diff.files.push_back(added("src/" + std::to_string(i)));
    patched.insert("src/" + std::to_string(i));
  }

  BOOST_TEST(diff_warnings(diff, {}, patched) ==
                 Strings{"the diff adds 150 files that no patch wrote, 150 of them in gen/: see "
                         "whether they belong in it"},
             boost::test_tools::per_element());
  diff.files.resize(100);
  BOOST_TEST(diff_warnings(diff, {}, patched).empty());
}

BOOST_AUTO_TEST_CASE(files_that_only_work_here_or_are_hidden_by_the_runs_rules_are_told) {
  Diff diff;
  diff.bound_to_place = {"a.cmake"};
  diff.patched_but_ignored = {".env"};

  const auto warnings = diff_warnings(diff, {}, {".env"});

  BOOST_REQUIRE(warnings.size() == 2u);
  BOOST_TEST(warnings[0].find("ignore rules of the run hide them: .env") != std::string::npos);
  BOOST_TEST(warnings[1].find("the absolute path of the workspace") != std::string::npos);
  BOOST_TEST(warnings[1].find("a.cmake") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
