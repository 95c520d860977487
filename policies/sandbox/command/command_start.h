#pragma once

#include <sys/types.h>

#include <cstdint>
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

  explicit CommandLayers(SandboxProfile of_kind)
      : profile(std::move(of_kind)),
        rules(profile, {.read_only = false}),
        read_only_rules(profile, {.read_only = true}),
        filter(profile) {}
};

/// Where a command is whose private set is its own (private_set.h); -1 and nothing: as the run's
/// ordinary ones.
struct CommandPlaces {
  int mounts = -1;   ///< a mount namespace to start from
  int ipc = -1;      ///< an IPC namespace to enter
  int network = -1;  ///< a network namespace to enter, instead of the layers' own
  const LandlockRules* rules = nullptr;  ///< in place of the layers'
};

/// What a command's standard descriptors are to be.
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

/// What a command's first process tells the keeper through its pipe, whole or not at all.
struct StartReport {
  StartStep failed = StartStep::none;
  std::int32_t error = 0;        ///< errno of the step
  std::int32_t wait_status = 0;  ///< as by wait(2); holds where no step failed
  std::int32_t left_behind = 0;  ///< processes that were alive when the command ended
};

/// Starts a command: a first process that reaps (process 1 of a new PID namespace, where there are
/// namespaces, else a subreaper), and the command below it, behind every layer of the profile.
/// @param group   the control group to be in; none: the keeper's own
/// @param streams  a terminal as input becomes the command's controlling one
/// @param report  the write end of a pipe for StartReports
/// @return the first process' id; -1 with errno set where it can't be forked
pid_t start_command(const Command& command, const CommandLayers& layers,
                    const CommandPlaces& places, const Fd& group, CommandStreams streams,
                    const Fd& report);

/// "chdir to the working folder", for messages.
const char* name_of(StartStep step) noexcept;

}  // namespace sortie
