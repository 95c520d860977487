#include "app/confinement/protected_links.h"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/hash.h"
#include "core/files/file_name.h"
#include "core/files/path_below.h"
#include "core/text/pattern.h"
#include "core/text/text.h"
#include "core/workspace/tree.h"
#include "policies/sandbox/view/workspace_search.h"

namespace sortie {
namespace {

/// Globs read folder by folder, to see where below a link one could match. What `**` at a glob's
/// beginning reaches by itself is left out: such a match lies at its own place too.
class GlobSteps {
 public:
  /// For each glob, the number of its parts that a path has matched so far.
  using Places = std::set<std::pair<std::size_t, std::size_t>>;

  /// @throws PatternError
  explicit GlobSteps(const std::vector<std::string>& globs);
  /// @param link  relative
  Places at_link(const std::filesystem::path& link) const;
  Places below(const Places& places, const std::string& name) const;

 private:
  struct Part {
    bool any_folders;  ///< "**"
    Pattern name;
  };

  bool is_anywhere(std::size_t glob, std::size_t at) const;
  void add(std::size_t glob, std::size_t at, Places& places) const;

  std::vector<std::vector<Part>> globs_;
};

}  // namespace

namespace fs = std::filesystem;

GlobSteps::GlobSteps(const std::vector<std::string>& globs) {
  for (const std::string& glob : globs) {
    std::vector<Part> parts;
    for (const auto& part : fs::path(glob))
      if (!part.empty() && part != ".")
        parts.push_back({part == "**", Pattern::word_glob(part.native(), LetterCase::ignored)});
    globs_.push_back(std::move(parts));
  }
}

GlobSteps::Places GlobSteps::at_link(const fs::path& link) const {
  Places places;
  for (std::size_t i = 0; i < globs_.size(); ++i) add(i, 0, places);
  for (const auto& part : link.parent_path()) places = below(places, part.string());
  std::erase_if(places, [&](const auto& at) { return is_anywhere(at.first, at.second); });
  return below(places, link.filename().string());
}

GlobSteps::Places GlobSteps::below(const Places& places, const std::string& name) const {
  Places next;
  for (const auto& [glob, at] : places) {
    const auto& parts = globs_[glob];
    if (at == parts.size()) continue;
    if (parts[at].any_folders)
      add(glob, at, next);
    else if (parts[at].name.matches(name))
      add(glob, at + 1, next);
  }
  return next;
}

bool GlobSteps::is_anywhere(std::size_t glob, std::size_t at) const {
  return at == 0 && !globs_[glob].empty() && globs_[glob][0].any_folders;
}

void GlobSteps::add(std::size_t glob, std::size_t at, Places& places) const {
  places.insert({glob, at});
  // "**" may also match no folder.
  if (at < globs_[glob].size() && globs_[glob][at].any_folders) add(glob, at + 1, places);
}

namespace {

constexpr int kMostLinks = 40;  ///< as path_resolution(7)
constexpr int kMostHashed = 20'000;
constexpr int kMostBehindLinks = 20'000;  ///< entries, for globs

/// The globs to match behind links.
struct Wanted {
  const Pattern& globs;
  const GlobSteps& steps;
};

/// Finds everything that a name leads to in one tree.
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
  void match(const fs::path& link, const Wanted& wanted, std::set<std::string>& names) {
    std::vector<std::string> above;
    match_behind(link, wanted.steps.at_link(link), wanted, names, above);
  }
  /// The place where match() gave up; "" if it was complete.
  const std::string& beyond() const { return beyond_; }

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
    const Listing& folder = listing(at);
    for (auto [it, end] = folder.by_name.equal_range(ascii_lower(part)); it != end; ++it) {
      const FolderEntry& entry = folder.entries[it->second];
      const std::string path = child_path(at, entry.name);
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
    for (const fs::path& place : places_)
      if (const auto below = path_below(target, place)) return *below;
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

  /// A folder's entries, and their places by name, whatever its letter case.
  struct Listing {
    std::vector<FolderEntry> entries{};
    std::multimap<std::string, std::size_t> by_name{};
  };

  /// A folder that can't be listed counts as empty: a run can't list it either.
  const Listing& listing(const std::string& at) {
    const auto [known, is_new] = listings_.try_emplace(at);
    Listing& folder = known->second;
    if (!is_new) return folder;
    try {
      folder.entries = files_.list(at.empty() ? "." : at);
    } catch (const ToolError&) {
      return folder;
    }
    for (std::size_t i = 0; i < folder.entries.size(); ++i)
      folder.by_name.emplace(ascii_lower(folder.entries[i].name), i);
    return folder;
  }

  const std::vector<FolderEntry>& entries(const std::string& at) { return listing(at).entries; }

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
          all += entry.name + '\0' + content(child_path(path, entry.name), depth + 1) + '\n';
      return "folder " + sha256_hex(all);
    } catch (const ToolError&) {
      return "unreadable";
    }
  }

