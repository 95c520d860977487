#include "core/workspace/diff/restored_paths.h"

#include <filesystem>
#include <set>

#include "core/base/error.h"
#include "core/workspace/tree.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

using StartKind = FileStatus::Kind;

bool is_plain(const fs::path& part) {
  return part.native().find_first_of("*?[\\") == std::string::npos;
}

/// Adds the links that lead to what a pattern names, and the same pattern behind them.
void follow_links(const std::string& pattern, const Files& start, std::vector<std::string>& all) {
  const fs::path whole = fs::path(pattern).relative_path().lexically_normal();
  fs::path at;
  for (auto part = whole.begin(); part != whole.end() && is_plain(*part) && !part->empty();) {
    at /= *part++;
    try {
      const auto status = start.status(at);
      if (!status) return;
      if (status->kind != StartKind::symlink) continue;
      all.push_back(at.native());
      at = start.resolve(at);
    } catch (const ToolError&) {  // it leads out of the tree
      return;
    }
    fs::path behind = at;
    for (auto rest = part; rest != whole.end(); ++rest) behind /= *rest;
    all.push_back(behind.native());
  }
}

std::vector<std::string> followed(const std::vector<std::string>& patterns, const Files& start) {
  std::vector<std::string> all = patterns;
  for (const std::string& pattern : patterns)
    if (!pattern.starts_with('!')) follow_links(pattern, start, all);
  return all;
}

}  // namespace

RestoredPaths::RestoredPaths(const std::vector<std::string>& patterns, const Files& start)
    : start_(start), patterns_(followed(patterns, start), "verify.restore") {}

std::vector<std::string> RestoredPaths::take_out(DiffEffect& effect) const {
  std::set<std::string> taken;
  std::erase_if(effect.removes,
                [&](const std::string& path) { return match(path) && (taken.insert(path), true); });
  std::erase_if(effect.makes, [&](const auto& made) {
    const std::string& path = made.first;
    return (match(path) || hides_some(path) || lies_below_one(path)) && (taken.insert(path), true);
  });
  return {taken.begin(), taken.end()};
}

/// Whether the start has a folder there with such a path in it.
bool RestoredPaths::hides_some(const std::string& path) const {
  try {
    const auto status = start_.status(path);
    return status && status->kind == StartKind::folder && has_some_below(path, 0);
  } catch (const ToolError&) {
    return false;
  }
}

bool RestoredPaths::has_some_below(const std::string& folder, int depth) const {
  if (depth > kDeepestFolder) return true;
  for (const FolderEntry& entry : start_.list(folder)) {
    const std::string path = child_path(folder, entry.name);
    if (entry.kind == StartKind::folder ? has_some_below(path, depth + 1) : match(path))
      return true;
  }
  return false;
}

/// Whether the start has such a file or link above the path.
bool RestoredPaths::lies_below_one(const std::string& path) const {
  for (auto slash = path.find('/'); slash != path.npos; slash = path.find('/', slash + 1)) {
    const std::string above = path.substr(0, slash);
    try {
      const auto status = start_.status(above);
      if (!status) return false;
      if (status->kind != StartKind::folder) return match(above);
    } catch (const ToolError&) {
      return false;
    }
  }
  return false;
}

}  // namespace sortie
