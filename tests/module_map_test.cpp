// The map of docs/architecture.md: a line for each module of the product, and none for another.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

namespace {

namespace fs = std::filesystem;
const fs::path kRoot = SORTIE_SOURCE_DIR;

/// Folder → its modules.
using Modules = std::map<std::string, std::set<std::string>>;

/// The modules in the source tree: a header, a source file, or both of one name.
Modules modules_of_tree() {
  Modules modules;
  for (const char* root : {"core", "policies", "tools", "ci", "app"})
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / root)) {
      const fs::path file = entry.path().lexically_relative(kRoot);
      if (file.extension() == ".cpp" || file.extension() == ".h")
        modules[file.parent_path().string()].insert(file.stem().string());
    }
  return modules;
}

/// The modules in the map, which has a heading "### `folder`" and lines "- `module`: duty".
/// @param problems  takes lines that have no duty and modules that are there twice
Modules modules_of_map(std::set<std::string>& problems) {
  Modules modules;
  std::ifstream document(kRoot / "docs/architecture.md");
  bool in_map = false;
  std::string folder;
  for (std::string line; std::getline(document, line);) {
    if (line.rfind("## ", 0) == 0) in_map = line == "## Modules";
    if (!in_map) continue;
    if (line.rfind("### `", 0) == 0) folder = line.substr(5, line.find('`', 5) - 5);
    if (line.rfind("- `", 0) != 0) continue;
    const auto end = line.find('`', 3);
    const std::string module = line.substr(3, end - 3);
    if (line.compare(end, 3, "`: ") != 0 || line.size() < end + 8)
      problems.insert("no duty: " + line);
    if (!modules[folder].insert(module).second) problems.insert("twice: " + folder + "/" + module);
  }
  return modules;
}

BOOST_AUTO_TEST_SUITE(module_map)

BOOST_AUTO_TEST_CASE(the_map_has_a_line_for_each_module_and_no_other) {
  std::set<std::string> problems;
  const Modules map = modules_of_map(problems);
  const Modules tree = modules_of_tree();
  BOOST_REQUIRE_GT(tree.size(), 40U);
  for (const auto& [folder, modules] : tree)
    for (const std::string& module : modules)
      if (map.count(folder) == 0 || map.at(folder).count(module) == 0)
        problems.insert("not in the map: " + folder + "/" + module);
  for (const auto& [folder, modules] : map)
    for (const std::string& module : modules)
      if (tree.count(folder) == 0 || tree.at(folder).count(module) == 0)
        problems.insert("only in the map: " + folder + "/" + module);
  for (const std::string& problem : problems) BOOST_ERROR(problem);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
