#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/launcher.h"
#include "policies/policy.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// One promise of the sandbox, and whether a command in exactly this sandbox proved it.
struct GuaranteeProof {
  Guarantee guarantee = Guarantee::writes;
  bool proved = false;
  std::string detail;  ///< what was tried; for a failure, what got through
};

/// Runs the canary: a command in the run's own sandbox that tries what it must not be able to do
/// (write outside and on protected paths, see the key, reach a listener of the host, signal or
/// inspect a process of the host, make the refused system calls) and what it must (read the
/// workspace's top levels, write inside).
/// @param secrets  values that must not be found in the command's environment or any /proc
std::vector<GuaranteeProof> run_canary(Launcher& launcher, const SandboxProfile& profile,
                                       const std::vector<std::string>& secrets);

/// Body of the canary command itself: the program calls it when started as its own canary.
/// @return exit code
int canary_main(int argc, char** argv);

}  // namespace sortie
