#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "core/base/fd.h"

namespace sortie {

enum class Access { read_only, read_write };

/// Whether the process is in a user namespace of its own: overlayfs then stores its data in user.*
/// attributes.
enum class UserNamespace { machine, own };

/// A detached copy of the mounts at a path and below (open_tree(2)): always nodev and nosuid, and
/// optionally read-only as a whole.
/// @throws Error  with the path
Fd copy_tree(const std::filesystem::path& path, Access access);
/// The same of what `place` holds open (O_PATH). @param path  for messages
Fd copy_tree(const Fd& place, const std::filesystem::path& path, Access access);
/// A detached copy of a device node, which keeps working as a device.
Fd copy_device(const std::filesystem::path& path);
/// Mounts the copy at a path (move_mount(2)). @throws Error
void attach_tree(const Fd& tree, const std::filesystem::path& path);
/// Mounts the copy on what `place` holds open (O_PATH), whatever has its name by now: where it was moved
/// to; if it was removed, it can't be mounted on. @param path  for messages  @throws Error
void attach_tree(const Fd& tree, const Fd& place, const std::filesystem::path& path);
/// Binds a path onto itself, so that it can be neither renamed nor removed. @throws Error
void bind_onto_itself(const std::filesystem::path& path, Access access);
/// Makes the mount at a path read-only, not those below it. @throws Error
void make_mount_read_only(const std::filesystem::path& path);
/// mount(2) of a file system by name, nosuid and nodev. @throws Error
void mount_new(const char* type, const std::filesystem::path& path, const char* options);
/// A file system that is mounted nowhere yet, nosuid and nodev (fsopen(2), fsmount(2)).
/// @param options  as for mount(2)
/// @throws Error
Fd make_detached(const char* type, const std::string& options);
/// Makes a folder and its parents if they don't exist. @throws Error
void make_folders(const std::filesystem::path& path);
/// A folder without a right to read it (O_PATH). @throws Error
Fd open_folder(const std::filesystem::path& path);
/// Mounts a separate devpts, which shares no terminals with others. @throws Error
void mount_terminals(const std::filesystem::path& path);

/// A new /proc for a command's own PID namespace over the view's. 0 or the errno.
int mount_command_proc(bool read_only) noexcept;
/// Makes a mounted tree read-only in this mount namespace alone. 0 or the errno.
int make_tree_read_only(const char* path) noexcept;

}  // namespace sortie
