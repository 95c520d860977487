#pragma once

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace sortie::test {

/// The npm packages of tests/support/npm, as `ci/setup tests` installs them into build/npm;
/// SORTIE_TEST_NPM names another folder.
struct NpmPackages {
  std::filesystem::path folder;  ///< with node_modules in it
  std::string node;              ///< the Node that came along

  /// The command line that starts a package's program: "@scope/name", "dist/index.js".
  std::vector<std::string> command(const std::string& package, const std::string& script) const;
};

/// For test cases that need them: where they are not installed such a case counts as skipped.
///     BOOST_AUTO_TEST_CASE(a_case, *boost::unit_test::precondition(npm_is_installed))
boost::test_tools::assertion_result npm_is_installed(boost::unit_test::test_unit_id);

/// In such a case.
NpmPackages npm_packages();

}  // namespace sortie::test
