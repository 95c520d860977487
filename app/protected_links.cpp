#include "app/protected_links.h"

#include <strings.h>

#include <deque>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/workspace/tree.h"
#include "policies/sandbox/workspace_search.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  ///< as path_resolution(7)
constexpr int kMostHashed = 20'000;

/// Everything that a name leads to in one tree.
class Leads {
 public:
  Leads(const Files& files, const std::vector<fs::path>& places) : files_(files), places_(places) {}

  /// Each way that holds a link: its texts and the content at its end.
  std::set<std::string> of(const fs::path& name) {
    found_.clear();
    follow("", Way(name.begin(), name.end()), "", 0);
    return found_;
  }

 private:
  using Way = std::deque<fs::path>;

  /// @param at     a folder without links, relative to the root; "" for the root
  /// @param trail  the links so far; "" for none
  void follow(const std::string& at, Way rest, const std::string& trail, int links) {
    if (rest.empty()) {
      if (!trail.empty()) found_.insert(trail + content(at, 0));
      return;
    }
    const std::string part = rest.front().string();
    rest.pop_front();
    if (part.empty() || part == ".") return follow(at, rest, trail, links);
    if (part == "..") {
      if (at.empty()) return leave(trail);
      return follow(fs::path(at).parent_path().string(), rest, trail, links);
    }
    for (const FolderEntry& entry : entries(at)) {
      if (::strcasecmp(entry.name.c_str(), part.c_str()) != 0) continue;
      const std::string path = joined(at, entry.name);
      if (entry.kind == FileStatus::Kind::symlink)
        follow_link(at, path, rest, trail, links + 1);
      else if (rest.empty() || entry.kind == FileStatus::Kind::folder)
        follow(path, rest, trail, links);
    }
  }

  void follow_link(const std::string& at, const std::string& path, Way rest,
                   const std::string& trail, int links) {
    if (links > kMostLinks) return;
    fs::path target = link_text(path);
    std::string from = at;
    std::string text = target.string();
    if (target.is_absolute()) {
      target = below_a_place(target.lexically_normal());
      if (target.empty()) return leave(trail + path + " -> " + text);
      text = "/" + target.string();  // the tree is not at the same place each time
      from.clear();
    }
    rest.insert(rest.begin(), target.begin(), target.end());
    follow(from, rest, trail + path + " -> " + text + '\n', links);
  }

  /// "" where it lies outside.
  fs::path below_a_place(const fs::path& target) const {
    for (const fs::path& place : places_) {
      const fs::path below = target.lexically_relative(place);
      if (!below.empty() && *below.begin() != "..") return below;
    }
    return {};
  }

  void leave(const std::string& trail) { found_.insert(trail + "\noutside"); }

  std::string link_text(const std::string& path) const {
    try {
      return files_.read_link(path);
    } catch (const ToolError&) {
      return "";
    }
  }

  const std::vector<FolderEntry>& entries(const std::string& at) {
    const auto known = entries_.find(at);
    if (known != entries_.end()) return known->second;
    std::vector<FolderEntry> list;
    try {
      list = files_.list(at.empty() ? "." : at);
    } catch (const ToolError&) {
      // What can't be listed leads nowhere for a run either.
    }
    return entries_[at] = std::move(list);
  }

  std::string content(const std::string& path, int depth) {
    try {
      const auto status = files_.status(path.empty() ? "." : path);
      if (!status) return "gone";
      if (status->kind == FileStatus::Kind::symlink) return "link " + files_.read_link(path);
      if (status->kind == FileStatus::Kind::file)
        return "file " + sha256_hex(files_.read(path).value_or(""));
      if (status->kind != FileStatus::Kind::folder || depth >= kDeepestFolder) return "other";
      std::string all;
      for (const FolderEntry& entry : entries(path))
        if (++hashed_ <= kMostHashed)
          all += entry.name + '\0' + content(joined(path, entry.name), depth + 1) + '\n';
      return "folder " + sha256_hex(all);
    } catch (const ToolError&) {
      return "unreadable";
    }
  }

  const Files& files_;
  const std::vector<fs::path>& places_;
  std::map<std::string, std::vector<FolderEntry>> entries_;
  std::set<std::string> found_;
  int hashed_ = 0;
};

}  // namespace

std::vector<std::string> names_led_elsewhere(const Files& start, const Files& now,
                                             const std::vector<fs::path>& places,
                                             const std::vector<std::string>& names) {
  Leads before(start, places);
  Leads after(now, places);
  std::vector<std::string> changed;
  for (const std::string& name : names) {
    const fs::path path = fs::path(name).lexically_normal();
    if (has_wildcard(name) || path.is_absolute() || path.empty() || *path.begin() == "..") continue;
    if (before.of(path) != after.of(path)) changed.push_back(name);
  }
  return changed;
}

}  // namespace sortie
