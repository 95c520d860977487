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
  pipe,      ///< the bytes written to RunningCommand::input()
  terminal,  ///< a new controlling pseudo-terminal of 80 × 24, also for stdout and stderr
};

/// A command to be started; it gets none of the caller's environment or descriptors.
struct Command {
  std::vector<std::string> argv;  ///< argv[0]: a name looked up on PATH, or an absolute path
  std::filesystem::path workdir;  ///< absolute, as the command sees it
  std::map<std::string, std::string> environment;  ///< all of it
  /// Enforced by the reader of its output (run_command() does), and by the kernel for its CPU time:
  /// a command that may run as long as the run gets the run's remaining time.
  std::chrono::milliseconds timeout{std::chrono::minutes(10)};
  std::uint64_t max_output_bytes = 64ull << 20;  ///< 0: no limit; enforced by the reader
  CommandInput input = CommandInput::none;
  bool errors_apart = false;  ///< stderr goes to RunningCommand::errors(), not with stdout
  bool read_only = false;     ///< for this command the workspace is not writable
  bool writes = false;        ///< may write although the run's mode is read-only (escalation)
  bool open_network = false;  ///< has network access although the run's mode is none (escalation)
  bool canary = false;        ///< run sortie's canary in the confined child instead of a program
  /// The set of HOME, /tmp, /var/tmp, /dev/shm, toolchain layers and System V and POSIX IPC that it
  /// gets: "" for the set that the run's ordinary commands share; a name for a separate set, empty
  /// for the first command with that name.
  std::string private_set{};
  bool private_set_alone = false;  ///< a set for this command alone, removed after it; no name
};

/// Why a command ended.
enum class Ending {
  exited,         ///< by itself; code is the exit code
  signalled,      ///< by a signal that sortie did not send; code is the signal's number
  timed_out,      ///< at its time limit
  output_limit,   ///< at max_output_bytes
  memory_limit,   ///< the tree of processes used more memory than the policy allows
  process_limit,  ///< more processes than the policy allows
  disk_limit,     ///< wrote more than the policy allows
  cancelled,      ///< by a stop request
  not_started,    ///< no such program, or not executable; `detail` says why
};

/// How a command ended; never a failure of sortie.
struct ExitStatus {
  Ending ending = Ending::exited;
  int code = 0;
  std::string detail;  ///< for people: "memory 512 MiB of 512 MiB"
  std::chrono::milliseconds duration{0};
  bool ended_background = false;  ///< background processes that it left were killed
  bool success() const noexcept { return ending == Ending::exited && code == 0; }
};

/// The ending as a shell's exit code: the exit code; 128 + n after signal n; 124 at the time limit,
/// as timeout(1); 127 if it was not started; 130 on a stop request; 137 at another limit.
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

/// A started command. Destroying it kills the command and all its descendants.
class RunningCommand {
 public:
  virtual ~RunningCommand() = default;
  /// Read end of stdout and stderr, or the terminal's master; non-blocking. It may stay open after
  /// the command's first process has ended, and reaches its end (EIO for a terminal) once no
  /// process of the command is left.
  virtual const Fd& output() const = 0;
  /// Write end of the command's stdin; non-blocking, none with CommandInput::none. Writing fails
  /// with EPIPE (SIGPIPE has to be ignored) if nobody reads any more. reset() ends the input of a
  /// pipe; a terminal's input ends by control-D ("\4"), and reset() has no effect on it.
  virtual Fd& input() = 0;
  /// Read end of stderr if the command has `errors_apart`, like output(); else none.
  virtual const Fd& errors() const = 0;
  /// A descriptor that becomes readable when the command has ended, for poll(2) together with
  /// output(). -1 if there is none: then poll status() in short steps.
  virtual int ended_descriptor() const = 0;
  /// The status once the command has ended and all its descendants are dead; else nothing.
  virtual std::optional<ExitStatus> status() = 0;
  /// Sends SIGTERM to the program's process group. Does not wait: check status(), and use end() for
  /// a program that ignores it.
  virtual void ask_to_end() = 0;
  /// Kills all processes of the command; `why` becomes the status' ending.
  virtual void end(Ending why) = 0;
};

/// Starts commands: the only way in which sortie starts a process for a run.
class Launcher {
 public:
  virtual ~Launcher() = default;
  /// @throws Error  if the command could not be confined as the policy requires
  virtual std::unique_ptr<RunningCommand> start(const Command& command) = 0;
  /// The longest that a command may run now, whatever its own time limit is.
  virtual std::chrono::milliseconds time_left() const { return std::chrono::hours(24 * 365); }
};

}  // namespace sortie
