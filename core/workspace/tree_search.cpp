#include "core/workspace/tree_search.h"

#include <algorithm>
#include <deque>
#include <string_view>

#include "core/files/folder_stream.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string name;
  unsigned char kind;
};

/// A folder to be listed.
struct Waiting {
  std::string path;
  bool in_git;           ///< `.git`, a bare repository, or below one
  bool guarded = false;  ///< protected, or in node_modules: entries below are not checked
};

bool has(const std::vector<Entry>& entries, std::string_view name, unsigned char kind) {
  return std::any_of(entries.begin(), entries.end(),
                     [&](const Entry& entry) { return entry.kind == kind && entry.name == name; });
}

/// Whether it is a repository, as git decides (setup.c, is_git_directory).
bool is_repository(const std::vector<Entry>& entries) {
  return has(entries, "HEAD", DT_REG) && has(entries, "objects", DT_DIR) &&
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

class TreeWalk {
 public:
  explicit TreeWalk(const TreeSearch& search) : search_(search) {}

  TreeFinds run(const fs::path& root) {
    waiting_.push_back({root.string(), root.filename() == ".git"});
    while (!waiting_.empty() && finds_.complete) {
      Waiting folder = std::move(waiting_.front());
      waiting_.pop_front();
      const std::vector<Entry> entries = list(folder.path);
      folder.in_git = folder.in_git || is_repository(entries);
      for (const Entry& entry : entries) look(folder, entry);
    }
    for (auto* found :
         {&finds_.hidden, &finds_.guarded, &finds_.links, &finds_.sockets, &finds_.git_files})
      std::sort(found->begin(), found->end());
    return std::move(finds_);
  }

 private:
  std::vector<Entry> list(const std::string& path) {
    std::vector<Entry> entries;
    FolderStream open{fs::path(path)};
    while (const dirent* entry = open.next()) {
      if (++seen_ > search_.entries) {
        finds_.complete = false;
        break;
      }
      entries.push_back({entry->d_name, open.kind(entry)});
    }
    return entries;
  }

  void look(const Waiting& folder, const Entry& entry) {
    std::string path = folder.path + '/' + entry.name;
    const bool guarded = folder.guarded || entry.name == "node_modules";
    const bool found = !guarded && !folder.in_git && search_.protects && search_.protects(path);
    if (found) finds_.guarded.emplace_back(path);
    if (entry.kind == DT_LNK) {
      if (!guarded && !folder.in_git) finds_.links.emplace_back(std::move(path));
      return;
    }
    if (entry.kind == DT_SOCK) {
      finds_.sockets.emplace_back(std::move(path));
    } else if (folder.in_git) {
      if (entry.kind == DT_DIR && !is_passed_over(entry.name))
        waiting_.push_back({std::move(path), true});
      else if (entry.kind == DT_REG && may_hold_credentials(folder.path, entry.name))
        finds_.git_files.emplace_back(std::move(path));
    } else if (entry.name == ".git") {
      if (entry.kind == DT_DIR) waiting_.push_back({std::move(path), true});
    } else if (search_.hides && search_.hides(path)) {
      finds_.hidden.emplace_back(std::move(path));
    } else if (entry.kind == DT_DIR) {
      waiting_.push_back({std::move(path), false, guarded || found});
    }
  }

  const TreeSearch& search_;
  TreeFinds finds_;
  std::deque<Waiting> waiting_;
  std::size_t seen_ = 0;
};

}  // namespace

TreeFinds search_tree(const fs::path& root, const TreeSearch& search) {
  return TreeWalk(search).run(root);
}

}  // namespace sortie
