#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "tools/mcp/transport/transport.h"

namespace sortie::mcp {

/// The supported protocol versions, newest first.
const std::vector<std::string>& protocol_versions();

/// Why a request has no result.
class RequestError : public std::runtime_error {
 public:
  enum class Kind {
    refused,    ///< the server answered with an error
    bad_reply,  ///< the answer is not valid by the protocol
    timed_out,  ///< it was cancelled at the server
    stopped,    ///< cancelled by a stop request
    failed,     ///< the transport could not deliver it, or its reply
    lost,       ///< the connection is over
  };
  RequestError(Kind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

/// A server's description of itself.
struct ServerIdentity {
  std::string protocol_version{};
  std::string name{};
  std::string version{};
  std::string instructions{};
  bool has_tools = false;
  bool has_logging = false;
};

struct ClientOptions {
  std::string root_uri{};   ///< the workspace, as the server sees it; "" for none
  std::string root_name{};  ///< name of the workspace, for display
};

/// Receives what a server sends apart from its replies; called from the transport's threads.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void remarked(const Remark& remark) = 0;
};

/// The client side of the Model Context Protocol with one server: handshake, list of tools, calls
/// and their cancellation, and answers to the server's requests.
///
/// It offers roots (the workspace) and answers pings. Sampling and elicitation are refused, since
/// no user is present.
class Client : private Receiver {
 public:
  using Deadline = Transport::Deadline;

  /// @param listener  outlives the client
  Client(std::unique_ptr<Transport> transport, Listener& listener, ClientOptions options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() override;

  /// Opens the transport and negotiates the version. Call once, before anything else.
  /// @throws RequestError
  ServerIdentity connect(Deadline deadline, std::stop_token stop);
  /// All pages of tools/list: each tool as the server describes it, an object with a name.
  /// @throws RequestError  bad_reply also if the pages don't end, or are too large
  std::vector<Json> list_tools(Deadline deadline, std::stop_token stop);
  /// The result of tools/call, an object. A call without a timely answer is cancelled.
  /// @throws RequestError
  Json call_tool(const std::string& name, const Json& arguments, Deadline deadline,
                 std::stop_token stop);
  /// @throws RequestError
  void ping(Deadline deadline, std::stop_token stop);

  /// How often the server has announced a change of its tool list.
  int list_changes() const noexcept { return list_changes_; }
  /// Why the connection was lost; nothing while it is up.
  std::optional<std::string> lost() const;
  /// Ends the session: gracefully, by force at the deadline.
  void close(Deadline deadline);

 private:
  struct Pending {
    std::optional<Message> reply{};
    std::string failure{};   ///< why there will be no reply
    std::string progress{};  ///< the server's last progress message
  };
  using PendingMap = std::map<std::int64_t, Pending>;

  Json ask(const std::string& method, Json params, Deadline deadline, std::stop_token stop);
  Json take_result(const std::string& method, Pending pending) const;
  PendingMap::iterator find_pending(const Message& reply);
  [[noreturn]] void cancel(std::int64_t id, const std::string& method, bool stopped,
                           const std::string& progress);
  void send_quietly(const Message& message);
  ServerIdentity read_identity(const Json& result) const;
  void answer(const Message& request);
  void on_reply(Message reply);
  void on_notification(const Message& notification);
  void on_progress(const Json& params);

  void received(Message message) override;
  void failed(const Json& id, const std::string& why) override;
  void closed(const std::string& why) override;
  void remarked(const Remark& remark) override;

  Listener& listener_;
  ClientOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  PendingMap pending_;
  std::set<std::int64_t> cancelled_;  ///< requests whose late replies are expected
  std::int64_t next_id_ = 1;
  bool sent_other_ = false;  ///< a message without a reply was sent since the last reply
  std::optional<std::string> lost_;
  std::atomic<int> list_changes_ = 0;
  std::unique_ptr<Transport> transport_;  ///< last, so that it is destroyed before what it calls
};

}  // namespace sortie::mcp
