#include "core/workspace/overlay_origin.h"

#include <fcntl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace sortie {

// struct ovl_fb (fs/overlayfs/overlayfs.h): version 0, magic, length of all, flags, type of the
// handle, UUID of the file system, the handle's bytes.
OverlayOrigin origin_of(const std::filesystem::path& upper) {
  constexpr std::size_t kHead = 4 + 1 + 16;
  constexpr char kMagic = '\xfb';
  const std::string full =
      (::geteuid() == 0 ? "trusted.overlay." : "user.overlay.") + std::string("origin");
  std::array<char, 256> value{};
  const ssize_t size = ::lgetxattr(upper.c_str(), full.c_str(), value.data(), value.size());
  if (size < 0) return {errno == ERANGE || errno == EACCES, ""};
  const std::string text(value.data(), static_cast<std::size_t>(size));
  if (text.size() <= kHead || text[0] != 0 || text[1] != kMagic) return {true, ""};
  return {true, text[4] + text.substr(kHead)};
}

std::string handle_of(int folder, const std::string& path) {
  alignas(struct file_handle) std::array<char, sizeof(struct file_handle) + MAX_HANDLE_SZ> room{};
  auto* const handle = reinterpret_cast<struct file_handle*>(room.data());
  handle->handle_bytes = MAX_HANDLE_SZ;
  int mount = 0;
  if (::name_to_handle_at(folder, path.c_str(), handle, &mount, 0) != 0) return "";
  return static_cast<char>(handle->handle_type) +
         std::string(room.data() + sizeof(struct file_handle), handle->handle_bytes);
}

}  // namespace sortie
