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

/// The versions of the protocol that are spoken, the newest first.
const std::vector<std::string>& protocol_versions();

/// Why a request has no result.
class RequestError : public std::runtime_error {
 public:
  enum class Kind {
    refused,    ///< the server answered with an error
    bad_reply,  ///< with something that the protocol does not have
    timed_out,  ///< it was cancelled at the server
    stopped,    ///< by a stop request; likewise
    failed,     ///< the transport could not deliver it, or its reply
    lost,       ///< the connection is over
  };
  RequestError(Kind kind, const std::string& what) : std::runtime_error(what), kind_(kind) {}
  Kind kind() const noexcept { return kind_; }

 private:
  Kind kind_;
};

/// What a server says of itself.
struct ServerIdentity {
  std::string protocol_version{};
  std::string name{};
  std::string version{};
  std::string instructions{};
  bool has_tools = false;
  bool has_logging = false;
};

struct ClientOptions {
  std::string root_uri{};   ///< of the workspace, as the server sees it; "" for none
  std::string root_name{};  ///< for people
};

/// Who hears what a server says beside its replies; called from the transport's threads.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void remarked(const Remark& remark) = 0;
};

/// The client's side of the Model Context Protocol with one server: the handshake, the list of
/// tools, calls with their cancellation, and the answers to what a server may ask.
///
/// It offers roots (the workspace) and answers pings; sampling and elicitation are refused, since
/// nobody is there to be asked.
class Client : private Receiver {
 public:
  using Deadline = Transport::Deadline;

  /// @param listener  outlives the client
  Client(std::unique_ptr<Transport> transport, Listener& listener, ClientOptions options);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() override;

  /// Opens the transport and agrees on a version. Once, and before anything else.
  /// @throws RequestError
  ServerIdentity connect(Deadline deadline, std::stop_token stop);
  /// All pages of tools/list: each tool as the server describes it, an object with a name.
  /// @throws RequestError  bad_reply also where there is no end to the pages, or too much in them
  std::vector<Json> list_tools(Deadline deadline, std::stop_token stop);
  /// The result of tools/call, an object. A call that is not answered in time is cancelled.
  /// @throws RequestError
  Json call_tool(const std::string& name, const Json& arguments, Deadline deadline,
                 std::stop_token stop);
  /// @throws RequestError
  void ping(Deadline deadline, std::stop_token stop);

  /// How often the server has said that its list of tools is another one now.
  int list_changes() const noexcept { return list_changes_; }
  /// Why the connection is over; nothing while it is not.
  std::optional<std::string> lost() const;
  /// Ends the session in the polite way, by force at the deadline.
  void close(Deadline deadline);

 private:
  struct Pending {
    std::optional<Message> reply{};
    std::string failure{};   ///< why there will be none
    std::string progress{};  ///< the last that the server told of it
  };
  using PendingMap = std::map<std::int64_t, Pending>;

  Json ask(const std::string& method, Json params, Deadline deadline, std::stop_token stop);
  Json take_result(const std::string& method, Pending pending) const;
  PendingMap::iterator find_pending(const Message& reply);
  [[noreturn]] void give_up(std::int64_t id, const std::string& method, bool stopped,
                            const std::string& progress);
  void tell(const Message& message);
  ServerIdentity read_identity(const Json& result) const;
  void answer(const Message& request);
  void take_reply(Message reply);
  void take_notification(const Message& notification);
  void take_progress(const Json& params);

  void received(Message message) override;
  void failed(const Json& id, const std::string& why) override;
  void closed(const std::string& why) override;
  void remarked(const Remark& remark) override;

  Listener& listener_;
  ClientOptions options_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  PendingMap pending_;
  std::set<std::int64_t> given_up_;  ///< whose late replies are no surprise
  std::int64_t next_id_ = 1;
  bool told_ = false;  ///< what has no reply, since the last one came
  std::optional<std::string> lost_;
  std::atomic<int> list_changes_ = 0;
  std::unique_ptr<Transport> transport_;  ///< last, so that it is gone before what it calls
};

}  // namespace sortie::mcp
