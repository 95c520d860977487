#pragma once

#include <string>
#include <vector>

#include "core/base/fd.h"
#include "policies/sandbox/layers/mounts.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// The tree of files that a run's commands see (docs/sandbox.md).
struct View {
  Fd workspace;                           ///< its root, O_PATH
  std::vector<std::string> placeholders;  ///< folders made to cover names that did not exist
  std::vector<std::string> notes;         ///< what could not be covered, and why
  Fd private_root;                        ///< the file system of HOME, /tmp, /var/tmp, /dev/shm
  /// Folders of the machine's under an overlay whose upper folder is in that file system.
  std::vector<std::filesystem::path> toolchains;
  UserNamespace user = UserNamespace::machine;
};

}  // namespace sortie
