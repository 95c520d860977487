#pragma once

#include <filesystem>
#include <string>

namespace sortie {

/// The kernel's handle (name_to_handle_at(2): type and bytes) of the lower file that an upper one
/// was copied from: the attribute `overlay.origin`, which the kernel sets (trusted. as root, user.
/// elsewhere) and commands can't, as ovl_encode_real_fh() writes it.
struct OverlayOrigin {
  bool copied = false;  ///< there was such a file
  std::string handle;   ///< "" where the attribute does not tell which
};
OverlayOrigin origin_of(const std::filesystem::path& upper);

/// The same handle of a file or folder, its last part not followed.
/// @return "" where it can't be told
std::string handle_of(int folder, const std::string& path);

}  // namespace sortie
