#pragma once

#include <sys/prctl.h>

#include <cerrno>

#include "policies/sandbox/layers/layers.h"

namespace sortie::test {

/// Everything that holds without a namespace, in the order of layers.h.
class Confinement {
 public:
  explicit Confinement(const SandboxProfile& profile)
      : profile_(profile), landlock_(profile, {}), seccomp_(profile) {}

  int apply() const {
    if (const int error = apply_resource_limits(profile_)) return error;
    if (const int error = drop_privileges(profile_.uid, profile_.gid)) return error;
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    if (const int error = landlock_.apply()) return error;
    return seccomp_.apply();
  }

 private:
  SandboxProfile profile_;
  LandlockRules landlock_;
  SeccompFilter seccomp_;
};

}  // namespace sortie::test
