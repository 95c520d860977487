// Files outside by other names than their own: links, descriptors, /proc, races, exchanges.
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "core/base/fd.h"
#include "tests/policies/sandbox/escape/attempts.h"

namespace sortie::escape {
namespace {

std::string outside(const Ground& ground, const char* name) { return ground.outside + '/' + name; }
std::string inside(const Ground& ground, const char* name) { return ground.workspace + '/' + name; }

int opens(const std::string& path, int flags, mode_t mode = 0600) {
  const Fd file(::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, mode));
  return outcome(file.get());
}

int read_by_proc_root(const Ground& ground) {
  return opens("/proc/self/root" + outside(ground, "treasure"), O_RDONLY);
}

int read_by_proc_thread(const Ground& ground) {
  return opens("/proc/thread-self/root" + outside(ground, "treasure"), O_RDONLY);
}

int read_by_proc_folder(const Ground& ground) {
  if (::chdir(ground.workspace.c_str()) != 0) return errno;
  return opens("/proc/self/cwd/../outside/treasure", O_RDONLY);
}

int read_by_descriptor_of_a_folder(const Ground& ground) {
  const Fd folder(::open(ground.workspace.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) return errno;
  const Fd file(::openat(folder.get(), "../outside/treasure", O_RDONLY | O_CLOEXEC));
  return outcome(file.get());
}

int reopen_a_path_descriptor(const Ground& ground) {
  const Fd place(::open(outside(ground, "treasure").c_str(), O_PATH | O_CLOEXEC));
  if (!place) return errno;
  return opens("/proc/self/fd/" + std::to_string(place.get()), O_RDWR);
}

int read_from_its_folder(const Ground& ground) {
  if (::chdir(ground.outside.c_str()) != 0) return errno;
  return opens("treasure", O_RDONLY);
}

int read_through_links_to_parents(const Ground& ground) {
  const std::string link = inside(ground, "up");
  if (::symlink("..", link.c_str()) != 0) return errno;
  const int error = opens(link + "/outside/treasure", O_RDONLY);
  ::unlink(link.c_str());
  return error;
}

int read_through_proc_link(const Ground& ground) {
  const std::string link = inside(ground, "magic");
  if (::symlink(("/proc/self/root" + ground.outside).c_str(), link.c_str()) != 0) return errno;
  const int error = opens(link + "/treasure", O_RDONLY);
  ::unlink(link.c_str());
  return error;
}

/// A name that is a file when it is looked at and a link when it is opened, or the other way round.
int swap_links(const Ground& ground) {
  const std::string name = inside(ground, "swap");
  const std::string other = inside(ground, "swap-link");
  opens(name, O_CREAT | O_WRONLY);
  if (::symlink(outside(ground, "treasure").c_str(), other.c_str()) != 0) return errno;
  std::atomic<bool> done = false;
  std::thread swapper([&] {
    while (!done) ::renameat2(AT_FDCWD, name.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
  });
  struct stat wanted {};
  ::stat(outside(ground, "treasure").c_str(), &wanted);
  int error = EACCES;
  for (int tries = 0; tries < 20'000 && error != 0; ++tries) {
    const Fd file(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
    char text[8] = {};
    if (file && ::read(file.get(), text, 7) == 7 && std::strcmp(text, "content") == 0) error = 0;
  }
  done = true;
  swapper.join();
  ::unlink(name.c_str());
  ::unlink(other.c_str());
  return error;
}

int list_outside(const Ground& ground) {
  DIR* const folder = ::opendir(ground.outside.c_str());
  if (folder == nullptr) return errno;
  ::closedir(folder);
  return 0;
}

int run_outside(const Ground& ground) {
  return in_own_process([&] {
    const std::string tool = outside(ground, "tool");
    ::execl(tool.c_str(), tool.c_str(), nullptr);
    return errno;
  });
}

int exchange_with_outside(const Ground& ground) {
  const std::string in = inside(ground, "file");
  const std::string out = outside(ground, "spare");
  const auto exchange = [&] {
    return ::renameat2(AT_FDCWD, in.c_str(), AT_FDCWD, out.c_str(), RENAME_EXCHANGE);
  };
  const int error = outcome(exchange());
  if (error == 0) exchange();
  return error;
}

int link_inside_out(const Ground& ground) {
  const std::string to = outside(ground, "linked");
  const int error = outcome(::link(inside(ground, "file").c_str(), to.c_str()));
  ::unlink(to.c_str());
  return error;
}

int link_temporary_outside(const Ground& ground) {
  const Fd file(::open(ground.workspace.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  if (!file) return errno;
  const std::string from = "/proc/self/fd/" + std::to_string(file.get());
  const std::string to = outside(ground, "temporary");
  const int error =
      outcome(::linkat(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW));
  ::unlink(to.c_str());
  return error;
}

int temporary_outside(const Ground& ground) { return opens(ground.outside, O_TMPFILE | O_RDWR); }

int symlink_outside(const Ground& ground) {
  const std::string path = outside(ground, "laid");
  const int error = outcome(::symlink("/etc/passwd", path.c_str()));
  ::unlink(path.c_str());
  return error;
}

int pipe_outside(const Ground& ground) {
  const std::string path = outside(ground, "new-pipe");
  const int error = outcome(::mkfifo(path.c_str(), 0600));
  ::unlink(path.c_str());
  return error;
}

int socket_outside(const Ground& ground) {
  const Fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return errno;
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = outside(ground, "new-socket");
  std::memcpy(address.sun_path, path.c_str(), path.size());
  const int error =
      outcome(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
  ::unlink(path.c_str());
  return error;
}

int write_pipe_outside(const Ground& ground) { return opens(outside(ground, "pipe"), O_RDWR); }
int remove_folder_of_outside(const Ground& ground) {
  const std::string away = ground.outside + "-away";
  const int error = outcome(::rename(ground.outside.c_str(), away.c_str()));
  if (error == 0) ::rename(away.c_str(), ground.outside.c_str());
  return error;
}

/// RENAME_WHITEOUT leaves a device in the place of what was renamed.
int whiteout_by_rename(const Ground& ground) {
  const std::string from = inside(ground, "moved");
  const std::string to = inside(ground, "moved-to");
  opens(from, O_CREAT | O_WRONLY);
  const int error = outcome(
      ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), 1u << 2 /* RENAME_WHITEOUT */));
  ::unlink(from.c_str());
  ::unlink(to.c_str());
  return error;
}

int read_shared_memory(const Ground& ground) { return opens(ground.shared, O_RDONLY); }
int write_shared_memory(const Ground& ground) { return opens(ground.shared, O_RDWR); }
int read_terminal(const Ground& ground) { return opens(ground.terminal, O_RDONLY | O_NOCTTY); }
int write_terminal(const Ground& ground) { return opens(ground.terminal, O_WRONLY | O_NOCTTY); }

int read_shadow(const Ground&) { return opens("/etc/shadow", O_RDONLY); }
int read_group_shadow(const Ground&) { return opens("/etc/gshadow", O_RDONLY); }
int list_security_modules(const Ground&) {
  return opens("/sys/kernel/security", O_RDONLY | O_DIRECTORY);
}
int read_kernel_memory(const Ground&) { return opens("/proc/kcore", O_RDONLY); }
int read_raw_device(const Ground&) {
  for (const char* name : {"/dev/loop0", "/dev/kvm", "/dev/fuse", "/dev/tty0", "/dev/console"}) {
    if (opens(name, O_RDONLY | O_NOCTTY) == 0) return 0;
  }
  return errno;
}

// What follows Landlock has no right for: only a path that is not there can't be named.
int chmod_outside(const Ground& ground) {
  return outcome(::chmod(outside(ground, "treasure").c_str(), 0644));
}

int times_outside(const Ground& ground) {
  return outcome(::utimensat(AT_FDCWD, outside(ground, "treasure").c_str(), nullptr, 0));
}

int attribute_outside(const Ground& ground) {
  const std::string path = outside(ground, "treasure");
  const int error = outcome(::setxattr(path.c_str(), "user.loot", "x", 1, 0));
  ::removexattr(path.c_str(), "user.loot");
  return error;
}

int chown_outside(const Ground& ground) {
  return outcome(::chown(outside(ground, "treasure").c_str(), ::getuid(), ::getgid()));
}

int look_at_outside(const Ground& ground) {
  struct stat status {};
  return outcome(::stat(outside(ground, "treasure").c_str(), &status));
}

int read_link_outside(const Ground& ground) {
  char target[64];
  return outcome(::readlink(outside(ground, "pointer").c_str(), target, sizeof target));
}

int watch_outside(const Ground& ground) {
  const Fd watch(::inotify_init1(IN_CLOEXEC));
  return outcome(::inotify_add_watch(watch.get(), ground.outside.c_str(), IN_ALL_EVENTS));
}

int link_git_in_and_write(const Ground& ground) {
  const std::string link = inside(ground, "config-link");
  if (::link(inside(ground, ".git/config").c_str(), link.c_str()) != 0) return errno;
  const int error = opens(link, O_WRONLY);
  ::unlink(link.c_str());
  return error;
}

int exchange_git(const Ground& ground) {
  const std::string git = inside(ground, ".git");
  const std::string other = inside(ground, "other");
  ::mkdir(other.c_str(), 0700);
  const auto exchange = [&] {
    return ::renameat2(AT_FDCWD, git.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
  };
  const int error = outcome(exchange());
  if (error == 0) exchange();
  ::rmdir(other.c_str());
  return error;
}

int make_hooks(const Ground& ground) {
  const std::string path = inside(ground, ".git/hooks");
  const int error = outcome(::mkdir(path.c_str(), 0700));
  if (error == 0) ::rmdir(path.c_str());
  return error;
}

int chmod_git(const Ground& ground) {
  return outcome(::chmod(inside(ground, ".git/config").c_str(), 0644));
}

}  // namespace

const std::vector<Attempt>& path_attempts() {
  static const std::vector<Attempt> list = {
      {"read_by_proc_root", Control::owner, Scope::always, read_by_proc_root},
      {"read_by_proc_thread", Control::owner, Scope::always, read_by_proc_thread},
      {"read_by_proc_folder", Control::owner, Scope::always, read_by_proc_folder},
      {"read_by_descriptor_of_a_folder", Control::owner, Scope::always,
       read_by_descriptor_of_a_folder},
      {"reopen_a_path_descriptor", Control::owner, Scope::always, reopen_a_path_descriptor},
      {"read_from_its_folder", Control::owner, Scope::always, read_from_its_folder},
      {"read_through_links_to_parents", Control::owner, Scope::always,
       read_through_links_to_parents},
      {"read_through_proc_link", Control::owner, Scope::always, read_through_proc_link},
      {"swap_links", Control::owner, Scope::always, swap_links},
      {"list_outside", Control::owner, Scope::always, list_outside},
      {"run_outside", Control::owner, Scope::always, run_outside},
      {"exchange_with_outside", Control::owner, Scope::always, exchange_with_outside},
      {"link_inside_out", Control::owner, Scope::always, link_inside_out},
      {"link_temporary_outside", Control::owner, Scope::always, link_temporary_outside},
      {"temporary_outside", Control::owner, Scope::always, temporary_outside},
      {"symlink_outside", Control::owner, Scope::always, symlink_outside},
      {"pipe_outside", Control::owner, Scope::always, pipe_outside},
      {"socket_outside", Control::owner, Scope::always, socket_outside},
      {"write_pipe_outside", Control::owner, Scope::always, write_pipe_outside},
      {"remove_folder_of_outside", Control::root, Scope::always, remove_folder_of_outside},
      {"whiteout_by_rename", Control::owner, Scope::always, whiteout_by_rename},
      {"read_shared_memory", Control::owner, Scope::always, read_shared_memory},
      {"write_shared_memory", Control::owner, Scope::always, write_shared_memory},
      {"read_terminal", Control::owner, Scope::always, read_terminal},
      {"write_terminal", Control::owner, Scope::always, write_terminal},
      {"read_shadow", Control::root, Scope::always, read_shadow},
      {"read_group_shadow", Control::root, Scope::always, read_group_shadow},
      {"list_security_modules", Control::root, Scope::always, list_security_modules},
      {"read_kernel_memory", Control::root, Scope::always, read_kernel_memory},
      {"read_raw_device", Control::root, Scope::always, read_raw_device},
      {"chmod_outside", Control::owner, Scope::view, chmod_outside},
      {"times_outside", Control::owner, Scope::view, times_outside},
      {"attribute_outside", Control::owner, Scope::view, attribute_outside},
      {"chown_outside", Control::owner, Scope::view, chown_outside},
      {"look_at_outside", Control::owner, Scope::view, look_at_outside},
      {"read_link_outside", Control::owner, Scope::view, read_link_outside},
      {"watch_outside", Control::owner, Scope::view, watch_outside},
      {"link_git_in_and_write", Control::owner, Scope::view, link_git_in_and_write},
      {"exchange_git", Control::owner, Scope::view, exchange_git},
      {"make_hooks", Control::owner, Scope::view, make_hooks},
      {"chmod_git", Control::owner, Scope::view, chmod_git},
  };
  return list;
}

}  // namespace sortie::escape
