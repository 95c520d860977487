#include "core/workspace/tree_search.h"

#include <algorithm>
#include <atomic>
#include <future>
#include <iterator>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "core/files/folder_stream.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string name;
  unsigned char kind;
  bool concerns;  ///< may be hidden or protected
};

/// A folder to be listed.
struct Waiting {
  std::string path;
  bool in_git;            ///< `.git`, a bare repository, or below one
  bool guarded = false;   ///< protected, or in node_modules: entries below are not checked
  bool concerned = true;  ///< an entry may be hidden or protected, whatever its name
};

bool has(const std::vector<Entry>& entries, std::string_view name, unsigned char kind) {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const Entry& entry) { return entry.kind == kind && entry.name == name; });
}

constexpr std::string_view kHead = "HEAD";

/// Whether it is a repository, as git decides (setup.c, is_git_directory).
bool is_repository(const std::vector<Entry>& entries) {
  return has(entries, kHead, DT_REG) && has(entries, "objects", DT_DIR) &&
         has(entries, "refs", DT_DIR);
}

bool is_passed_over(std::string_view name) {
  return name == "objects" || name == "refs" || name == "logs" || name == "lfs";
}

/// "config", "config.worktree", "config.bak", "credentials", "remotes/origin" …
bool may_hold_credentials(const std::string& folder, std::string_view name) {
  const std::string_view above = std::string_view(folder).substr(folder.rfind('/') + 1);
  return name.starts_with("config") || name.find("credentials") != std::string_view::npos ||
         above == "remotes" || above == "branches";
}

/// What one folder holds.
struct Listed {
  TreeFinds finds{};
  std::vector<Waiting> below{};
  std::size_t entries = 0;
};

/// Lists single folders; several threads may do so.
class FolderLook {
 public:
  explicit FolderLook(const TreeSearch& search) : search_(search) {}

  /// @param most  entries; one more is the last that is listed
  Listed list(Waiting folder, std::size_t most) const {
    Listed listed;
    std::vector<Entry> entries = entries_of(folder, most, listed.entries);
    if (!folder.in_git && is_repository(entries)) {
      folder.in_git = true;
      if (!folder.concerned)
        entries = entries_of(folder, most, listed.entries);  // else all are there
    }
    for (const Entry& entry : entries) look(folder, entry, listed);
    return listed;
  }

 private:
  /// Those that something may be found of, or by.
  /// @param seen  set to the number of all entries
  std::vector<Entry> entries_of(const Waiting& folder, std::size_t most, std::size_t& seen) const {
    std::vector<Entry> entries;
    FolderStream open{fs::path(folder.path)};
    seen = 0;
    while (const dirent* entry = open.next()) {
      const std::string_view name = entry->d_name;
      const unsigned char kind = open.kind(entry);
      const bool concerns = folder.concerned || search_.concerns(name);
      // Nearly all that a tree holds is neither.
      if (concerns || kind != DT_REG || folder.in_git || name == kHead)
        entries.push_back({std::string(name), kind, concerns});
      if (++seen > most) break;
    }
    return entries;
  }

  void look(const Waiting& folder, const Entry& entry, Listed& listed) const {
    const bool concerns = entry.concerns;
    if (!concerns && entry.kind == DT_REG && !folder.in_git) return;
    TreeFinds& finds = listed.finds;
    std::string path = folder.path + '/' + entry.name;
    const bool guarded = folder.guarded || entry.name == "node_modules";
    const bool found =
        !guarded && !folder.in_git && concerns && search_.protects && search_.protects(path);
    if (found) finds.guarded.emplace_back(path);
    if (entry.kind == DT_LNK) {
      if (!guarded && !folder.in_git) finds.links.emplace_back(std::move(path));
      return;
    }
    if (entry.kind == DT_SOCK) {
      finds.sockets.emplace_back(std::move(path));
    } else if (folder.in_git) {
      if (entry.kind == DT_DIR && !is_passed_over(entry.name))
        listed.below.push_back({std::move(path), true, guarded, concerns});
      else if (entry.kind == DT_REG && may_hold_credentials(folder.path, entry.name))
        finds.git_files.emplace_back(std::move(path));
    } else if (entry.name == ".git") {
      if (entry.kind == DT_DIR) listed.below.push_back({std::move(path), true, guarded, concerns});
    } else if (concerns && search_.hides && search_.hides(path)) {
      finds.hidden.emplace_back(std::move(path));
    } else if (entry.kind == DT_DIR) {
      listed.below.push_back({std::move(path), false, guarded || found, concerns});
    }
  }

  const TreeSearch& search_;
};

constexpr std::size_t kMostListers = 4;
constexpr std::size_t kWorthALister = 8;  ///< folders

/// Lists folders in several threads, up to one with which there are more than so many entries, if not
/// some further.
std::vector<Listed> list_all(const FolderLook& look, const std::vector<Waiting>& folders,
                             std::size_t most) {
  std::vector<Listed> listed(folders.size());
  std::atomic<std::size_t> seen = 0;
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    while (seen <= most) {  // else those that were begun hold more than that
      const std::size_t i = next++;
      if (i >= folders.size()) return;
      listed[i] = look.list(folders[i], most);
      seen += listed[i].entries;
    }
  };
  std::size_t threads = std::min(folders.size() / kWorthALister, kMostListers);
  if (threads > 1)
    threads = std::min(threads, static_cast<std::size_t>(std::thread::hardware_concurrency()));
  std::vector<std::future<void>> others;
  try {
    while (others.size() + 1 < threads) others.push_back(std::async(std::launch::async, work));
  } catch (const std::system_error&) {  // no more threads: this one lists them
  }
  work();
  for (auto& other : others) other.get();
  return listed;
}

void append(std::vector<fs::path>& all, std::vector<fs::path>& some) {
  all.insert(all.end(), std::make_move_iterator(some.begin()), std::make_move_iterator(some.end()));
}

/// Adds what a folder holds.
void append(TreeFinds& all, TreeFinds& some) {
  for (const auto list : {&TreeFinds::hidden, &TreeFinds::guarded, &TreeFinds::links,
                          &TreeFinds::sockets, &TreeFinds::git_files})
    append(all.*list, some.*list);
}

}  // namespace

TreeFinds search_tree(const fs::path& root, const TreeSearch& search) {
  TreeFinds finds;
  const FolderLook look(search);
  std::vector<Waiting> level = {
      {root.string(), root.filename() == ".git", false, search.concerns == nullptr}};
  std::size_t seen = 0;
  while (!level.empty() && finds.complete) {
    std::vector<Waiting> below;
    for (Listed& folder : list_all(look, level, search.entries - seen)) {
      append(finds, folder.finds);
      std::move(folder.below.begin(), folder.below.end(), std::back_inserter(below));
      seen += folder.entries;
      finds.complete = seen <= search.entries;
      if (!finds.complete) break;  // what was listed beyond depends on chance
    }
    level = std::move(below);
  }
  for (const auto list : {&TreeFinds::hidden, &TreeFinds::guarded, &TreeFinds::links,
                          &TreeFinds::sockets, &TreeFinds::git_files})
    std::sort((finds.*list).begin(), (finds.*list).end());
  return finds;
}

}  // namespace sortie
