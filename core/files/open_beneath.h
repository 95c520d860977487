#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/base/fd.h"

namespace sortie {

/// A path that leads out of the workspace, by "..", as an absolute path or through a link. It is
/// answered as any mistake, and recorded as a denial.
class LeadsOutside : public ToolError {
 public:
  LeadsOutside(std::filesystem::path path, const std::string& what)
      : ToolError(what), path_(std::move(path)) {}
  /// Absolute, or relative to the workspace.
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace sortie

/// Throw a ToolError for a file of the workspace: "PATH: cause".
namespace sortie::disk {

/// @throws LeadsOutside
[[noreturn]] void fail_outside(const std::filesystem::path& path);

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& cause);
[[noreturn]] void fail_errno(const std::filesystem::path& path, int number);
bool is_missing(int number);

}  // namespace sortie::disk

namespace sortie {

/// Opens a path below an open folder with openat2(RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS): no link
/// and no race leads out of it. No descriptor, with errno set, on failure.
/// @param name   relative, "." for the folder itself
/// @param flags  as for open(2); O_CLOEXEC is added
Fd open_beneath(int root, const std::string& name, int flags);

/// Reads a file piece by piece until `take` returns false. May be called by several threads at
/// once.
/// @return false if there is no such file
/// @throws ToolError  for a folder, a special file, no permission
using FileStream = std::function<bool(const std::filesystem::path& path,
                                      const std::function<bool(std::string_view piece)>& take)>;

/// Streams the files below a folder, which stays open as long as this is used.
FileStream stream_below(int root);

}  // namespace sortie
