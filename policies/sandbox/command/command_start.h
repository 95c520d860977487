#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/process/launcher.h"
#include "policies/sandbox/layers/layers.h"
#include "policies/sandbox/profile.h"

namespace sortie {

/// The layers of one kind of commands, made once by the keeper and applied by each of them.
struct CommandLayers {
  SandboxProfile profile;
  LandlockRules rules;
  LandlockRules read_only_rules;
  SeccompFilter filter;
  int network = -1;  ///< a network namespace to enter; -1: the keeper's own
  int gate = -1;     ///< socket that takes each command's connect(2) listener; -1 without a gate

  CommandLayers(SandboxProfile of_kind, SeccompFilter compiled)
      : profile(std::move(of_kind)),
        rules(profile, {.read_only = false}),
        read_only_rules(profile, {.read_only = true}),
        filter(std::move(compiled)) {}
};

/// The namespaces of a command with a private set (private_set.h); -1 and null: the run's own.
struct CommandPlaces {
  int mounts = -1;   ///< a mount namespace to start from
  int ipc = -1;      ///< an IPC namespace to enter
  int network = -1;  ///< a network namespace to enter, instead of the layers' own
  const LandlockRules* rules = nullptr;  ///< instead of the layers' own
};

/// A command's standard descriptors.
struct CommandStreams {
  Fd input;   ///< none: /dev/null
  Fd output;  ///< none: as input, which is a terminal
  Fd errors;  ///< none: as output
};

enum class StartStep : std::int32_t {
  none,
  places,
  network,
  proc,
  read_only,
  fork,
  limits,
  ids,
  no_new_privs,
  landlock,
  seccomp,
  connect_gate,
  descriptors,
  terminal,
  workdir,
  exec,
};

/// The report of a command's first process to the keeper, written to its pipe at once.
struct StartReport {
  StartStep failed = StartStep::none;
  std::int32_t error = 0;        ///< errno of the step
  std::int32_t wait_status = 0;  ///< as by wait(2); valid if no step failed
  std::int32_t left_behind = 0;  ///< processes still alive when the command ended
};

/// Starts a command: a first process that reaps (process 1 of a new PID namespace, where there are
/// namespaces, else a subreaper), and the command below it, behind every layer of the profile.
/// @param group   the control group to be in; none: the keeper's own
/// @param streams  a terminal as input becomes the command's controlling one
/// @param report  the write end of a pipe for StartReports
/// @return the first process's id; -1 with errno set if it can't be forked
pid_t start_command(const Command& command, const CommandLayers& layers,
                    const CommandPlaces& places, const Fd& group, CommandStreams streams,
                    const Fd& report);

/// "chdir to the working folder", for messages.
const char* name_of(StartStep step) noexcept;

/// By kind of command in a run: ordinary ones, and those that a rule lets write (bit 0) or use the
/// network (bit 1) when the others may not.
template <typename Part>
using ByKind = std::array<std::unique_ptr<Part>, 4>;

/// Whether a run with this profile has commands of a kind.
bool has_kind(const SandboxProfile& profile, unsigned kind) noexcept;
SandboxProfile profile_of_kind(const SandboxProfile& run, unsigned kind);

/// The filter of each kind that a run has, compiled before the keeper needs them.
/// @throws Error  environment
ByKind<SeccompFilter> compile_filters(const SandboxProfile& profile);

/// The layers of each kind of command.
class LayerSet {
 public:
  /// @param filters  of compile_filters() for this profile
  /// @param network  the commands' network namespace if the keeper is outside of it; outlives the
  ///                 set
  /// @param gate     receives the listeners of commands with a connect gate; outlives the set
  /// @throws Error  if a layer can't be prepared
  LayerSet(const SandboxProfile& profile, ByKind<SeccompFilter> filters, const Fd& network,
           const Fd& gate);

  /// @throws Error  for an escalation that the run was not prepared for
  const CommandLayers& of(const Command& command) const;

 private:
  ByKind<CommandLayers> kinds_;
};

}  // namespace sortie
