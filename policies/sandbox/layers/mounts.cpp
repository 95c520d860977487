#include "policies/sandbox/layers/mounts.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/base/error.h"

namespace sortie {
namespace {

Error mount_error(const char* step, const std::filesystem::path& path) {
  return system_error(std::string(step) + ' ' + path.string(), ExitCode::environment);
}

Fd clone_tree(const std::filesystem::path& path) {
  Fd tree(::open_tree(AT_FDCWD, path.c_str(),
                      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | static_cast<unsigned>(AT_RECURSIVE)));
  if (!tree) throw mount_error("open_tree", path);
  return tree;
}

Fd restrict_tree(Fd tree, const std::filesystem::path& path, Access access) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
  if (access == Access::read_only) attributes.attr_set |= MOUNT_ATTR_RDONLY;
  if (::mount_setattr(tree.get(), "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                      sizeof attributes) != 0)
    throw mount_error("mount_setattr", path);
  return tree;
}

}  // namespace

Fd copy_tree(const std::filesystem::path& path, Access access) {
  return restrict_tree(clone_tree(path), path, access);
}

Fd copy_tree(const Fd& place, const std::filesystem::path& path, Access access) {
  Fd tree(::open_tree(
      place.get(), "",
      OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | static_cast<unsigned>(AT_RECURSIVE | AT_EMPTY_PATH)));
  if (!tree) throw mount_error("open_tree", path);
  return restrict_tree(std::move(tree), path, access);
}

Fd copy_device(const std::filesystem::path& path) { return clone_tree(path); }

void attach_tree(const Fd& tree, const std::filesystem::path& path) {
  if (::move_mount(tree.get(), "", AT_FDCWD, path.c_str(), MOVE_MOUNT_F_EMPTY_PATH) != 0)
    throw mount_error("move_mount", path);
}

void attach_tree(const Fd& tree, const Fd& place, const std::filesystem::path& path) {
  if (::move_mount(tree.get(), "", place.get(), "",
                   MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH) != 0)
    throw mount_error("move_mount", path);
}

void bind_onto_itself(const std::filesystem::path& path, Access access) {
  attach_tree(copy_tree(path, access), path);
}

void make_mount_read_only(const std::filesystem::path& path) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  if (::mount_setattr(AT_FDCWD, path.c_str(), 0, &attributes, sizeof attributes) != 0)
    throw mount_error("mount_setattr", path);
}

void mount_new(const char* type, const std::filesystem::path& path, const char* options) {
  if (::mount(type, path.c_str(), type, MS_NOSUID | MS_NODEV, options) != 0)
    throw mount_error((std::string("mount ") + type + " at").c_str(), path);
}

Fd make_detached(const char* type, const std::string& options) {
  const auto failed = [type] {
    return system_error(std::string("mount ") + type, ExitCode::environment);
  };
  const Fd context(::fsopen(type, FSOPEN_CLOEXEC));
  if (!context) throw failed();
  const auto set = [&](unsigned command, const char* name, const char* value) {
    if (::fsconfig(context.get(), command, name, value, 0) != 0) throw failed();
  };
  for (std::size_t start = 0; start < options.size();) {
    const std::size_t end = std::min(options.find(',', start), options.size());
    const std::string option = options.substr(start, end - start);
    start = end + 1;
    const std::size_t equals = option.find('=');
    if (equals == option.npos)
      set(FSCONFIG_SET_FLAG, option.c_str(), nullptr);
    else
      set(FSCONFIG_SET_STRING, option.substr(0, equals).c_str(), option.c_str() + equals + 1);
  }
  set(FSCONFIG_CMD_CREATE, nullptr, nullptr);
  Fd mount(::fsmount(context.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV));
  if (!mount) throw failed();
  return mount;
}

void make_folders(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return;
  int cause = errno;
  // Most of them have all of their parents.
  if (cause == ENOENT && path.has_relative_path() && path.parent_path() != path) {
    make_folders(path.parent_path());
    if (::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST) return;
    cause = errno;
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0) return;
  errno = cause;
  throw mount_error("mkdir", path);
}

Fd open_folder(const std::filesystem::path& path) {
  Fd folder(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!folder) throw mount_error("open", path);
  return folder;
}

void mount_terminals(const std::filesystem::path& path) {
  if (::mount("devpts", path.c_str(), "devpts", MS_NOSUID | MS_NOEXEC,
              "newinstance,ptmxmode=0666,mode=0620") != 0)
    throw mount_error("mount devpts at", path);
}

int mount_command_proc(bool read_only) noexcept {
  const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC | (read_only ? MS_RDONLY : 0);
  if (::mount("proc", "/proc", "proc", flags, nullptr) != 0) return errno;
  if (read_only) return 0;
  const int tree =
      ::open_tree(AT_FDCWD, "/proc/sys", OPEN_TREE_CLONE | static_cast<unsigned>(O_CLOEXEC));
  if (tree < 0) return errno;
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  int error = 0;
  if (::mount_setattr(tree, "", AT_EMPTY_PATH, &attributes, sizeof attributes) != 0 ||
      ::move_mount(tree, "", AT_FDCWD, "/proc/sys", MOVE_MOUNT_F_EMPTY_PATH) != 0)
    error = errno;
  ::close(tree);
  return error;
}

int make_tree_read_only(const char* path) noexcept {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  return ::mount_setattr(AT_FDCWD, path, AT_RECURSIVE, &attributes, sizeof attributes) == 0 ? 0
                                                                                            : errno;
}

}  // namespace sortie
