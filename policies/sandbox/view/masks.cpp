#include "policies/sandbox/view/masks.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <optional>

#include "core/base/error.h"
#include "core/files/files.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

struct Standing {
  bool exists = false;
  bool is_mount = false;
};

Standing look_at(const fs::path& path) {
  struct statx found {};
  if (::statx(AT_FDCWD, path.c_str(), AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_TYPE, &found) !=
      0)
    return {};
  return {.exists = true, .is_mount = (found.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0};
}

/// The kinds of what hides a path, as PathMasks makes them.
constexpr const char* kHiddenFolder = "hidden";
constexpr const char* kHiddenFile = "hidden-file";

/// What masks are made of, once more: the view's own file system for that is mounted nowhere by now, and
/// only what is mounted can be bound. While this exists, it lies over a folder of every view; commands
/// have mounts of their own, and see nothing of it.
class Sources {
 public:
  explicit Sources(const Fd& private_root)
      : first_("/proc/self/fd/" + std::to_string(private_root.get())) {
    attach_tree(make_detached("tmpfs", "mode=755,size=16m"), kPlace);
  }
  Sources(const Sources&) = delete;
  ~Sources() { ::umount2(kPlace, MNT_DETACH); }

  fs::path make(const std::string& name) const {
    const fs::path path = fs::path(kPlace) / name;
    std::error_code error;
    if (fs::exists(path, error)) return path;
    const fs::path first = first_ / name;
    struct stat status {};
    if (::lstat(first.c_str(), &status) != 0)
      throw system_error("look at " + name, ExitCode::environment);
    const mode_t mode = status.st_mode & 07777;
    if (S_ISDIR(status.st_mode)) {
      if (::mkdir(path.c_str(), mode) != 0)
        throw system_error("mkdir " + name, ExitCode::environment);
      return path;
    }
    const std::string text = mode == 0 ? "" : read_file(first);
    const Fd made(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
    if (!made || !write_all(made.get(), text) || ::fchmod(made.get(), mode) != 0)
      throw system_error("make " + name, ExitCode::environment);
    return path;
  }

 private:
  static constexpr const char* kPlace = "/dev/pts";  // no mask is below it
  fs::path first_;
};

/// What can be mounted over a file of that kind in place of the mask's own source.
std::string source_for(const Mask& mask, mode_t mode) {
  if (S_ISDIR(mode)) return mask.source == kHiddenFile ? kHiddenFolder : mask.source;
  return mask.source == kHiddenFolder || mask.source == "empty" ? kHiddenFile : mask.source;
}

constexpr int kMostTries = 500;
constexpr useconds_t kPauseMicroseconds = 1'000;

/// Lays it on the very file that was looked at, so that what takes the name meanwhile is not covered
/// unseen: nothing can be mounted on a file that was removed, and where one was moved, the name is
/// looked at again. What takes a name that is free then is found at the next start or end of a command.
void lay(const Mask& mask, const Fd& private_root, std::optional<Sources>& sources) {
  const Fd place(::open(mask.path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!place) {
    if (errno == ENOENT || errno == ENOTDIR) return;
    throw system_error("open " + mask.path.string(), ExitCode::environment);
  }
  struct stat now {};
  if (::fstat(place.get(), &now) != 0)
    throw system_error("look at " + mask.path.string(), ExitCode::environment);
  if (S_ISLNK(now.st_mode))
    throw Error(
        mask.path.string() +
            " was replaced by a link during the run: it can't be kept from commands any more",
        ExitCode::environment);
  const auto tree = [&] {
    if (mask.source.empty()) return copy_tree(place, mask.path, mask.access);
    if (!sources) sources.emplace(private_root);
    return copy_tree(sources->make(source_for(mask, now.st_mode)), Access::read_only);
  };
  attach_tree(tree(), place, mask.path);
  const Standing after = look_at(mask.path);
  if (after.exists && !after.is_mount)
    throw Error(mask.path.string() + ": another file took its name at every try to hide it",
                ExitCode::environment);
}

}  // namespace

std::vector<Mask> fallen_masks(const std::vector<Mask>& masks) {
  std::vector<Mask> fallen;
  for (const Mask& mask : masks) {
    const Standing now = look_at(mask.path);
    if (now.exists && !now.is_mount) fallen.push_back(mask);
  }
  return fallen;
}

void lay_again(const std::vector<Mask>& masks, const Fd& private_root) {
  std::optional<Sources> sources;
  // Two may lie on one path: each of them is laid, in the order of the start.
  for (const Mask& mask : fallen_masks(masks)) {
    for (int tries = 1;; ++tries) {
      try {
        lay(mask, private_root, sources);
        break;
      } catch (const Error&) {
        // The kernel tells that the mount went before the other file has the name (rename(2)).
        if (tries == kMostTries) throw;
        ::usleep(kPauseMicroseconds);
      }
    }
  }
}

}  // namespace sortie
