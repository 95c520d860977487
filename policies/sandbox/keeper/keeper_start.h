#pragma once

#include <sys/types.h>

#include <string>

#include "core/base/fd.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// What the keeper's process is given by the one that forks it.
struct KeeperStart {
  SandboxProfile profile;
  Fd socket;
  std::string path_variable;         ///< sortie's own PATH
  unsigned long new_namespaces = 0;  ///< the flags it was cloned with
  uid_t uid = 0;                     ///< its ids before that
  gid_t gid = 0;
  Fd group = {};    ///< the control group that commands are to be in; none: the keeper's own
  Fd network = {};  ///< set by settle(): the commands' own network, where the keeper stays outside
  Fd gate = {};     ///< set by the keeper: takes the commands' connect(2) listeners, or nothing
};

}  // namespace sortie
