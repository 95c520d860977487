#include "core/workspace/own_changes.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/files/path_below.h"
#include "core/git/config/git_place.h"
#include "core/git/config/rule_files.h"
#include "core/git/git_content.h"
#include "core/git/git_repository.h"
#include "core/git/git_tree.h"
#include "core/workspace/file_stamp.h"
#include "core/workspace/tree.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// What git knows of a tree.
struct GitSide {
  FoundRepository found;
  std::string prefix;
  std::vector<TrackedFile> tracked{};
  std::unordered_map<std::string_view, std::size_t> places{};  ///< of the paths in `tracked`
  std::set<std::string> staged{};
  GitContent content;
  std::string excluded;

  GitSide(FoundRepository repository, const fs::path& root)
      : found(std::move(repository)),
        prefix(prefix_in(found.toplevel, root)),
        content(root),
        excluded(exclude_rules(found)) {
    GitTreeState state = read_git_tree(root, 0);
    tracked = std::move(state.tracked);
    places.reserve(tracked.size());
    for (std::size_t i = 0; i < tracked.size(); ++i) places.emplace(tracked[i].path, i);
    for (const StagedChange& change : state.staged) {
      staged.insert(change.path);
      if (!change.old_path.empty()) staged.insert(change.old_path);
    }
  }
  GitSide(const GitSide&) = delete;
  GitSide& operator=(const GitSide&) = delete;

  std::optional<std::size_t> find(std::string_view path) const {
    const auto place = places.find(path);
    return place == places.end() ? std::nullopt : std::optional(place->second);
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
    const GitPlacesOnce once;
    if (FoundRepository found = find_repository(root); found.handle)
      git_.emplace(std::move(found), root);
    if (git_) seen_.resize(git_->tracked.size());
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
    const auto place = git_ ? git_->find(path) : std::nullopt;
    if (place) seen_[*place] = true;
    if (stamp_of(status).ctime <= time_) return;
    if (place ? is_as_in_head(git_->tracked[*place], status) : git_ && git_->ignores(path)) return;
    changes_.push_back(path);
  }

  bool is_as_in_head(const TrackedFile& tracked, const struct stat& status) const {
    const std::string& path = tracked.path;
    if (git_->staged.count(path) != 0) return false;
    const unsigned mode = S_ISLNK(status.st_mode)           ? 0120000
                          : (status.st_mode & S_IXUSR) != 0 ? 0100755
                                                            : 0100644;
    if (mode != tracked.mode) return false;
    if (is_as_in_index(tracked, stamp_of(status))) return true;
    if (S_ISLNK(status.st_mode)) return GitContent::is_blob(tracked, files_.read_link(path));
    const auto content = files_.read(path);
    return content && git_->content.compare(tracked, *content) == GitContent::Verdict::same;
  }

  /// Whether git too would take the file for unchanged without reading it.
  static bool is_as_in_index(const TrackedFile& file, const FileStamp& now) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    return file.settled && file.size == static_cast<std::uint32_t>(now.size) && file.size != 0 &&
           file.modified_s * kSecond + file.modified_ns == now.mtime &&
           file.changed_s * kSecond + file.changed_ns == now.ctime;
  }

  void find_removed() {
    for (std::size_t i = 0; i < git_->tracked.size(); ++i) {
      if (changes_.size() >= most_) return;
      const TrackedFile& file = git_->tracked[i];
      const std::string& path = file.path;
      if (file.not_looked_at || file.mode == 0160000 || seen_[i]) continue;
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
  std::vector<bool> seen_;  ///< of the tracked files, which are there
  std::vector<std::string> changes_;
};

}  // namespace

std::vector<std::string> own_changes_since(const fs::path& root, std::int64_t time,
                                           const std::vector<fs::path>& apart, std::size_t most,
                                           const CancelCheck& check_cancel) {
  return OwnWalk(root, time, apart, most, check_cancel).run();
}

}  // namespace sortie
