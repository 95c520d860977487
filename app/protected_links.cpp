#include "app/protected_links.h"

#include <strings.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <utility>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/base/pattern.h"
#include "core/workspace/tree.h"
#include "policies/sandbox/workspace_search.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr int kMostLinks = 40;  ///< as path_resolution(7)
constexpr int kMostHashed = 20'000;
constexpr int kMostBehindLinks = 20'000;  ///< entries, for globs

/// Everything that a name leads to in one tree.
class Leads {
 public:
  Leads(const Files& files, const std::vector<fs::path>& places) : files_(files), places_(places) {}

  /// Each way that holds a link: its texts and the content at its end.
  std::set<std::string> of(const fs::path& name) {
    found_.clear();
    ends_.clear();
    follow("", Way(name.begin(), name.end()), "", 0);
    return found_;
  }

  /// The names that match, behind a link to a folder and the link itself.
  void match(const fs::path& link, const Pattern& globs, std::set<std::string>& names) {
    std::vector<std::string> above;
    match_behind(link, globs, names, above);
  }
  bool complete() const { return behind_ <= kMostBehindLinks; }

 private:
  using Way = std::deque<fs::path>;

  /// @param at     a folder without links, relative to the root; "" for the root
  /// @param trail  the links so far; "" for none
  void follow(const std::string& at, Way rest, const std::string& trail, int links) {
    if (rest.empty()) {
      if (trail.empty()) return;
      if (hashes_) found_.insert(trail + content(at, 0));
      ends_.insert(at);
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

  /// @param above  the folders, without links, that the way went through: none is entered again
  void match_behind(const fs::path& link, const Pattern& globs, std::set<std::string>& names,
                    std::vector<std::string>& above) {
    if (globs.matches(link.native())) {
      names.insert(link.string());
      return;
    }
    if (above.size() > kMostLinks) return;
    of_folders(link);
    for (const std::string& end : std::exchange(ends_, {}))
      match_in(end, link, globs, names, above);
  }

  void match_in(const std::string& folder, const fs::path& shown, const Pattern& globs,
                std::set<std::string>& names, std::vector<std::string>& above) {
    if (std::find(above.begin(), above.end(), folder) != above.end()) return;
    above.push_back(folder);
    for (const FolderEntry& entry : entries(folder)) {
      if (++behind_ > kMostBehindLinks) break;
      const fs::path name = shown / entry.name;
      if (entry.kind == FileStatus::Kind::symlink)
        match_behind(name, globs, names, above);
      else if (globs.matches(name.native()))
        names.insert(name.string());
      else if (entry.kind == FileStatus::Kind::folder && !is_passed_over(entry.name))
        match_in(joined(folder, entry.name), name, globs, names, above);
    }
    above.pop_back();
  }

  /// As in the search for globs elsewhere.
  static bool is_passed_over(const std::string& name) {
    return name == ".git" || name == "node_modules";
  }

  /// Sets ends_ to the folders that a link leads to.
  void of_folders(const fs::path& link) {
    hashes_ = false;
    of(link);
    hashes_ = true;
    std::erase_if(ends_, [&](const std::string& end) {
      try {
        const auto status = files_.status(end.empty() ? "." : end);
        return !status || status->kind != FileStatus::Kind::folder;
      } catch (const ToolError&) {
        return true;
      }
    });
  }

  const Files& files_;
  const std::vector<fs::path>& places_;
  std::map<std::string, std::vector<FolderEntry>> entries_;
  std::set<std::string> found_;
  std::set<std::string> ends_;  ///< where the ways of of() end
  bool hashes_ = true;          ///< else of() finds ends alone
  int hashed_ = 0;
  int behind_ = 0;
};

}  // namespace

ProtectedLinks::ProtectedLinks(std::vector<fs::path> places,
                               const std::vector<std::string>& protect)
    : places_(std::move(places)) {
  for (const std::string& entry : protect) {
    const fs::path path = fs::path(entry).lexically_normal();
    if (has_wildcard(entry))
      globs_.push_back(entry);
    else if (!path.is_absolute() && !path.empty() && *path.begin() != "..")
      names_.push_back(path);
  }
}

LinkLeads ProtectedLinks::look(const Files& tree, const std::set<fs::path>& links) const {
  Leads leads(tree, places_);
  std::set<std::string> matches;
  if (!globs_.empty()) {
    const Pattern globs = Pattern::path_globs(globs_, LetterCase::ignored);
    for (const fs::path& link : links) leads.match(link, globs, matches);
  }
  LinkLeads found{.ways = {}, .complete = leads.complete()};
  for (const fs::path& name : names_) found.ways[name.string()] = leads.of(name);
  for (const std::string& name : matches)
    if (auto ways = leads.of(name); !ways.empty()) found.ways[name] = std::move(ways);
  return found;
}

std::vector<std::string> names_led_elsewhere(const LinkLeads& start, const LinkLeads& now) {
  std::set<std::string> names;
  for (const LinkLeads* leads : {&start, &now})
    for (const auto& [name, ways] : leads->ways) names.insert(name);
  const bool complete = start.complete && now.complete;
  std::vector<std::string> changed;
  for (const std::string& name : names) {
    const auto before = start.ways.find(name);
    const auto after = now.ways.find(name);
    const bool both = before != start.ways.end() && after != now.ways.end();
    // What one of two searches has missed was not made.
    if (both ? before->second != after->second : complete) changed.push_back(name);
  }
  return changed;
}

}  // namespace sortie
