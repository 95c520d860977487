#include "core/workspace/diff/renames.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/git/git_repository.h"

namespace sortie {
namespace {

/// The last `parts` parts of a path; "" if it has fewer.
std::string ending_of(const std::string& path, int parts) {
  std::size_t at = path.size();
  for (int i = 0; i < parts; ++i) {
    if (at == 0) return "";
    const std::size_t slash = path.rfind('/', at - 1);
    at = slash == std::string::npos ? 0 : slash;
  }
  return path[at] == '/' ? path.substr(at + 1) : path;
}

/// The key that equal files share; links and files are distinct.
std::string content_key(const TreeEntry& entry) {
  return (entry.mode == 0120000 ? "l" : "f") + id_text(blob_id(entry.content));
}

using ByKey = std::map<std::string, std::vector<std::string>>;

ByKey by_content(const TouchedFiles& files, const std::vector<std::string>& paths,
                 const CancelCheck& check_cancel) {
  ByKey groups;
  for (const std::string& path : paths) {
    if (check_cancel) check_cancel();
    groups[content_key(files.at(path))].push_back(path);
  }
  return groups;
}

ByKey by_ending(const std::vector<std::string>& paths, int parts) {
  ByKey groups;
  for (const std::string& path : paths)
    if (auto ending = ending_of(path, parts); !ending.empty())
      groups[std::move(ending)].push_back(path);
  return groups;
}

void add_pair(std::vector<Rename>& renames, const std::string& from, const std::string& to,
              int least = 100) {
  renames.push_back({from, to, least});
}

/// Pairs files one by one, until one side has none left.
void pair_up(const std::vector<std::string>& from, const std::vector<std::string>& to,
             std::vector<Rename>& renames) {
  for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i)
    add_pair(renames, from[i], to[i]);
}

std::vector<std::string> without(const std::vector<std::string>& paths,
                                 const std::set<std::string>& taken) {
  std::vector<std::string> rest;
  std::copy_if(paths.begin(), paths.end(), std::back_inserter(rest),
               [&](const std::string& path) { return !taken.contains(path); });
  return rest;
}

/// Pairs files that all have the same bytes.
void pair_same(Moves same, std::vector<Rename>& renames) {
  std::vector<Rename> named;
  const ByKey to = by_ending(same.added, 1);
  for (const auto& [name, from] : by_ending(same.deleted, 1))
    if (const auto found = to.find(name); found != to.end()) pair_up(from, found->second, named);
  subtract(same, named);
  renames.insert(renames.end(), named.begin(), named.end());
  pair_up(same.deleted, same.added, renames);
}

}  // namespace

namespace {

bool has_file_below(const TouchedFiles& files, const std::string& path) {
  const auto found = files.lower_bound(path + "/");
  return found != files.end() && found->first.starts_with(path + "/");
}

}  // namespace

Moves find_moves(const TouchedFiles& before, const TouchedFiles& after) {
  constexpr unsigned kLink = 0120000;
  Moves moves;
  for (const auto& [path, entry] : before) {
    // git applies no patch with a file "beyond a symbolic link" unless it deletes the link.
    const bool must_go = entry.mode == kLink && has_file_below(after, path);
    if (!after.contains(path) && !must_go) moves.deleted.push_back(path);
  }
  for (const auto& file : after)
    if (!before.contains(file.first)) moves.added.push_back(file.first);
  return moves;
}

std::vector<Rename> exact_renames(const TouchedFiles& before, const TouchedFiles& after,
                                  Moves& moves, const CancelCheck& check_cancel) {
  std::vector<Rename> renames;
  if (moves.deleted.empty() || moves.added.empty()) return renames;
  const ByKey came = by_content(after, moves.added, check_cancel);
  for (const auto& [key, gone] : by_content(before, moves.deleted, check_cancel))
    if (const auto found = came.find(key); found != came.end())
      pair_same({gone, found->second}, renames);
  subtract(moves, renames);
  return renames;
}

std::vector<Rename> likely_renames(const Moves& moves) {
  constexpr int kMostParts = 3;
  constexpr int kLeastOfName = 75;  // git: min_basename_score
  constexpr int kLeastOfPath = 50;  // git: DEFAULT_RENAME_SCORE
  std::vector<Rename> renames;
  Moves rest = moves;
  for (int parts = kMostParts; parts > 0; --parts) {
    std::vector<Rename> found;
    const ByKey came = by_ending(rest.added, parts);
    for (const auto& [ending, gone] : by_ending(rest.deleted, parts)) {
      const auto to = came.find(ending);
      if (to == came.end() || gone.size() != 1 || to->second.size() != 1) continue;
      add_pair(found, gone.front(), to->second.front(), parts == 1 ? kLeastOfName : kLeastOfPath);
    }
    subtract(rest, found);
    renames.insert(renames.end(), found.begin(), found.end());
  }
  return renames;
}

void subtract(Moves& moves, const std::vector<Rename>& renames) {
  std::set<std::string> from;
  std::set<std::string> to;
  for (const Rename& rename : renames) {
    from.insert(rename.from);
    to.insert(rename.to);
  }
  moves.deleted = without(moves.deleted, from);
  moves.added = without(moves.added, to);
}

}  // namespace sortie
