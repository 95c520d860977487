#include "policies/sandbox/view/private_folders.h"

#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>

#include "core/base/error.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

std::uint64_t private_size(const SandboxProfile& profile) {
  std::uint64_t size = profile.limits.disk > 0 ? profile.limits.disk : 10ull << 30;
  // It is memory: never more than the run's limit.
  if (profile.memory_bytes > 0) size = std::min(size, profile.memory_bytes);
  return size;
}

}  // namespace

PrivateFolders::PrivateFolders(const SandboxProfile& profile, const fs::path& ground) {
  const std::string options = "mode=755,size=" + std::to_string(private_size(profile));
  mount_new("tmpfs", ground, options.c_str());
  root_ = open_folder(ground);
  const struct {
    const char* name;
    mode_t mode;
  } folders[] = {{"tmp", 01777}, {"var-tmp", 01777}, {"shm", 01777}, {"home", 0755}};
  for (const auto& folder : folders) {
    make_folders(path() / folder.name);
    ::chmod((path() / folder.name).c_str(), folder.mode);
  }
  if (::chown((path() / "home").c_str(), profile.uid, profile.gid) != 0)
    throw system_error("chown of HOME", ExitCode::environment);
}

void PrivateFolders::attach(const fs::path& folder, const fs::path& target) const {
  attach_tree(copy_tree(path() / folder, Access::read_write), target);
}

std::string ToolchainLayers::mount(const Fd& lower, const fs::path& named, const fs::path& target) {
  const fs::path folder = own_.path() / ("toolchain-" + std::to_string(count_++));
  make_folders(folder / "upper");
  make_folders(folder / "work");
  adopt_attributes(lower, folder / "upper");
  leave_out_credentials(named, folder / "upper");
  const Fd upper = open_folder(folder / "upper");
  const Fd work = open_folder(folder / "work");
  const std::string options = overlay_options(lower, upper, work, user_);
  if (::mount("overlay", target.c_str(), "overlay", MS_NOSUID | MS_NODEV, options.c_str()) == 0)
    return "";
  return errno_text(errno);
}

/// Makes whiteouts, which overlayfs treats as deleted: tools find no such file, while an unreadable
/// one would stop them. Files that can't be left out are masked by paths.hide.
void ToolchainLayers::leave_out_credentials(const fs::path& named, const fs::path& upper) const {
  for (const std::string& hidden : profile_.hide) {
    if (fs::path(hidden).parent_path() != named) continue;
    static_cast<void>(
        ::mknod((upper / fs::path(hidden).filename()).c_str(), S_IFCHR, makedev(0, 0)) == 0);
  }
}

std::string overlay_options(const Fd& lower, const Fd& upper, const Fd& work, UserNamespace user) {
  const auto name = [](const Fd& folder) {
    return "/proc/self/fd/" + std::to_string(folder.get());
  };
  // By descriptor: no path needs escaping, is too long, or shows in /proc/mounts. Renames of
  // folders are refused (EXDEV), so that the upper folder contains only whole files.
  std::string options = "lowerdir=" + name(lower) + ",upperdir=" + name(upper) +
                        ",workdir=" + name(work) + ",redirect_dir=nofollow,metacopy=off,index=off";
  if (user == UserNamespace::own) options += ",userxattr";
  return options;
}

void adopt_attributes(const Fd& from, const fs::path& path) {
  struct stat lower {};
  struct stat upper {};
  if (::fstat(from.get(), &lower) != 0 || ::stat(path.c_str(), &upper) != 0) return;
  // As an ordinary user the owners are equal, or can't be changed.
  if (lower.st_uid != upper.st_uid || lower.st_gid != upper.st_gid)
    static_cast<void>(::chown(path.c_str(), lower.st_uid, lower.st_gid) == 0);
  if ((lower.st_mode & 07777) != (upper.st_mode & 07777))
    ::chmod(path.c_str(), lower.st_mode & 07777);
}

}  // namespace sortie
