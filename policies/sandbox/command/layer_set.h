#pragma once

#include <array>
#include <memory>

#include "core/base/fd.h"
#include "core/process/launcher.h"
#include "policies/sandbox/command/command_start.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// The layers of every kind of commands that a run may have: ordinary ones, and those that a rule
/// lets write or reach the network where the others may not.
class LayerSet {
 public:
  /// @param network  the commands' own network namespace where the keeper is outside of it; outlives
  ///                 the set
  /// @param gate     takes the listeners of commands behind a connect gate; outlives the set
  /// @throws Error  when a layer can't be prepared
  LayerSet(const SandboxProfile& profile, const Fd& network, const Fd& gate);

  /// @throws Error  for an escalation that the run was not prepared for
  const CommandLayers& of(const Command& command) const;

 private:
  /// By the escalations that a kind has: bit 0 writes, bit 1 network.
  std::array<std::unique_ptr<CommandLayers>, 4> kinds_;
};

}  // namespace sortie
