#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/fd.h"

namespace sortie {

/// What a command's stdin is.
enum class CommandInput {
  none,      ///< /dev/null
  pipe,      ///< what is written to RunningCommand::input()
  terminal,  ///< a new pseudo-terminal of 80 × 24, also for stdout and stderr: its controlling one
};

/// A command to be started: nothing of the caller's own environment or descriptors reaches it.
struct Command {
  std::vector<std::string> argv;  ///< argv[0]: a name looked up on PATH, or an absolute path
  std::filesystem::path workdir;  ///< absolute, as the command sees it
  std::map<std::string, std::string> environment;  ///< all of it
  /// Held by whoever reads its output (run_command() does), and by the kernel for its CPU time: a
  /// command that is to live as long as the run gets what the run has left.
  std::chrono::milliseconds timeout{std::chrono::minutes(10)};
  std::uint64_t max_output_bytes = 64ull << 20;  ///< 0: no limit; held by whoever reads
  CommandInput input = CommandInput::none;
  bool errors_apart = false;  ///< stderr goes to RunningCommand::errors(), not with stdout
  bool read_only = false;     ///< for this command the workspace is not writable
  bool writes = false;        ///< may write where the run's own mode lets none (escalation)
  bool open_network = false;  ///< reaches the network though the run's mode is none (escalation)
  bool canary = false;        ///< run sortie's own canary in the confined child, no program
  /// Whose HOME, /tmp, /var/tmp, /dev/shm, toolchain layers and System V and POSIX IPC it gets: ""
  /// for those that the run's ordinary commands share; a name for a set of its own, empty for the
  /// first command that gives the name.
  std::string private_set{};
  bool private_set_alone = false;  ///< a set for this command alone, gone with it; without a name
};

/// What ended a command.
enum class Ending {
  exited,         ///< by itself; code is the exit code
  signalled,      ///< by a signal that was not ours; code is the signal's number
  timed_out,      ///< at its time limit
  output_limit,   ///< at max_output_bytes
  memory_limit,   ///< the tree of processes used more memory than the policy allows
  process_limit,  ///< more processes than the policy allows
  disk_limit,     ///< wrote more than the policy allows
  cancelled,      ///< by a stop request
  not_started,    ///< no such program, or it can't be executed; `detail` says why
};

/// How a command ended; never a failure of sortie.
struct ExitStatus {
  Ending ending = Ending::exited;
  int code = 0;
  std::string detail;  ///< for people: "memory 512 MiB of 512 MiB"
  std::chrono::milliseconds duration{0};
  bool ended_background = false;  ///< processes it had left behind were killed
  bool success() const noexcept { return ending == Ending::exited && code == 0; }
};

/// The ending as one number, as shells have it: the exit code; 128 + n after signal n; 124 at the
/// time limit, as timeout(1); 127 where it was not started; 130 on a stop request; 137 at another
/// limit.
constexpr int shell_code(const ExitStatus& status) noexcept {
  switch (status.ending) {
    case Ending::exited:
      return status.code;
    case Ending::signalled:
      return 128 + status.code;
    case Ending::timed_out:
      return 124;
    case Ending::not_started:
      return 127;
    case Ending::cancelled:
      return 130;
    default:
      return 137;
  }
}

/// A started command. Destroying it kills the command and everything that came of it.
class RunningCommand {
 public:
  virtual ~RunningCommand() = default;
  /// Read end of stdout and stderr, or the terminal's master; non-blocking. It may outlive the
  /// command's first process, and is at its end (EIO for a terminal) once no process of the command
  /// is left.
  virtual const Fd& output() const = 0;
  /// What is written here the command reads from its stdin; non-blocking, none with
  /// CommandInput::none. Writing fails with EPIPE (SIGPIPE has to be ignored) where nobody reads
  /// any more. A pipe's reader sees the end of its input once this is reset(); a terminal's sees it
  /// by control-D ("\4"), and resetting changes nothing for it.
  virtual Fd& input() = 0;
  /// Read end of stderr where the command has `errors_apart`, as output() is; else none.
  virtual const Fd& errors() const = 0;
  /// A descriptor that becomes readable when the command has ended: for poll(2) beside output(). -1
  /// where there is none to be had: status() is asked in short steps then.
  virtual int ended_descriptor() const = 0;
  /// The status once the command has ended and all its descendants are dead; else nothing.
  virtual std::optional<ExitStatus> status() = 0;
  /// Asks its program, and what shares the program's process group, to end by itself (SIGTERM).
  /// Nobody waits for it: status() tells, and end() is for what is deaf to it.
  virtual void ask_to_end() = 0;
  /// Kills all processes of the command; `why` becomes the status' ending.
  virtual void end(Ending why) = 0;
};

/// Starts commands. The one way in which sortie starts a process for a run.
class Launcher {
 public:
  virtual ~Launcher() = default;
  /// @throws Error  when the command could not be confined as the policy wants
  virtual std::unique_ptr<RunningCommand> start(const Command& command) = 0;
  /// The most that a command may take now, whatever its own time limit says.
  virtual std::chrono::milliseconds time_left() const { return std::chrono::hours(24 * 365); }
};

}  // namespace sortie
