#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "core/base/fd.h"
#include "core/process/launcher.h"
#include "core/text/terminal_text.h"
#include "tools/mcp/transport/transport.h"

namespace sortie::mcp {

/// Splits a stream into lines without their LF or CRLF. A line past the limit is discarded and
/// reported.
class LineReader {
 public:
  struct Sink {
    std::function<void(std::string_view)> line;
    std::function<void(std::size_t)> too_long;  ///< once per line, with its bytes so far
  };
  LineReader(std::size_t max_bytes, Sink sink) : max_bytes_(max_bytes), sink_(std::move(sink)) {}

  void feed(std::string_view bytes);
  /// Bytes of an unfinished line.
  std::size_t pending() const noexcept { return held_.size(); }

 private:
  void emit(std::string_view line);

  std::size_t max_bytes_;
  Sink sink_;
  std::string held_;
  bool skipping_ = false;
};

/// Limits for what a stdio server can make us store or do.
struct StdioLimits {
  std::size_t max_message_bytes = 16u << 20;  ///< a longer line is skipped
  std::size_t max_waiting_bytes = 16u << 20;  ///< queued messages that the server has not read yet
  int max_unasked = 100'000;  ///< messages since our last request; then it is killed
};

/// A server as a child process: messages are lines on its stdin and stdout, its stderr is text for
/// people. A separate thread reads and writes, so that no server can block a caller.
class StdioTransport : public Transport {
 public:
  /// @param launcher  outlives the transport
  /// @param command   its stdin, stdout and stderr are set up here
  StdioTransport(Launcher& launcher, Command command, StdioLimits limits = {});
  StdioTransport(const StdioTransport&) = delete;
  StdioTransport& operator=(const StdioTransport&) = delete;
  ~StdioTransport() override;

  void open(Receiver& receiver, Deadline deadline, std::stop_token stop) override;
  void send(const Message& message) override;
  void abandon(const Json& id) override;
  void close(Deadline deadline) override;

 private:
  /// The process; used only by the thread.
  struct Process;

  void run();
  std::string converse(Process& process);
  void wait(Process& process);
  void end_gracefully(Process& process);
  void write_some(Process& process);
  void take_line(std::string_view line);
  void take_broken_line(std::string_view line, const std::string& why);
  void take_long_line(std::size_t bytes);
  void take_errors(std::string_view bytes);
  std::string ended(const ExitStatus& status, bool asked) const;
  void wake();

  Launcher& launcher_;
  Command command_;
  StdioLimits limits_;
  Receiver* receiver_ = nullptr;
  Fd wake_;
  std::thread thread_;

  // Used only by the thread.
  std::unique_ptr<Process> process_;
  TerminalText error_text_;
  std::string last_error_line_;
  std::string kill_reason_;  ///< why it is killed at once, or ""
  std::string end_reason_;   ///< why it is ended without a call of close(), or ""

  std::mutex mutex_;  ///< guards all below
  std::condition_variable over_;
  std::string waiting_;               ///< bytes to write
  std::map<std::string, Json> open_;  ///< ids of requests without a reply, by id_text()
  int unasked_ = 0;
  std::optional<Deadline> close_by_;
  bool is_over_ = false;
};

}  // namespace sortie::mcp