  /// @param above  the folders, without links, that the way went through: none is entered again
  void match_behind(const fs::path& link, const GlobSteps::Places& places, const Wanted& wanted,
                    std::set<std::string>& names, std::vector<std::string>& above) {
    if (wanted.globs.matches(link.native())) {
      names.insert(link.string());
      return;
    }
    if (places.empty() || above.size() > kMostLinks) return;
    of_folders(link);
    for (const std::string& end : std::exchange(ends_, {}))
      match_in(end, link, places, wanted, names, above);
  }

  void match_in(const std::string& folder, const fs::path& shown, const GlobSteps::Places& places,
                const Wanted& wanted, std::set<std::string>& names,
                std::vector<std::string>& above) {
    if (std::find(above.begin(), above.end(), folder) != above.end()) return;
    above.push_back(folder);
    for (const FolderEntry& entry : entries(folder)) {
      const fs::path name = shown / entry.name;
      if (++behind_ > kMostBehindLinks) {
        if (beyond_.empty()) beyond_ = name.string();
        break;
      }
      const auto below = wanted.steps.below(places, entry.name);
      if (entry.kind == FileStatus::Kind::symlink)
        match_behind(name, below, wanted, names, above);
      else if (wanted.globs.matches(name.native()))
        names.insert(name.string());
      else if (entry.kind == FileStatus::Kind::folder && !below.empty() &&
               !is_passed_over(entry.name))
        match_in(child_path(folder, entry.name), name, below, wanted, names, above);
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
  std::map<std::string, Listing> listings_;
  std::set<std::string> found_;
  std::set<std::string> ends_;  ///< where the ways of of() end
  bool hashes_ = true;          ///< else of() finds ends alone
  int hashed_ = 0;
  int behind_ = 0;
  std::string beyond_;
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
    const GlobSteps steps(globs_);
    for (const fs::path& link : links) leads.match(link, {globs, steps}, matches);
  }
  LinkLeads found{.ways = {}, .beyond = leads.beyond()};
  for (const fs::path& name : names_) found.ways[name.string()] = leads.of(name);
  for (const std::string& name : matches)
    if (auto ways = leads.of(name); !ways.empty()) found.ways[name] = std::move(ways);
  return found;
}

std::string beyond_text(const LinkLeads& leads) {
  return "what globs of paths.protect match behind links is checked only up to " +
         path_text(leads.beyond) + ": more than 20,000 entries lie there";
}

std::vector<std::string> names_led_elsewhere(const LinkLeads& start, const LinkLeads& now) {
  std::set<std::string> names;
  for (const LinkLeads* leads : {&start, &now})
    for (const auto& [name, ways] : leads->ways) names.insert(name);
  const bool complete = start.beyond.empty() && now.beyond.empty();
  std::vector<std::string> changed;
  for (const std::string& name : names) {
    const auto before = start.ways.find(name);
    const auto after = now.ways.find(name);
    const bool both = before != start.ways.end() && after != now.ways.end();
    // What one of two searches has missed was not made.
    if (both ? before->second != after->second : complete) changed.push_back(name);
  }
  // If only the later search gave up, what it did not reach may have changed.
  if (start.beyond.empty() && !now.beyond.empty()) changed.push_back(now.beyond);
  return changed;
}

}  // namespace sortie
