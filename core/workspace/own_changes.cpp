#include "core/workspace/own_changes.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/files/path_below.h"
#include "core/git/config/rule_files.h"
#include "core/git/git_content.h"
#include "core/git/git_repository.h"
#include "core/git/git_tree.h"
#include "core/workspace/manifest.h"
#include "core/workspace/tree.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// What git knows of a tree.
struct GitSide {
  FoundRepository found;
  std::string prefix;
  std::map<std::string, TrackedFile> tracked;
  std::set<std::string> staged;
  GitContent content;
  std::string excluded;

  GitSide(FoundRepository repository, const fs::path& root)
      : found(std::move(repository)),
        prefix(prefix_in(found.toplevel, root)),
        content(root),
        excluded(exclude_rules(found)) {
    GitTreeState state = read_git_tree(root, 0);
    for (TrackedFile& file : state.tracked) tracked.emplace(file.path, std::move(file));
    for (const StagedChange& change : state.staged) {
      staged.insert(change.path);
      if (!change.old_path.empty()) staged.insert(change.old_path);
    }
  }
  bool ignores(const std::string& path) const {
    int ignored = 0;
    return rules_are_readable(prefix + path) &&
           git_ignore_path_is_ignored(&ignored, found.handle.get(), (prefix + path).c_str()) == 0 &&
           ignored != 0;
  }
  /// Whether libgit2 comes to an end with all rules on the way to a path.
  bool rules_are_readable(const std::string& path) const {
    const auto readable = [](const std::string& rules) { return readable_rules(rules) == rules; };
    if (!blocking_rule_file(found.toplevel, path, ".gitignore").empty() || !readable(excluded))
      return false;
    fs::path folder = found.toplevel;
    for (const fs::path& part : fs::path(path)) {
      if (!readable(read_rule_file(folder / ".gitignore").value_or(""))) return false;
      folder /= part;
    }
    return true;
  }
};

class OwnWalk {
 public:
  OwnWalk(const fs::path& root, std::int64_t time, const std::vector<fs::path>& apart,
          std::size_t most, const CancelCheck& check_cancel)
      : root_(root),
        time_(time),
        most_(most),
        check_cancel_(check_cancel),
        files_(open_folder(AT_FDCWD, root.native(), root)) {
    for (const fs::path& path : apart)
      if (const auto below = path_below(path, root)) apart_.push_back(*below);
    if (FoundRepository found = find_repository(root); found.handle)
      git_.emplace(std::move(found), root);
  }

  std::vector<std::string> run() {
    folder(open_folder(AT_FDCWD, root_.native(), root_), "", 0);
    if (git_) find_removed();
    std::sort(changes_.begin(), changes_.end());
    return std::move(changes_);
  }

 private:
  void folder(const Fd& open, const std::string& path, int depth) {
    struct stat status {};
    if (!git_ && ::fstat(open.get(), &status) == 0 && stamp_of(status).ctime > time_ &&
        !holds_apart(path))
      changes_.push_back(path + "/");
    for (const NamedStatus& entry : list_folder(open, root_ / path)) {
      if (changes_.size() >= most_) return;
      if (check_cancel_) check_cancel_();
      const std::string name = child_path(path, entry.name);
      if (in_git_folder(entry.name) || is_below_any(name, apart_)) continue;
      if (S_ISDIR(entry.status.st_mode)) {
        Fd below(::openat(open.get(), entry.name.c_str(),
                          O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (below && depth < kDeepestFolder) folder(below, name, depth + 1);
      } else if (S_ISREG(entry.status.st_mode) || S_ISLNK(entry.status.st_mode)) {
        file(name, entry.status);
      }
    }
  }

  /// Whether a path that does not count is directly in the folder, which that changes.
  bool holds_apart(const std::string& folder) const {
    return std::any_of(apart_.begin(), apart_.end(),
                       [&](const fs::path& path) { return path.parent_path().native() == folder; });
  }

  void file(const std::string& path, const struct stat& status) {
    if (git_ && git_->tracked.count(path) != 0) seen_.insert(path);
    if (stamp_of(status).ctime <= time_) return;
    if (git_ &&
        (is_as_in_head(path, status) || (git_->tracked.count(path) == 0 && git_->ignores(path))))
      return;
    changes_.push_back(path);
  }

  bool is_as_in_head(const std::string& path, const struct stat& status) const {
    const auto tracked = git_->tracked.find(path);
    if (tracked == git_->tracked.end() || git_->staged.count(path) != 0) return false;
    const unsigned mode = S_ISLNK(status.st_mode)           ? 0120000
                          : (status.st_mode & S_IXUSR) != 0 ? 0100755
                                                            : 0100644;
    if (mode != tracked->second.mode) return false;
    if (is_as_in_index(tracked->second, stamp_of(status))) return true;
    if (S_ISLNK(status.st_mode))
      return GitContent::is_blob(tracked->second, files_.read_link(path));
    const auto content = files_.read(path);
    return content && git_->content.compare(tracked->second, *content) == GitContent::Verdict::same;
  }

  /// Whether git too would take the file for unchanged without reading it.
  static bool is_as_in_index(const TrackedFile& file, const FileStamp& now) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    return file.settled && file.size == static_cast<std::uint32_t>(now.size) && file.size != 0 &&
           file.modified_s * kSecond + file.modified_ns == now.mtime &&
           file.changed_s * kSecond + file.changed_ns == now.ctime;
  }

  void find_removed() {
    for (const auto& [path, file] : git_->tracked) {
      if (changes_.size() >= most_) return;
      if (file.not_looked_at || file.mode == 0160000 || seen_.count(path) != 0) continue;
      struct stat status {};
      if (::lstat((root_ / path).c_str(), &status) == 0) continue;  // a folder in its place
      fs::path above = fs::path(path).parent_path();
      while (!above.empty() && ::lstat((root_ / above).c_str(), &status) != 0)
        above = above.parent_path();
      if (::lstat((root_ / above).c_str(), &status) == 0 && stamp_of(status).ctime > time_)
        changes_.push_back(path);
    }
  }

  const fs::path& root_;
  const std::int64_t time_;
  const std::size_t most_;
  const CancelCheck& check_cancel_;
  const DiskFiles files_;
  std::vector<fs::path> apart_;
  std::optional<GitSide> git_;
  std::set<std::string> seen_;
  std::vector<std::string> changes_;
};

}  // namespace

std::vector<std::string> own_changes_since(const fs::path& root, std::int64_t time,
                                           const std::vector<fs::path>& apart, std::size_t most,
                                           const CancelCheck& check_cancel) {
  return OwnWalk(root, time, apart, most, check_cancel).run();
}

}  // namespace sortie
