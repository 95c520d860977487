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

/// One guarantee of the sandbox, and whether a command in exactly this sandbox proved it.
struct GuaranteeProof {
  Guarantee guarantee = Guarantee::writes;
  bool proved = false;
  std::string detail;        ///< the attempts; for a failure, those that got through
  std::size_t attempts = 0;  ///< their number
};

/// Runs the canary: a command in the run's own sandbox that tries forbidden operations (write
/// outside and on protected paths, see the key, reach a listener of the host, signal or inspect a
/// process of the host, make refused system calls) and required ones (read the workspace's top
/// levels, write inside). Returns one proof for each of the five guarantees; a canary without a
/// report is five failures, not an exception.
/// @param environment  the environment of the run's commands
/// @param secrets      values that must not be found in the command's environment or any /proc;
///                     the canary itself gets only salted fingerprints
/// @param meanwhile    work of this process's own that is done while the canary runs
std::vector<GuaranteeProof> run_canary(Launcher& launcher, const SandboxProfile& profile,
                                       const std::map<std::string, std::string>& environment,
                                       const std::vector<std::string>& secrets,
                                       const std::function<void()>& meanwhile = {});

/// The canary command itself: a launcher calls it in the confined child, in place of exec, when
/// `Command::canary` is set. `environ` must be the command's environment by then, and every
/// descriptor except 0, 1, 2 closed or close-on-exec.
/// @param argv  the command's argv: "canary" and its plan
/// @return exit code; 0 if it wrote its report to stdout, whatever the result
int canary_main(int argc, char** argv);

/// Compares two values without passing either on: only between this program's own processes, with a
/// new salt each time. Not a cryptographic digest, since setting one up would take most of the
/// canary's time.
inline std::string fingerprint(const std::string& salt, std::string_view value) {
  std::string salted = salt;
  salted += value;
  return std::to_string(std::hash<std::string>{}(salted)) + "-" +
         std::to_string(std::hash<std::string>{}(salted + salt));
}

}  // namespace sortie
