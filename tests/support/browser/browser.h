#pragma once

#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sortie::test {

/// For test cases that open pages in Chromium: Debian's, as `ci/setup tests` installs it, or the
/// program that SORTIE_TEST_CHROMIUM names; with the npm packages of npm_packages.h. Where one of
/// them is missing such a case counts as skipped.
///     BOOST_AUTO_TEST_CASE(a_case, *boost::unit_test::precondition(browser_is_installed))
boost::test_tools::assertion_result browser_is_installed(boost::unit_test::test_unit_id);

/// A page to be opened.
struct PageJob {
  std::filesystem::path file;
  /// Of check_pages.mjs: "axe", "keyboard", "print", "phone"
  std::vector<std::string> checks{};
  bool unfold = false;  ///< open all that folds before what happened is looked at
};

/// What came of it.
struct PageFindings {
  std::string title;
  std::string heading;
  std::int64_t nodes = 0;  ///< elements
  std::int64_t bytes = 0;
  std::vector<std::string> problems;  ///< sentences; none: the page is as it should be

  std::string all_problems() const;  ///< a line each
};

/// Opens the pages one after the other in one browser that reaches no network.
std::vector<PageFindings> check_pages(const std::vector<PageJob>& jobs);

}  // namespace sortie::test
