#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "core/base/fd.h"
#include "policies/sandbox/layers/mounts.h"
#include "policies/sandbox/profile.h"
#include "policies/sandbox/view/view.h"

namespace sortie {

/// HOME, /tmp, /var/tmp and /dev/shm of commands that share them: "home", "tmp", "var-tmp" and
/// "shm" of one file system in memory, as large as `limits.disk` or `limits.memory`.
class PrivateFolders {
 public:
  /// Mounts it, empty, at a folder where another mount will cover it.
  /// @throws Error
  PrivateFolders(const SandboxProfile& profile, const std::filesystem::path& ground);

  const Fd& root() const { return root_; }
  Fd take_root() { return std::move(root_); }
  /// A path to it, even if another mount covers it.
  std::filesystem::path path() const { return "/proc/self/fd/" + std::to_string(root_.get()); }
  void attach(const std::filesystem::path& folder, const std::filesystem::path& target) const;

 private:
  Fd root_;
};

/// The upper layers of toolchains, in the private file system, so that they end with it and count
/// as its memory.
class ToolchainLayers {
 public:
  ToolchainLayers(const SandboxProfile& profile, const PrivateFolders& own, UserNamespace user)
      : profile_(profile), own_(own), user_(user) {}

  /// Mounts an overlay with a new upper folder over a folder of the machine.
  /// @param lower   the folder, in the calling process' mount namespace
  /// @param named   its path in the view
  /// @return "" or why it failed
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

/// Gives the upper folder, and so the merged root, the owner and mode of the lower one.
void adopt_attributes(const Fd& lower, const std::filesystem::path& upper);

/// Replaces HOME, /tmp, /var/tmp, /dev/shm and other mounts from the view's private file system
/// (toolchains' layers, folders above mounts in HOME, terminals) by new, empty ones. All other
/// mounts stay, also those below them.
///
/// Call it in a copy of the view's mount namespace that no command uses yet.
/// @throws Error  with the path
PrivateFolders renew_private_folders(const SandboxProfile& profile, const View& view);

}  // namespace sortie
