#include "core/workspace/apply/file_patches.h"

#include <set>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/workspace/apply/tree_path.h"

namespace sortie {
namespace {

void check_path(const std::string& path) {
  if (const std::string problem = path_problem(path); !problem.empty())
    throw Error("the diff names '" + path_text(path) + "', which " + problem, ExitCode::integrity);
}

}  // namespace

std::vector<FilePatch> read_patches(std::string_view diff) {
  std::vector<FilePatch> patches;
  std::set<std::string> removed;
  std::set<std::string> made;
  while (!diff.empty()) {
    FilePatch patch = take_patch(diff);
    const PatchHeader& header = patch.header;
    check_path(header.old_path);
    check_path(header.new_path);
    const bool twice = (!patch.adds() && !removed.insert(header.old_path).second) ||
                       (!patch.deletes() && !made.insert(header.new_path).second);
    if (twice)
      throw Error("the diff changes '" + path_text(header.new_path) + "' twice",
                  ExitCode::integrity);
    patches.push_back(std::move(patch));
  }
  for (const std::string& path : made)
    for (auto slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1))
      if (made.contains(path.substr(0, slash)))
        throw Error(
            "the diff makes '" + path_text(path.substr(0, slash)) + "', and a file below it",
            ExitCode::integrity);
  return patches;
}

}  // namespace sortie
