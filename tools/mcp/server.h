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

/// Puts on record what becomes of one server and what it says beside its replies: its stderr, its
/// log, what is no message. All of that is bounded: nothing of what a server says may fill a
/// transcript.
class ServerLog : public Listener {
 public:
  /// @param turn  the one that is under way
  ServerLog(std::string server, EventSink& events, std::function<int()> turn)
      : server_(std::move(server)), events_(events), turn_(std::move(turn)) {}

  void remarked(const Remark& remark) override;
  void tell(McpServerRecord record);
  /// What was left out, once the server is gone.
  void finish();

 private:
  std::string server_;
  EventSink& events_;
  std::function<int()> turn_;
  std::mutex mutex_;
  std::size_t bytes_ = 0;  ///< recorded
  int records_ = 0;
  std::size_t left_out_ = 0;  ///< bytes
};

/// A server can't be had: not started, gone, or not the one that was pinned; one sentence.
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
  std::vector<std::string> tools{};  ///< that the task lets in; empty: all
  std::string pin{};                 ///< "sha256:…"; "" for none
  bool required = false;
  bool may_write = false;  ///< what it does may change the workspace
  /// A rule gives it a sandbox of its own. Is there before those start that are not: they could
  /// change it.
  bool ahead = false;
  ClientOptions client{};
  const Redactor* secrets = nullptr;  ///< what its list of tools may not show; outlives it
};

/// One server of the run, over the lives of its process: started, asked, restarted once where it
/// dies, laid to rest and started again, ended. No two methods are called at the same time.
class Server {
 public:
  using Connect = std::function<std::unique_ptr<Transport>()>;
  using TimeLeft = std::function<std::chrono::milliseconds()>;

  /// @param connect    makes the way to a new life of the server
  /// @param time_left  of the run
  Server(ServerSettings settings, Connect connect, TimeLeft time_left,
         std::unique_ptr<ServerLog> log);
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  ~Server();

  const ServerSettings& settings() const noexcept { return settings_; }
  /// @throws ServerError
  void start(std::stop_token stop);
  /// Whether it is there to be called, or could be.
  bool usable() const noexcept { return usable_; }
  /// Whether a process of it, or a session with it, may be there.
  bool runs() const noexcept { return client_ != nullptr; }
  const ToolList& tools() const noexcept { return tools_; }
  /// Asks for the list of tools again, where the server has said that it is another one.
  /// @return  whether it is
  bool renew(std::stop_token stop);
  /// The result of tools/call.
  /// @throws ToolError  worded for the model
  Json call(const std::string& tool, const Json& arguments, std::stop_token stop);
  /// Ends it for now, as end() does, where its program may write; wake() starts it anew.
  /// @return  whether it ran
  bool rest(Client::Deadline deadline);
  bool rests() const noexcept { return rests_; }
  /// @throws ServerError  it is not there any more, then, or not as it was pinned
  void wake(std::stop_token stop);
  /// In the polite way, by force at the deadline.
  void end(Client::Deadline deadline);

 private:
  Client::Deadline within(std::chrono::milliseconds time) const;
  void begin_life(ServerState state, std::stop_token stop);
  void take_list(std::stop_token stop, Client::Deadline deadline);
  bool restart(const std::string& why, std::stop_token stop);
  void drop(const std::string& why);
  void end_life(Client::Deadline deadline);
  std::string gone() const;

  ServerSettings settings_;
  Connect connect_;
  TimeLeft time_left_;
  std::unique_ptr<ServerLog> log_;  ///< before the client, whose threads tell it things
  std::unique_ptr<Client> client_;
  ToolList tools_;
  int seen_changes_ = 0;  ///< of the list, in this life
  bool changed_ = false;  ///< the list is another one than at the last renew()
  bool usable_ = false;
  bool restarted_ = false;
  bool rests_ = false;
  std::string why_gone_;
};

}  // namespace sortie::mcp
