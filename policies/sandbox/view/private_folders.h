#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "core/base/fd.h"
#include "policies/sandbox/layers/mounts.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// HOME, /tmp, /var/tmp and /dev/shm of commands that share them: "home", "tmp", "var-tmp" and
/// "shm" of one file system in memory, as large as `limits.disk` or `limits.memory`.
class PrivateFolders {
 public:
  /// Mounts it, empty, at a folder where another mount is to cover it.
  /// @throws Error
  PrivateFolders(const SandboxProfile& profile, const std::filesystem::path& ground);

  const Fd& root() const { return root_; }
  Fd take_root() { return std::move(root_); }
  /// Reaches it although another mount covers it.
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(root_.get()); }
  void attach(const std::filesystem::path& folder, const std::filesystem::path& target) const;

 private:
  Fd root_;
};

/// The upper layers of toolchains: of the private file system, so that they end with it and count
/// as what it keeps in memory.
class ToolchainLayers {
 public:
  ToolchainLayers(const SandboxProfile& profile, const PrivateFolders& own, UserNamespace user)
      : profile_(profile), own_(own), user_(user) {}

  /// Mounts an overlay whose upper folder is new over a folder of the machine's.
  /// @param lower   the folder, in the calling process' mount namespace
  /// @param named   its path in the view
  /// @return "" or why there can be none
  std::string mount(const Fd& lower, const std::filesystem::path& named,
                    const std::filesystem::path& target);

 private:
  void leave_out_credentials(const std::filesystem::path& named,
                             const std::filesystem::path& upper) const;

  const SandboxProfile& profile_;
  const PrivateFolders& own_;
  UserNamespace user_;
  int count_ = 0;
};

/// The options of an overlay of these folders.
std::string overlay_options(const Fd& lower, const Fd& upper, const Fd& work, UserNamespace user);

/// The merged root has the owner and mode of the upper folder: gives it those of the lower one.
void adopt_attributes(const Fd& lower, const std::filesystem::path& upper);

}  // namespace sortie
