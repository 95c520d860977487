#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "core/record/events.h"
#include "tools/mcp/client.h"
#include "tools/mcp/tool_list.h"

namespace sortie::mcp {

/// Records the states of one server and what it sends apart from its replies: stderr, log, invalid
/// messages. All of it is limited, so that no server can fill a transcript.
class ServerLog : public Listener {
 public:
  /// @param turn  returns the current turn
  ServerLog(std::string server, EventSink& events, std::function<int()> turn)
      : server_(std::move(server)), events_(events), turn_(std::move(turn)) {}

  void remarked(const Remark& remark) override;
  void record(McpServerRecord record);
  /// Records how much was left out, once the server is gone.
  void finish();

 private:
  std::string server_;
  EventSink& events_;
  std::function<int()> turn_;
  std::mutex mutex_;
  std::size_t bytes_ = 0;  ///< recorded bytes
  int records_ = 0;
  std::size_t left_out_ = 0;  ///< bytes left out
};

/// A server is unavailable: not started, gone, or not as pinned. One sentence.
class ServerError : public std::runtime_error {
 public:
  enum class Kind { unavailable, pin_broken };
  ServerError(Kind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

struct ServerSettings {
  std::string name{};
  std::chrono::milliseconds startup_timeout{std::chrono::seconds(10)};
  std::chrono::milliseconds tool_timeout{std::chrono::seconds(60)};
  std::vector<std::string> tools{};  ///< tools that the task allows; empty: all
  std::string pin{};                 ///< "sha256:…"; "" for none
  bool required = false;
  bool may_write = false;  ///< it may change the workspace
  /// A rule gives it a sandbox of its own. Such servers start before all others, which could tamper
  /// with their programs.
  bool ahead = false;
  ClientOptions client{};
  /// What to do if it does not answer at its start, and if its program is not found; "" for nothing.
  std::string silent_hint{};
  std::string missing_hint{};
  const Redactor* secrets = nullptr;  ///< secrets that its tool list must not show; outlives it
};

/// One server of the run, across restarts of its process: started, called, restarted once if it
/// dies, suspended and resumed, ended. No two methods are called at the same time.
class Server {
 public:
  using Connect = std::function<std::unique_ptr<Transport>()>;
  using TimeLeft = std::function<std::chrono::milliseconds()>;

  /// @param connect    makes the transport to a new process or session of the server
  /// @param time_left  returns the time left in the run
  Server(ServerSettings settings, Connect connect, TimeLeft time_left,
         std::unique_ptr<ServerLog> log);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  const ServerSettings& settings() const noexcept { return settings_; }
  /// @throws ServerError
  void start(std::stop_token stop);
  /// Whether it can be called, if need be after a resume.
  bool usable() const noexcept { return usable_; }
  /// Whether it may have a process or session.
  bool runs() const noexcept { return client_ != nullptr; }
  const ToolList& tools() const noexcept { return tools_; }
  /// What it says about the use of its tools: plain text without secrets; "" for nothing.
  const std::string& instructions() const noexcept { return instructions_; }
  /// Fetches the tool list again if the server announced a change. @return  whether it changed
  bool renew(std::stop_token stop);
  /// The result of tools/call.
  /// @throws ToolError  worded for the model
  Json call(const std::string& tool, const Json& arguments, std::stop_token stop);
  /// Ends its process, as end() does, if it may write to the workspace; resume() starts it again.
  /// @return  whether it was running
  bool suspend(Client::Deadline deadline);
  bool suspended() const noexcept { return suspended_; }
  /// @throws ServerError  it is not available anymore, or not as pinned
  void resume(std::stop_token stop);
  /// Ends it gracefully, by force at the deadline.
  void end(Client::Deadline deadline);

 private:
  Client::Deadline within(std::chrono::milliseconds time) const;
  void launch(ServerState state, std::stop_token stop);
  void fetch_tools(std::stop_token stop, Client::Deadline deadline);
  bool restart(const std::string& why, std::stop_token stop);
  void drop(const std::string& why);
  void shut_down(Client::Deadline deadline);
  std::string why_unavailable() const;
  std::string with_hint(const std::string& failure) const;

  ServerSettings settings_;
  Connect connect_;
  TimeLeft time_left_;
  std::unique_ptr<ServerLog> log_;  ///< before the client, whose threads use it
  std::unique_ptr<Client> client_;
  ToolList tools_;
  std::string instructions_;
  int seen_changes_ = 0;  ///< announced changes of the tool list that were fetched
  bool changed_ = false;  ///< the tool list changed since the last renew()
  bool usable_ = false;
  bool restarted_ = false;
  bool suspended_ = false;
  std::string why_gone_;
};

}  // namespace sortie::mcp
