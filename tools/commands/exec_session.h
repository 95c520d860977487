#pragma once

#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/process/launcher.h"
#include "core/secrets/redact.h"
#include "tools/commands/command_output.h"

namespace sortie {

/// Where the sessions' outputs go.
struct SessionOutputs {
  const Redactor& redactor;       ///< outlives the sessions, as `whole` does
  std::size_t shown_bytes;        ///< that the model sees at most
  WholeOutputs* whole = nullptr;  ///< keeps what is shown in part; nothing: it is kept nowhere
};

/// A command that runs while the model does other things: what it printed since it was last asked,
/// in bounded memory, and what is still to be typed into it.
class ExecSession {
 public:
  using Clock = std::chrono::steady_clock;

  struct Started {
    Command command;
    std::vector<std::string> asked;  ///< the argv that was decided on
    std::unique_ptr<RunningCommand> running;
    std::chrono::milliseconds timeout;  ///< from now on
  };
  ExecSession(Started started, const SessionOutputs& outputs);

  const Command& command() const noexcept { return command_; }
  const std::vector<std::string>& asked() const noexcept { return asked_; }
  RunningCommand& running() noexcept { return *running_; }
  std::chrono::milliseconds age() const;
  Clock::time_point deadline() const noexcept { return deadline_; }

  /// Whether there may be more to read.
  bool reads() const noexcept { return output_open_; }
  bool has_to_write() const noexcept { return running_ && (!to_write_.empty() || closes_input_); }
  std::size_t unwritten() const noexcept { return to_write_.size(); }

  /// Puts the characters behind those that are still to be written. For a pipe control-D at their
  /// end is the end of the input, and control-C anywhere ends the command.
  void type(std::string_view characters);
  /// What was typed and is no whole line yet: unfinished_input() of it.
  const std::string& unfinished_line() const noexcept { return line_; }

  /// Reads and writes what can be at once, and holds the limits.
  void go_on();
  void end(Ending why);
  /// Once it has ended and nothing of it is left.
  const std::optional<ExitStatus>& ended() const noexcept { return ended_; }
  /// What the launcher threw: a layer of the sandbox failed, or the keeper is gone.
  const std::exception_ptr& failure() const noexcept { return failure_; }

  /// Takes the output that was not taken before, with the beginning of a line, which may be a
  /// prompt.
  CollectedOutput take(std::size_t shown_bytes) { return output_.take(shown_bytes); }
  /// Bytes that were not taken yet, since they may be the beginning of a secret.
  std::size_t held_back() const noexcept { return output_.held_back(); }

 private:
  bool read();
  void write();
  void finish();

  Command command_;
  std::vector<std::string> asked_;
  std::unique_ptr<RunningCommand> running_;  ///< gone once it has ended
  Clock::time_point started_ = Clock::now();
  Clock::time_point deadline_;
  std::uint64_t total_ = 0;
  bool output_open_ = true;
  bool ending_ = false;
  bool interrupted_ = false;
  bool closes_input_ = false;
  std::string to_write_;
  std::string line_;
  CommandOutput output_;
  std::optional<ExitStatus> ended_;
  std::exception_ptr failure_;
};

}  // namespace sortie
