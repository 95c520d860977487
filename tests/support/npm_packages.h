#pragma once

#include <filesystem>
#include <optional>
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

/// Nothing, and a message, where they are not installed.
std::optional<NpmPackages> npm_packages();

}  // namespace sortie::test
