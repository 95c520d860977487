#include "policies/sandbox/view/tree_names.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>

#include <optional>
#include <string_view>
#include <utility>

#include "core/files/folder_stream.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

/// More than the ticks of a server's clock, and what it may differ from ours.
constexpr std::int64_t kForeignTickNs = 100'000'000;
/// Of file systems that keep whole seconds (ext4 with inodes of 128 bytes), or every other one.
constexpr std::int64_t kWholeSecondsNs = 2'100'000'000;

std::int64_t in_ns(const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; }

/// What this kernel would write as a ctime (clock_getres(2), CLOCK_REALTIME_COARSE): it stands still
/// for a tick, within which a folder can change again without a new ctime.
std::int64_t ctime_now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return in_ns(now);
}

/// The folder's device, if this kernel writes the ctimes there, and not a server.
std::optional<dev_t> device_with_own_ctimes(const fs::path& folder) {
  struct statfs system {};
  struct stat status {};
  if (::statfs(folder.c_str(), &system) != 0 || ::stat(folder.c_str(), &status) != 0)
    return std::nullopt;
  switch (static_cast<std::uint32_t>(system.f_type)) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case TMPFS_MAGIC:
      return status.st_dev;
    default:
      return std::nullopt;
  }
}

constexpr std::size_t kDeepestLevel = 200;
constexpr std::size_t kUpperLevels = 3;
constexpr std::size_t kMostUpper = 4000;

}  // namespace

TreeNames::TreeNames(fs::path root, const std::vector<std::string>& globs, std::size_t most)
    : root_(std::move(root)),
      pattern_(Pattern::path_globs(globs, LetterCase::ignored)),
      most_(most),
      own_ctimes_on_(device_with_own_ctimes(root_)) {
  if (search(kDeepestLevel, most_)) return;
  folders_.clear();
  reach_ = search(kUpperLevels, kMostUpper) ? Reach::upper_levels : Reach::nowhere;
  if (reach_ == Reach::upper_levels) return;
  matches_.clear();
  links_.clear();
}

void TreeNames::list(const fs::path& path, Folder& folder) const {
  FolderStream open(
      Fd(::open((root_ / path).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)));
  while (const dirent* entry = open.next()) {
    const std::string_view name = entry->d_name;
    if (++folder.entries > most_) return;
    const unsigned char kind = open.kind(entry);
    if (kind == DT_LNK) folder.links.emplace_back(name);
    if (pattern_.matches((path / name).native()))
      folder.matches.emplace_back(name);
    else if (kind == DT_DIR && name != ".git" && name != "node_modules")
      folder.folders.emplace_back(name);
  }
}

bool is_settled(const timespec& ctime, std::int64_t now_ns, bool local) {
  const std::int64_t margin = ctime.tv_nsec == 0 ? kWholeSecondsNs : local ? 0 : kForeignTickNs;
  return in_ns(ctime) + margin < now_ns;
}

/// @return  null if there is no folder
const TreeNames::Folder* TreeNames::folder_at(const fs::path& path) {
  const std::int64_t now = ctime_now_ns();  // before the ctime is read
  struct stat status {};
  if (::lstat((root_ / path).c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return nullptr;
  const std::int64_t changed = in_ns(status.st_ctim);
  Folder& known = folders_[path];
  if (known.settled && known.inode == status.st_ino && known.changed_ns == changed) return &known;
  known = Folder{.inode = status.st_ino,
                 .changed_ns = changed,
                 .settled = is_settled(status.st_ctim, now, own_ctimes_on_ == status.st_dev)};
  list(path, known);
  return &known;
}

/// @return  false if there was more: only paths near the root were found
bool TreeNames::search(std::size_t levels, std::size_t most) {
  matches_.clear();
  links_.clear();
  std::size_t seen = 0;
  std::vector<fs::path> level = {""};
  for (std::size_t depth = 0; depth < levels && !level.empty(); ++depth) {
    std::vector<fs::path> next;
    for (const fs::path& path : level) {
      const Folder* folder = folder_at(path);
      if (folder == nullptr) continue;
      for (const auto& name : folder->matches) matches_.insert(path / name);
      for (const auto& name : folder->links) links_.insert(path / name);
      seen += folder->entries;
      if (seen > most) return false;
      for (const auto& name : folder->folders) next.push_back(path / name);
    }
    level = std::move(next);
  }
  return true;
}

void TreeNames::look() {
  if (reach_ == Reach::everywhere)
    search(kDeepestLevel, most_);
  else if (reach_ == Reach::upper_levels)
    search(kUpperLevels, kMostUpper);
}

}  // namespace sortie
