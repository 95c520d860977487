#include "core/workspace/apply/file_patches.h"

#include <set>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/text/text.h"
#include "core/workspace/apply/tree_path.h"
#include "core/workspace/diff/patch_body.h"

namespace sortie {
namespace {

void check_path(const std::string& path) {
  if (const std::string problem = path_problem(path); !problem.empty())
    throw Error("the diff names '" + path_text(path) + "', which " + problem, ExitCode::integrity);
}

FilePatch read_patch(std::string_view piece) {
  const std::string_view whole = piece;
  FilePatch patch;
  try {
    patch.header = read_header(piece);
  } catch (const Error& error) {
    throw Error("the diff is not in the form that sortie writes: " +
                    one_line(repair_utf8(whole.substr(0, whole.find('\n'))), 200) + ": " +
                    error.what(),
                ExitCode::integrity);
  }
  patch.body = piece;
  return patch;
}

}  // namespace

std::vector<FilePatch> read_patches(const std::string& text) {
  std::vector<FilePatch> patches;
  std::set<std::string> removed;
  std::set<std::string> made;
  for (std::string_view rest = text; !rest.empty();) {
    FilePatch patch = read_patch(take_patch(rest));
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
  return patches;
}

}  // namespace sortie
