#include "core/git/config/git_hooks.h"

#include <set>

#include "core/git/config/git_config_files.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

/// A folder of hooks and what the links in it lead to.
void add_folder(const fs::path& folder, std::set<fs::path>& found) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error) return;
  found.insert(real);
  for (fs::directory_iterator at(real, error), end; !error && at != end; at.increment(error)) {
    std::error_code unknown;
    if (!at->is_symlink(unknown)) continue;
    if (fs::path target = fs::canonical(at->path(), unknown); !unknown)
      found.insert(std::move(target));
  }
}

}  // namespace

std::vector<fs::path> hooks_elsewhere(const fs::path& folder) {
  const GitPlace place = find_git_place(folder);
  if (place.git_dir.empty()) return {};
  std::set<fs::path> found;
  add_folder(place.common_dir / "hooks", found);
  for (const GitSetting& setting : read_git_config(place).settings)
    if (setting.key == "core.hookspath" && !setting.value.empty() && setting.value.front() != '~')
      add_folder(place.toplevel / setting.value, found);
  found.erase(place.common_dir / "hooks");
  return {found.begin(), found.end()};
}

}  // namespace sortie
