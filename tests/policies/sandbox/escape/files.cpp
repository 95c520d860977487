#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>

#include "core/base/fd.h"
#include "tests/policies/sandbox/escape/attempts.h"

namespace sortie::escape {
namespace {

std::string treasure(const Ground& ground) { return ground.outside + "/treasure"; }
std::string inside(const Ground& ground) { return ground.workspace + "/loot"; }

int open_and_close(const std::string& path, int flags, mode_t mode = 0600) {
  const Fd file(::open(path.c_str(), flags | O_CLOEXEC, mode));
  return outcome(file.get());
}

int make_and_remove(const std::string& path, int flags, mode_t mode) {
  const int error = open_and_close(path, flags | O_CREAT | O_EXCL, mode);
  struct stat status {};
  const bool as_asked =
      ::stat(path.c_str(), &status) == 0 && (status.st_mode & 07000) == (mode & 07000);
  ::unlink(path.c_str());
  return error != 0 ? error : as_asked ? 0 : EPERM;
}

int read_outside(const Ground& ground) { return open_and_close(treasure(ground), O_RDONLY); }
int write_outside(const Ground& ground) { return open_and_close(treasure(ground), O_WRONLY); }

int create_outside(const Ground& ground) {
  return make_and_remove(ground.outside + "/new", O_WRONLY, 0600);
}

int truncate_outside(const Ground& ground) {
  return outcome(::truncate(treasure(ground).c_str(), 8));
}

int make_folder_outside(const Ground& ground) {
  const std::string path = ground.outside + "/folder";
  const int error = outcome(::mkdir(path.c_str(), 0700));
  if (error == 0) ::rmdir(path.c_str());
  return error;
}

int remove_outside(const Ground& ground) {
  const int error = outcome(::unlink((ground.outside + "/spare").c_str()));
  if (error == 0) open_and_close(ground.outside + "/spare", O_CREAT | O_WRONLY);
  return error;
}

int rename_outside_in(const Ground& ground) {
  const int error = outcome(::rename(treasure(ground).c_str(), inside(ground).c_str()));
  if (error == 0) ::rename(inside(ground).c_str(), treasure(ground).c_str());
  return error;
}

int rename_inside_out(const Ground& ground) {
  const std::string from = ground.workspace + "/file";
  const std::string to = ground.outside + "/file";
  const int error = outcome(::rename(from.c_str(), to.c_str()));
  if (error == 0) ::rename(to.c_str(), from.c_str());
  return error;
}

int link_outside_in(const Ground& ground) {
  const int error = outcome(::link(treasure(ground).c_str(), inside(ground).c_str()));
  if (error == 0) ::unlink(inside(ground).c_str());
  return error;
}

int write_through_symlink(const Ground& ground) {
  if (::symlink(treasure(ground).c_str(), inside(ground).c_str()) != 0) return errno;
  const int error = open_and_close(inside(ground), O_WRONLY);
  ::unlink(inside(ground).c_str());
  return error;
}

int write_git(const Ground& ground) {
  return open_and_close(ground.workspace + "/.git/config", O_WRONLY);
}

int create_in_git(const Ground& ground) {
  return make_and_remove(ground.workspace + "/.git/hook", O_WRONLY, 0600);
}

int rename_git(const Ground& ground) {
  const std::string git = ground.workspace + "/.git";
  const int error = outcome(::rename(git.c_str(), (git + "-away").c_str()));
  if (error == 0) ::rename((git + "-away").c_str(), git.c_str());
  return error;
}

int chmod_setuid(const Ground& ground) {
  const std::string file = ground.workspace + "/file";
  const int error = outcome(::chmod(file.c_str(), 04755));
  ::chmod(file.c_str(), 0644);
  return error;
}

int fchmodat2_setgid(const Ground& ground) {
  const std::string file = ground.workspace + "/file";
  const int error = outcome(::syscall(452, AT_FDCWD, file.c_str(), 02755, 0));
  ::chmod(file.c_str(), 0644);
  return error;
}

int open_setuid(const Ground& ground) { return make_and_remove(inside(ground), O_WRONLY, 04755); }

int openat2_setuid(const Ground& ground) {
  struct {
    std::uint64_t flags = O_CREAT | O_WRONLY | O_CLOEXEC;
    std::uint64_t mode = 04755;
    std::uint64_t resolve = 0;
  } how;
  const Fd file(
      static_cast<int>(::syscall(SYS_openat2, AT_FDCWD, inside(ground).c_str(), &how, sizeof how)));
  const int error = outcome(file.get());
  ::unlink(inside(ground).c_str());
  return error;
}

int make_node(const Ground& ground, dev_t device) {
  const int error = outcome(::mknod(inside(ground).c_str(), S_IFCHR | 0600, device));
  ::unlink(inside(ground).c_str());
  return error;
}

int make_device(const Ground& ground) { return make_node(ground, makedev(1, 3)); }
/// An overlay's mark for a removed file; the one device that anybody may make.
int make_whiteout(const Ground& ground) { return make_node(ground, makedev(0, 0)); }

int make_setuid_node(const Ground& ground) {
  const int error = outcome(::mknod(inside(ground).c_str(), S_IFREG | 04755, 0));
  ::unlink(inside(ground).c_str());
  return error;
}

int open_disk(const Ground&) {
  for (const char* device : {"/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/mem", "/dev/kmsg"}) {
    if (open_and_close(device, O_RDONLY | O_NONBLOCK) == 0) return 0;
  }
  return errno;
}

int write_proc_sys(const Ground&) {
  return open_and_close("/proc/sys/kernel/core_pattern", O_WRONLY);
}

int write_etc(const Ground&) { return open_and_close("/etc/passwd", O_WRONLY); }

int open_by_handle(const Ground&) {
  alignas(file_handle) unsigned char bytes[sizeof(file_handle) + MAX_HANDLE_SZ] = {};
  auto* const handle = reinterpret_cast<file_handle*>(bytes);
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  // A handle of any file will do: the call itself is what must be refused.
  if (::name_to_handle_at(AT_FDCWD, "/usr", handle, &mount, 0) != 0) return errno;
  const Fd root(::open("/usr", O_RDONLY | O_CLOEXEC));
  const Fd file(::open_by_handle_at(root.get(), handle, O_RDONLY | O_CLOEXEC));
  return outcome(file.get());
}

int use_descriptor(const Ground& ground) { return outcome(::fcntl(ground.descriptor, F_GETFD)); }

}  // namespace

const std::vector<Attempt>& file_attempts() {
  static const std::vector<Attempt> list = {
      {"read_outside", Control::owner, Scope::always, read_outside},
      {"write_outside", Control::owner, Scope::always, write_outside},
      {"create_outside", Control::owner, Scope::always, create_outside},
      {"truncate_outside", Control::owner, Scope::always, truncate_outside},
      {"make_folder_outside", Control::owner, Scope::always, make_folder_outside},
      {"remove_outside", Control::owner, Scope::always, remove_outside},
      {"rename_outside_in", Control::owner, Scope::always, rename_outside_in},
      {"rename_inside_out", Control::owner, Scope::always, rename_inside_out},
      {"link_outside_in", Control::owner, Scope::always, link_outside_in},
      {"write_through_symlink", Control::owner, Scope::always, write_through_symlink},
      {"write_git", Control::owner, Scope::view, write_git},
      {"create_in_git", Control::owner, Scope::view, create_in_git},
      {"rename_git", Control::owner, Scope::view, rename_git},
      {"chmod_setuid", Control::owner, Scope::always, chmod_setuid},
      {"fchmodat2_setgid", Control::owner, Scope::always, fchmodat2_setgid},
      {"open_setuid", Control::owner, Scope::always, open_setuid},
      {"openat2_setuid", Control::owner, Scope::always, openat2_setuid},
      {"make_setuid_node", Control::owner, Scope::always, make_setuid_node},
      {"make_device", Control::root, Scope::always, make_device},
      {"make_whiteout", Control::owner, Scope::always, make_whiteout},
      {"open_disk", Control::root, Scope::always, open_disk},
      {"write_proc_sys", Control::root, Scope::always, write_proc_sys},
      {"write_etc", Control::root, Scope::always, write_etc},
      {"open_by_handle", Control::root, Scope::always, open_by_handle},
      {"use_descriptor", Control::owner, Scope::keeper, use_descriptor},
  };
  return list;
}

}  // namespace sortie::escape
