#include "policies/sandbox/command/layer_set.h"

#include "core/base/error.h"

namespace sortie {
namespace {

constexpr unsigned kWrites = 1;
constexpr unsigned kNetwork = 2;

SandboxProfile profile_of(const SandboxProfile& run, unsigned kind) {
  SandboxProfile profile = run;
  if ((kind & kWrites) != 0 && profile.mode == SandboxMode::read_only)
    profile.mode = SandboxMode::workspace_write;
  if ((kind & kNetwork) != 0) profile.network = NetworkMode::full;
  return profile;
}

}  // namespace

LayerSet::LayerSet(const SandboxProfile& profile, const Fd& network, const Fd& gate) {
  const unsigned possible =
      (profile.may_escalate_writes ? kWrites : 0) | (profile.may_escalate_network ? kNetwork : 0);
  for (unsigned kind = 0; kind < kinds_.size(); ++kind) {
    if ((kind & ~possible) != 0) continue;
    kinds_[kind] = std::make_unique<CommandLayers>(profile_of(profile, kind));
    if ((kind & kNetwork) == 0) kinds_[kind]->network = network.get();
    if (has_connect_gate(kinds_[kind]->profile)) kinds_[kind]->gate = gate.get();
  }
}

const CommandLayers& LayerSet::of(const Command& command) const {
  const unsigned kind = (command.writes ? kWrites : 0) | (command.open_network ? kNetwork : 0);
  if (!kinds_[kind])
    throw Error("this run's sandbox was not made for commands with more permissions");
  return *kinds_[kind];
}

}  // namespace sortie
