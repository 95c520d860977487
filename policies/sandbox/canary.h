#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/process/launcher.h"
#include "policies/rules/policy.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// One promise of the sandbox, and whether a command in exactly this sandbox proved it.
struct GuaranteeProof {
  Guarantee guarantee = Guarantee::writes;
  bool proved = false;
  std::string detail;        ///< what was tried; for a failure, what got through
  std::size_t attempts = 0;  ///< that were tried
};

/// Runs the canary: a command in the run's own sandbox that tries what it must not be able to do
/// (write outside and on protected paths, see the key, reach a listener of the host, signal or
/// inspect a process of the host, make the refused system calls) and what it must (read the
/// workspace's top levels, write inside). One proof for each of the five guarantees; a canary that
/// does not report is five failures, not an exception.
/// @param environment  what the run's commands get
/// @param secrets      values that must not be found in the command's environment or any /proc;
///                     the canary itself is given salted fingerprints alone
std::vector<GuaranteeProof> run_canary(Launcher& launcher, const SandboxProfile& profile,
                                       const std::map<std::string, std::string>& environment,
                                       const std::vector<std::string>& secrets);

/// Body of the canary command itself: what a launcher calls in the confined child, in place of
/// exec, when `Command::canary` is set. `environ` must be the command's environment by then, and
/// every descriptor but 0, 1, 2 closed or close-on-exec.
/// @param argv  the command's argv: "canary" and what to try
/// @return exit code; 0 when it wrote its report to stdout, whatever stands in it
int canary_main(int argc, char** argv);

/// Tells whether two values are equal without either being handed over: of use between this
/// program's own processes only, with a salt that is made up for the occasion. No cryptographic
/// digest, since setting one up would take most of the canary's time.
inline std::string fingerprint(const std::string& salt, std::string_view value) {
  std::string salted = salt;
  salted += value;
  return std::to_string(std::hash<std::string>{}(salted)) + "-" +
         std::to_string(std::hash<std::string>{}(salted + salt));
}

}  // namespace sortie
