#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/fd.h"

/// What went wrong with a file of the workspace, as ToolError: "PATH: cause".
namespace sortie::disk {

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& cause);
[[noreturn]] void fail_errno(const std::filesystem::path& path, int number);
bool is_missing(int number);

}  // namespace sortie::disk

namespace sortie {

/// Opens what is below an open folder, on openat2(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS): no link
/// and no race leads out of it. Holds no descriptor, with errno, where it can't.
/// @param name   relative, "." for the folder itself
/// @param flags  of open(2); O_CLOEXEC is added
Fd open_beneath(int root, const std::string& name, int flags);

/// Reads a file piece by piece until `take` says false. May be called by several threads at once.
/// @return false where there is no such file
/// @throws ToolError  a folder, a special file, no permission
using FileStream = std::function<bool(const std::filesystem::path& path,
                                      const std::function<bool(std::string_view piece)>& take)>;

/// Streams the files below a folder, which stays open as long as this is used.
FileStream stream_below(int root);

}  // namespace sortie
