#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "core/base/fd.h"
#include "core/process/launcher.h"
#include "tools/commands/exec_session.h"

namespace sortie {

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
