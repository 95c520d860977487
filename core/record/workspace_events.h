#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/spelling.h"
#include "core/record/command_output.h"

namespace sortie {

// Events of the workspace: changed files, connections of commands, verification.

enum class ConnectionState {
  denied,
  opened,  ///< recorded before anything is connected
  closed,
};
template <>
inline constexpr auto kSpelling<ConnectionState> =
    std::to_array<Spelled<ConnectionState>>({{ConnectionState::denied, "denied"},
                                             {ConnectionState::opened, "opened"},
                                             {ConnectionState::closed, "closed"}});

/// One attempt of a command to reach a host, through the proxy or directly.
struct NetworkRecord {
  std::uint64_t id = 0;  ///< the same for an opened connection and its end
  ConnectionState state = ConnectionState::denied;
  std::string host;
  int port = 0;               ///< 0: unknown
  std::string method;         ///< "CONNECT", "GET", …; "connect" for a direct connection
  std::string rule{};         ///< the entry of `network.allow` that allowed it
  std::string reason{};       ///< why it was denied, or what failed
  std::string would_allow{};  ///< the entry that would allow a denied one; "": none, or not lightly
  std::string address{};      ///< the address connected to
  std::uint64_t sent = 0;     ///< bytes, by the command
  std::uint64_t received = 0;
  std::chrono::milliseconds duration{0};
};

enum class VerificationPhase {
  before,     ///< on the start state
  after,      ///< on the agent's work
  run_tests,  ///< the model called the tool
};
template <>
inline constexpr auto kSpelling<VerificationPhase> =
    std::to_array<Spelled<VerificationPhase>>({{VerificationPhase::before, "before"},
                                               {VerificationPhase::after, "after"},
                                               {VerificationPhase::run_tests, "run_tests"}});

/// One command of a verification.
struct VerificationRecord {
  VerificationPhase phase = VerificationPhase::after;
  int round = 1;        ///< from 1; for run_tests the next one
  std::string command;  ///< as written in the task
  std::vector<std::string> argv;
  bool setup = false;  ///< of verify.setup
  std::string tree{};  ///< "fresh" or "run"
  std::string diff{};  ///< fresh: "sha256:…" of the diff that the tree holds; "": the start state
};

struct VerificationCompleted : VerificationRecord {
  ExitStatus exit;
  std::string output;
  std::optional<std::string> shown{};  ///< as the model gets it, if that differs
  std::uint64_t dropped_bytes = 0;
  bool passed = false;
  std::string compared{};  ///< a failure, with that of the start state (verify.baseline)
  bool cut = false;        ///< the transcript cut it at its size limit
  std::optional<SavedOutput> whole{};  ///< not a member of the record
};

}  // namespace sortie
