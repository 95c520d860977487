#include "core/workspace/diff/restored_paths.h"

#include <filesystem>
#include <set>

#include "core/base/error.h"
#include "core/workspace/tree.h"

namespace fs = std::filesystem;

namespace sortie {
namespace {

using StartKind = FileStatus::Kind;

/// Links that lead to links, by their folders.
constexpr int kMostLinksOnAWay = 4;
constexpr std::size_t kMostNames = 1000;

bool is_plain(const fs::path& part) {
  return part.native().find_first_of("*?[\\") == std::string::npos;
}

/// The folder that a pattern names before its first wildcard; "" for none.
std::string plain_folder(const std::string& pattern) {
  fs::path folder;
  for (const fs::path& part : fs::path(pattern).relative_path().lexically_normal()) {
    if (!is_plain(part)) break;
    if (!part.empty() && part != ".") folder /= part;
  }
  return folder.native();
}

/// Nothing for what is no folder, or can't be listed.
std::vector<FolderEntry> entries_of(const Files& start, const std::string& folder) {
  try {
    return start.list(folder.empty() ? "." : folder);
  } catch (const ToolError&) {
    return {};
  }
}

/// Finds the links in a folder of the start.
class LinkSearch {
 public:
  LinkSearch(const Files& start, std::set<std::string>& links) : start_(start), links_(links) {}

  void search(const std::string& folder) {
    try {
      look(folder.empty() ? folder : start_.resolve(folder).native(), 0);
    } catch (const ToolError&) {  // it leads out of the tree
    }
  }

 private:
  void look(const std::string& folder, int depth) {
    if (depth > kDeepestFolder) return;
    for (const FolderEntry& entry : entries_of(start_, folder)) {
      if (++seen_ > kMostSearched) return;
      const std::string path = child_path(folder, entry.name);
      if (entry.kind == StartKind::symlink) links_.insert(path);
      if (entry.kind == StartKind::folder && !in_git_folder(entry.name)) look(path, depth + 1);
    }
  }

  static constexpr std::size_t kMostSearched = 300'000;
  const Files& start_;
  std::set<std::string>& links_;
  std::size_t seen_ = 0;
};

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

RestoredPaths::RestoredPaths(const std::vector<std::string>& patterns, const Files& start,
                             const std::optional<std::vector<std::string>>& tracked)
    : start_(start), patterns_(followed(patterns, start), "verify.restore") {
  std::set<std::string> links;
  for (const std::string& pattern : followed(patterns, start)) {
    if (pattern.starts_with('!')) continue;
    const std::string folder = plain_folder(pattern);
    if (folder.empty() && tracked)
      links.insert(tracked->begin(), tracked->end());
    else
      LinkSearch(start, links).search(folder);
  }
  for (const std::string& link : links) {
    try {
      std::string target = start.resolve(link).native();
      if (target == link || !links_.emplace(link, target).second) continue;
      ways_.emplace(std::move(target), link);
    } catch (const ToolError&) {  // it leads out of the tree
    }
  }
}

bool RestoredPaths::match(const std::string& path) const {
  return patterns_.match(path) || (!ways_.empty() && match_by_links(path));
}

/// Whether links of the start lead to the path, or to a folder above it, by a name that matches. One
/// with too many names is restored: what can't be told must not be the agent's.
bool RestoredPaths::match_by_links(const std::string& path) const {
  std::set<std::string> seen = {path};
  std::vector<std::string> names = {path};
  for (int links = 0; links < kMostLinksOnAWay && !names.empty(); ++links) {
    std::vector<std::string> next;
    for (const std::string& name : names) {
      for (auto end = name.size(); end != name.npos && end > 0; end = name.rfind('/', end - 1)) {
        const auto [first, last] = ways_.equal_range(name.substr(0, end));
        for (auto way = first; way != last; ++way) {
          std::string other = way->second + name.substr(end);
          if (patterns_.match(other) || seen.size() > kMostNames) return true;
          if (seen.insert(other).second) next.push_back(std::move(other));
        }
      }
    }
    names = std::move(next);
  }
  return false;
}

std::vector<std::string> RestoredPaths::take_out(DiffEffect& effect) const {
  std::set<std::string> taken;
  std::erase_if(effect.removes, [&](const std::string& path) {
    return (match(path) || (links_.contains(path) && hides_some(path))) &&
           (taken.insert(path), true);
  });
  std::erase_if(effect.makes, [&](const auto& made) {
    const std::string& path = made.first;
    return (match(path) || hides_some(path) || lies_below_one(path)) && (taken.insert(path), true);
  });
  return {taken.begin(), taken.end()};
}

/// Whether the start has a folder there, or a link to one, with such a path in it.
bool RestoredPaths::hides_some(const std::string& path) const {
  std::set<std::string> seen;
  return has_some_below(path, seen);
}

/// @param seen  the folders that were looked through
bool RestoredPaths::has_some_below(const std::string& path, std::set<std::string>& seen) const {
  const auto link = links_.find(path);
  const std::string& folder = link == links_.end() ? path : link->second;
  if (!seen.insert(folder).second) return false;
  for (const FolderEntry& entry : entries_of(start_, folder)) {
    const std::string below = child_path(folder, entry.name);
    if (entry.kind != StartKind::folder && match(below)) return true;
    if (entry.kind == StartKind::folder || links_.contains(below))
      if (has_some_below(below, seen)) return true;
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
      if (status->kind != StartKind::folder) return match(above) || hides_some(above);
    } catch (const ToolError&) {
      return false;
    }
  }
  return false;
}

}  // namespace sortie
