#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sortie {

/// The line of a .gitignore that leaves out a path which, by its name, a compiler, a test runner or
/// a package manager has made: "__pycache__/" for "src/__pycache__/a.pyc"; "" for all others.
/// Names that people give to their own folders too ("build", "dist", "out") are none of these.
std::string ignore_line_for(std::string_view path);

/// Paths that one line would leave out.
struct BuildProducts {
  std::string ignore_line;
  std::vector<std::string> paths;
};
/// Groups in the order of their first paths.
std::vector<BuildProducts> find_build_products(const std::vector<std::string>& paths);

}  // namespace sortie
