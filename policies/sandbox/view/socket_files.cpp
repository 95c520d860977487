#include "policies/sandbox/view/socket_files.h"

#include <sys/mount.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <system_error>

#include "core/base/error.h"
#include "core/files/path_below.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;

}  // namespace

SocketFiles find_sockets(const fs::path& folder, int most_entries) {
  SocketFiles found;
  std::error_code error;
  int entries = 0;
  const auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator it(folder, options, error), end; !error && it != end;
       it.increment(error)) {
    if (++entries > most_entries) {
      found.is_cut = true;
      return found;
    }
    std::error_code unknown;
    if (!it->is_symlink(unknown) && it->is_socket(unknown)) found.paths.push_back(it->path());
  }
  if (error && error != std::errc::no_such_file_or_directory &&
      error != std::errc::not_a_directory)
    found.problem = error.message();
  return found;
}

bool can_show_without_sockets(const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  // By another name it would be mounted where commands don't look.
  if (error || real != folder.lexically_normal() || !fs::is_directory(real, error)) return false;
  std::ifstream mounts("/proc/self/mountinfo");
  bool any = false;
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string id, parent, device, root, place;
    words >> id >> parent >> device >> root >> place;
    // Escaped as in proc(5); a name with a backslash may be below any folder.
    if (!words || place.find('\\') != std::string::npos) return false;
    any = true;
    if (place != real && is_below(place, real)) return false;
  }
  return any;
}

std::string show_without_sockets(const fs::path& target, const Fd& empty, UserNamespace user) {
  struct statvfs shown {};
  if (::statvfs(target.c_str(), &shown) != 0) return errno_text(errno);
  const Fd lower = open_folder(target);
  std::string options = "lowerdir=/proc/self/fd/" + std::to_string(lower.get()) + ":/proc/self/fd/" +
                        std::to_string(empty.get()) + ",redirect_dir=nofollow,metacopy=off";
  if (user == UserNamespace::own) options += ",userxattr";
  unsigned long flags = MS_NOSUID | MS_NODEV | MS_RDONLY;
  if ((shown.f_flag & ST_NOEXEC) != 0) flags |= MS_NOEXEC;
  if (::mount("overlay", target.c_str(), "overlay", flags, options.c_str()) == 0) return "";
  return errno_text(errno);
}

}  // namespace sortie
