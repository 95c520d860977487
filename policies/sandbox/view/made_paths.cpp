#include "policies/sandbox/view/made_paths.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/error.h"
#include "core/files/file_name.h"
#include "core/files/folder_stream.h"
#include "policies/sandbox/view/workspace_search.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

constexpr int kDeepestFolder = 200;  ///< each level of a removal holds a descriptor

/// A path that was removed and exists again is being made repeatedly.
constexpr int kMostRounds = 3;

/// How overlayfs marks in an upper folder what was deleted.
bool is_whiteout(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISCHR(status.st_mode) && status.st_rdev == 0;
}

bool stands(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

Fd open_child(int folder, const std::string& name) {
  return Fd(::openat(folder, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

/// By its descriptor: the name may be a link by now, which chmod(2) would follow.
void open_up(int folder, const std::string& name) {
  const Fd child = open_child(folder, name);
  if (child) ::chmod(("/proc/self/fd/" + std::to_string(child.get())).c_str(), 0700);
}

/// @return 0 or the errno
int remove_entry(int folder, const std::string& name, int depth) {
  if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return 0;
  if (errno != EISDIR && errno != EPERM) return errno;
  if (depth > kDeepestFolder) return ELOOP;
  open_up(folder, name);
  Fd child(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!child) return errno;
  std::vector<std::string> names;
  {  // closed before its content is removed: a level keeps one descriptor
    FolderStream open(Fd(::fcntl(child.get(), F_DUPFD_CLOEXEC, 3)));
    while (const dirent* entry = open.next()) names.emplace_back(entry->d_name);
  }
  int problem = 0;
  for (const std::string& below : names) {
    if (const int error = remove_entry(child.get(), below, depth + 1)) problem = error;
  }
  if (::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return 0;
  return problem != 0 ? problem : errno;
}

/// Folder by folder, so that no link that a command makes meanwhile leads elsewhere.
int remove_path(const Fd& root, const fs::path& path) {
  Fd folder = open_child(root.get(), ".");
  for (const auto& part : path.parent_path()) {
    if (folder) folder = open_child(folder.get(), part.string());
  }
  if (!folder) return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? 0 : errno;
  return remove_entry(folder.get(), path.filename().string(), 0);
}

}  // namespace

MadePaths::MadePaths(Fd view, const SandboxProfile& profile) : view_(std::move(view)) {
  const MountPlan& plan = profile.mount;
  const bool overlay = plan.kind == MountPlan::Kind::overlay;
  if (overlay) start_ = plan.workspace;
  searched_ = overlay ? plan.upper : plan.source.empty() ? plan.workspace : plan.source;
  std::vector<std::string> globs;
  for (const std::string& entry : profile.protect) {
    if (has_wildcard(entry)) {
      globs.push_back(entry);
    } else if (is_plain_path(entry)) {
      names_.emplace_back(entry);
    } else if (fs::path name = fs::path(entry).lexically_normal();
               name.is_relative() && *name.begin() != ".." && name != ".") {
      names_.push_back(name.has_filename() ? name : name.parent_path());
    }
  }
  matching_.emplace(searched_, globs);
  if (overlay) return;
  at_start_ = matching_->matches();
  for (auto& path : search_names(searched_, names_)) at_start_.insert(path);
}

void MadePaths::tell(std::function<void(const std::vector<std::string>&)> told) {
  const std::lock_guard lock(mutex_);
  told_ = std::move(told);
}

void MadePaths::keep_by(std::function<Kept(const fs::path&)> keep) {
  const std::lock_guard lock(mutex_);
  keep_ = std::move(keep);
}

bool MadePaths::was_there(const fs::path& path) const {
  if (!start_.empty()) return stands(start_ / path) || is_whiteout(searched_ / path);
  for (fs::path at = path; !at.empty(); at = at.parent_path())
    if (at_start_.count(at) != 0) return true;
  return false;
}

std::vector<fs::path> MadePaths::find() {
  matching_->look();
  std::set<fs::path> found = matching_->matches();
  for (auto& path : search_names(searched_, names_)) found.insert(path);
  std::vector<fs::path> made;
  for (const auto& path : found)
    if (!was_there(path)) made.push_back(path);
  return made;
}

void MadePaths::undo() {
  const std::lock_guard lock(mutex_);
  std::set<std::string> removed;
  for (int round = 0;; ++round) {
    const auto made = find();
    if (made.empty()) break;
    for (const auto& path : made) {
      if (round == kMostRounds)
        throw Error("the protected path " + path_text(path) +
                        " was removed and is made again and again by a command that still runs",
                    ExitCode::integrity);
      removed.insert(path_text(path));
      if (keep_ && keep_(path) == Kept::moved) continue;
      if (const int error = remove_path(view_, path))
        throw Error("the protected path " + path_text(path) +
                        " was made by a command, and can't be removed: " + errno_text(error),
                    ExitCode::integrity);
    }
  }
  if (removed.empty()) return;
  undone_.insert(removed.begin(), removed.end());
  if (told_) told_({removed.begin(), removed.end()});
}

std::vector<std::string> MadePaths::take() {
  undo();
  const std::lock_guard lock(mutex_);
  const auto taken = std::exchange(undone_, {});
  return {taken.begin(), taken.end()};
}

std::set<fs::path> MadePaths::links() {
  const std::lock_guard lock(mutex_);
  matching_->look();
  return matching_->links();
}

TreeNames::Reach MadePaths::reach() {
  const std::lock_guard lock(mutex_);
  return matching_->reach();
}

}  // namespace sortie
