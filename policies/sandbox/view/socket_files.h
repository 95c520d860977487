#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/fd.h"
#include "policies/sandbox/layers/mounts.h"

namespace sortie {

/// Sockets in a folder of the machine, whose services would answer any command that sees them: a
/// read-only mount keeps nobody from connecting.
struct SocketFiles {
  std::vector<std::filesystem::path> paths;
  bool is_cut = false;  ///< there are more entries than were to be looked at
  std::string problem;  ///< why the folder could not be looked through; "" if it could, or is none
};

/// Looks through the folder and all below it; follows no link.
SocketFiles find_sockets(const std::filesystem::path& folder, int most_entries);

/// Whether show_without_sockets() would show all of a folder: nothing is mounted below it.
bool can_show_without_sockets(const std::filesystem::path& folder);

/// Mounts an overlay of the folder over itself, read-only. Its files are the folder's, but a socket
/// in it is another inode than the one that a service is bound to, so that connect(2) is refused.
/// @param target  what is there already, in the calling process's mount namespace
/// @param empty   an empty folder: an overlay without an upper folder needs two lower ones
/// @return  "" or why it can't be mounted
std::string show_without_sockets(const std::filesystem::path& target, const Fd& empty,
                                 UserNamespace user);

}  // namespace sortie
