#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/process/launcher.h"
#include "core/secrets/redact.h"
#include "tools/commands/command_output.h"

namespace sortie {

/// How the output of sessions is shown and kept.
struct SessionOutputs {
  const Redactor& redactor;       ///< outlives the sessions, like `whole`
  std::size_t shown_bytes;        ///< maximum that the model sees
  SavedOutputs* whole = nullptr;  ///< keeps outputs that are cut; null: they are not kept
};

/// A command that runs while the model does other things: its unread output, in bounded memory, and
/// the input that it has not read yet.
class ExecSession {
 public:
  using Clock = std::chrono::steady_clock;

  struct Started {
    Command command;
    std::vector<std::string> asked;  ///< the argv that the policy decided on
    std::unique_ptr<RunningCommand> running;
    std::chrono::milliseconds timeout;  ///< from now on
  };
  ExecSession(Started started, const SessionOutputs& outputs);

  const Command& command() const noexcept { return command_; }
  const std::vector<std::string>& asked() const noexcept { return asked_; }
  RunningCommand& running() noexcept { return *running_; }
  std::chrono::milliseconds age() const;
  Clock::time_point deadline() const noexcept { return deadline_; }

  /// Whether there may be more output.
  bool reads() const noexcept { return output_open_; }
  bool has_to_write() const noexcept { return running_ && (!to_write_.empty() || closes_input_); }
  std::size_t unwritten() const noexcept { return to_write_.size(); }

  /// Appends the characters to the pending input. For a pipe, control-D at their end closes stdin,
  /// and control-C anywhere kills the command.
  void type(std::string_view characters);
  /// The typed characters that do not form a whole line yet: their unfinished_input().
  const std::string& unfinished_line() const noexcept { return line_; }

  /// Reads and writes without blocking, and enforces the limits.
  /// @return  whether there was any output
  bool advance();
  void end(Ending why);
  /// Kills it, because the model asked for it.
  void kill(std::string how);
  /// When it was last typed into, or last printed something.
  Clock::time_point last_activity() const noexcept { return last_activity_; }
  /// Whether its unread output ends within a line, as a prompt does.
  bool prompts() const noexcept { return unread_ && !line_ended_; }
  /// The status, once the command has ended and all its processes are gone.
  const std::optional<ExitStatus>& ended() const noexcept { return ended_; }
  /// The launcher's exception: a layer of the sandbox failed, or the keeper is gone.
  const std::exception_ptr& failure() const noexcept { return failure_; }

  /// Takes the output since the last call, including an unfinished line, which may be a prompt.
  CollectedOutput take(std::size_t shown_bytes) {
    unread_ = false;
    return output_.take(shown_bytes);
  }
  /// Bytes held back, since they may be the beginning of a secret.
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
  Clock::time_point last_activity_ = started_;
  bool unread_ = false;     ///< it has printed something since the last take()
  bool line_ended_ = true;  ///< its last byte was a newline
  std::string how_killed_;  ///< by the model: "ended by control-C"; empty: it was not
  bool closes_input_ = false;
  std::string to_write_;
  std::string line_;
  CommandOutput output_;
  std::optional<ExitStatus> ended_;
  std::exception_ptr failure_;
};

/// The sessions of a run. Their own thread reads their output and enforces their limits, so that
/// none waits for the model; it runs as long as any of them.
class ExecSessions {
 public:
  static constexpr std::size_t kMaxSessions = 16;

  /// @param launcher  outlives this
  ExecSessions(Launcher& launcher, const SessionOutputs& outputs);
  ExecSessions(const ExecSessions&) = delete;
  ExecSessions& operator=(const ExecSessions&) = delete;
  ~ExecSessions();

  /// Starts the command. @return its number
  /// @param asked  the argv that the policy decided on, from which the command's own was made
  /// @throws ToolError  kMaxSessions are running
  int open(Command command, std::vector<std::string> asked);

  /// Those of an earlier process of the run are lost: their numbers, up to this one, are not used
  /// again.
  void lose(int last_id);

  /// A session as a decision on typed input needs it.
  struct Typed {
    std::vector<std::string> argv;
    std::filesystem::path workdir;
    std::string unfinished_line;
    bool terminal = false;
    bool runs = true;
  };
  /// @throws ToolError  there is no such session
  Typed describe(int id);
  /// A session that is still running.
  struct Open {
    int id = 0;
    std::vector<std::string> argv;  ///< the one that the policy decided on
    std::filesystem::path workdir;
  };
  std::vector<Open> open_sessions();
  /// @throws ToolError
  void type(int id, std::string_view characters);
  /// Kills the session with all its processes: for one that ignores control-C.
  /// @throws ToolError
  void kill(int id);

  /// What ends a wait before its time is over, beside the end of the command.
  enum class Until {
    end,     ///< nothing else
    prompt,  ///< new output that ends within a line, and kQuiet without more
    quiet,   ///< kQuiet without output
  };
  /// As codex waits after keystrokes.
  static constexpr std::chrono::milliseconds kQuiet{250};

  /// The state of a session, and its output since the last call.
  struct Poll {
    CollectedOutput output;
    std::optional<ExitStatus> ended;  ///< set once: then the session is gone
    Command command;
    std::chrono::milliseconds age{0};
    std::size_t unwritten = 0;  ///< bytes of input that it has not read yet
    std::size_t held_back = 0;  ///< bytes missing from `output`: they may begin a secret
  };
  /// Waits until the command ends or `until` holds, at most for `time`; a stop request kills the
  /// session.
  /// @throws ToolError  there is no such session
  /// @throws Error      the command could not be confined
  Poll wait(int id, std::chrono::milliseconds time, Until until, std::size_t shown_bytes,
            std::stop_token stop);

  /// Kills all sessions and waits until they are dead.
  /// @param why  for the error when the model uses one of them later
  /// @return     how many there were, including ended ones with unread output
  int end_all(const std::string& why);

 private:
  ExecSession& find(int id);
  void start_thread();
  void stop_thread();
  void work(std::stop_token stop);
  void wake() const;
  void wait_until(std::unique_lock<std::mutex>& lock, const ExecSession& session,
                  std::chrono::milliseconds time, Until until, const std::stop_token& stop);
  void forget_oldest_ended();

  Launcher& launcher_;
  SessionOutputs outputs_;
  Fd wake_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<int, std::unique_ptr<ExecSession>> sessions_;  ///< including ended ones with output
                                                          ///< that nobody has read
  std::map<int, std::string> gone_;                       ///< "has ended with exit code 0"
  int last_id_ = 0;
  int lost_ids_ = 0;  ///< up to this one
  std::jthread thread_;
};

}  // namespace sortie
