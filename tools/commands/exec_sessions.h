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

/// Where the sessions' outputs go.
struct SessionOutputs {
  const Redactor& redactor;       ///< outlives the sessions, as `whole` does
  std::size_t shown_bytes;        ///< that the model sees at most
  SavedOutputs* whole = nullptr;  ///< keeps what is shown in part; nothing: it is kept nowhere
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

/// The sessions of a run. A thread of their own reads what they print and holds their limits, so
/// that none waits for the model; it runs as long as one of them does.
class ExecSessions {
 public:
  static constexpr std::size_t kMost = 16;

  /// @param launcher  outlives this
  ExecSessions(Launcher& launcher, const SessionOutputs& outputs);
  ExecSessions(const ExecSessions&) = delete;
  ExecSessions& operator=(const ExecSessions&) = delete;
  ~ExecSessions();

  /// Starts the command. @return its number
  /// @param asked  the argv that was decided on, where the command's own was made of it
  /// @throws ToolError  kMost run already
  int open(Command command, std::vector<std::string> asked);

  /// What a session is, as far as a decision needs it.
  struct Typed {
    std::vector<std::string> argv;
    std::filesystem::path workdir;
    std::string unfinished_line;
    bool terminal = false;
    bool runs = true;
  };
  /// @throws ToolError  there is no such session (any more)
  Typed describe(int id);
  /// One that has not ended.
  struct Open {
    int id = 0;
    std::vector<std::string> argv;  ///< that was decided on
    std::filesystem::path workdir;
  };
  std::vector<Open> open_ones();
  /// @throws ToolError
  void type(int id, std::string_view characters);

  /// What came of a session since it was last asked.
  struct News {
    CollectedOutput output;
    std::optional<ExitStatus> ended;  ///< then the session is gone
    Command command;
    std::chrono::milliseconds age{0};
    std::size_t unwritten = 0;  ///< bytes typed that it has not read yet
    std::size_t held_back = 0;  ///< bytes that `output` lacks: they may begin a secret
  };
  /// Waits until the command ends, at most for the time given; a stop request ends the session.
  /// @throws ToolError  there is no such session (any more)
  /// @throws Error      the command could not be confined
  News wait(int id, std::chrono::milliseconds time, std::size_t shown_bytes, std::stop_token stop);

  /// Ends all and waits until they are dead. @param why  for the model that asks for one later
  /// @return how many there were, with those that had ended and were not asked since
  int end_all(const std::string& why);

 private:
  ExecSession& find(int id);
  void start_thread();
  void stop_thread();
  void work(std::stop_token stop);
  void wake() const;
  void forget_oldest_ended();

  Launcher& launcher_;
  SessionOutputs outputs_;
  Fd wake_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<int, std::unique_ptr<ExecSession>> sessions_;  ///< also those that ended and were not
                                                          ///< asked since
  std::map<int, std::string> gone_;                       ///< "has ended with exit code 0"
  int last_id_ = 0;
  std::jthread thread_;
};

}  // namespace sortie
