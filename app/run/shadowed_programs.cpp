#include "app/run/shadowed_programs.h"

#include <unistd.h>

#include <algorithm>

#include "core/files/file_name.h"
#include "core/workspace/tree.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kPlainFile = 0100644;

/// The folders of PATH; one without a leading slash is the workspace's, where commands start.
std::vector<fs::path> folders_of(std::string_view search, const fs::path& workspace) {
  std::vector<fs::path> folders;
  for (;;) {
    const std::size_t end = std::min(search.find(':'), search.size());
    std::error_code error;
    fs::path folder = fs::weakly_canonical(workspace / search.substr(0, end), error);
    if (!folder.has_filename()) folder = folder.parent_path();
    folders.push_back(std::move(folder));
    if (end == search.size()) return folders;
    search.remove_prefix(end + 1);
  }
}

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::vector<ShadowedProgram> shadowed_programs(const DiffEffect& effect, const Files& start,
                                               const fs::path& workspace, std::string_view search) {
  std::vector<ShadowedProgram> found;
  const std::vector<fs::path> folders = folders_of(search, workspace);
  for (const auto& [path, entry] : effect.makes) {
    if (entry.mode == kPlainFile) continue;
    const fs::path place = workspace / path;
    const auto as_folder = std::find(folders.begin(), folders.end(), place);
    if (as_folder != folders.end() && as_folder + 1 != folders.end() && !has_path(start, path)) {
      found.push_back({path, *(as_folder + 1)});  // a link to a folder of programs
      continue;
    }
    const auto own = std::find(folders.begin(), folders.end(), place.parent_path());
    if (own == folders.end() || has_path(start, path)) continue;
    const auto other = std::find_if(own + 1, folders.end(), [&](const fs::path& folder) {
      return is_program(folder / place.filename());
    });
    if (other != folders.end()) found.push_back({path, *other / place.filename()});
  }
  return found;
}

std::string describe_shadowed(const std::vector<ShadowedProgram>& programs) {
  if (programs.empty()) return "";
  std::vector<std::string> added;
  for (const ShadowedProgram& one : programs) added.push_back(one.added);
  const ShadowedProgram& first = programs.front();
  return "The verification would not run the programs that it names, since the folder of these is on "
         "its PATH: " +
         some_of(added) + " (in place of " + path_text(first.other) + ")";
}

}  // namespace sortie
