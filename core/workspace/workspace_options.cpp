#include "core/workspace/workspace_options.h"

#include <system_error>

#include "core/files/path_below.h"

namespace sortie {

namespace fs = std::filesystem;

namespace {

/// Whether it is a real folder, not a link, that a run has written; not just any of that name.
bool holds_a_run(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(folder, error))) return false;
  return fs::exists(folder / "result.json", error) ||
         fs::exists(folder / "transcript.jsonl", error);
}

}  // namespace

std::vector<fs::path> output_folders(const WorkspaceOptions& options) {
  std::vector<fs::path> folders;
  for (const fs::path& folder : options.covered)
    if (const auto inside = path_below(folder, options.root); inside && *inside != ".")
      folders.push_back(*inside);
  const auto out = path_below(options.out, options.root);
  if (!out || *out == ".") return folders;
  folders.insert(folders.begin(), *out);
  if (const fs::path previous = out->string() + ".prev"; holds_a_run(options.root / previous))
    folders.push_back(previous);
  return folders;
}

}  // namespace sortie
