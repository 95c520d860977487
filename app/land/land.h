#pragma once

#include <string>

#include "core/base/exit_code.h"

namespace sortie {

/// The flags of `sortie land`.
struct LandOptions {
  std::string run;                ///< the run's folder
  std::string policy = "strict";  ///< file or preset; never the run's own
  std::string folder = ".";       ///< in the repository
  std::string onto;               ///< a branch or commit; "": the work tree
  std::string out;                ///< where its files go; "": the run's folder
  bool three_way = false;
};

/// Checks a finished run, judges its diff by the policy given here, and applies it: to the work tree,
/// or as a new commit. Writes commit-message.txt, change.mbox, pr.json, and review.json where the
/// run's answer has findings. Needs no key, network or model; runs no program.
/// @throws Error  integrity, denied, task_failed, leak: what stands against it; conflict; usage;
///                environment. Then nothing is changed
ExitCode land(const LandOptions& options, bool quiet);

}  // namespace sortie
