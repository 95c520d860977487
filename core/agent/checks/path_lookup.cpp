#include "core/agent/checks/path_lookup.h"

#include <algorithm>

#include "core/base/error.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 8u << 20;  ///< of all paths: some 100,000 of them

bool is_left_out(const std::string& name) { return name == ".git" || name == "node_modules"; }

}  // namespace

bool PathLookup::may_exist(const std::string& named) {
  fs::path path = fs::path(named).lexically_normal();
  if (!path.has_filename()) path = path.parent_path();
  if (path.is_absolute()) {
    path = path.lexically_relative(workspace_);
    if (path.empty() || *path.begin() == "..") return true;
  }
  if (path.empty() || path == "." || is_hidden_(workspace_ / path) || stands_at(path)) return true;
  list();
  const std::string end = "/" + path.string();
  return !whole_ || std::any_of(tree_.begin(), tree_.end(),
                                [&](const std::string& one) { return one.ends_with(end); });
}

bool PathLookup::stands_at(const fs::path& path) const {
  try {
    return view_.status(path).has_value();
  } catch (const ToolError&) {
    return true;  // something is there, or on the way, that can't be looked at
  }
}

void PathLookup::list() {
  if (listed_) return;
  listed_ = whole_ = true;
  tree_.clear();
  std::size_t bytes = 0;
  std::vector<fs::path> folders = {"."};
  while (!folders.empty()) {
    const fs::path folder = folders.back();
    folders.pop_back();
    try {
      for (const FolderEntry& entry : view_.list(folder)) {
        const fs::path path = (folder / entry.name).lexically_normal();
        bytes += path.native().size();
        if (bytes > kMostBytes) {
          whole_ = false;
          return;
        }
        tree_.push_back("/" + path.string());
        if (entry.kind == FileStatus::Kind::folder && !is_left_out(entry.name))
          folders.push_back(path);
      }
    } catch (const ToolError&) {
      whole_ = false;
    }
  }
}

}  // namespace sortie
