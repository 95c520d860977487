#pragma once

#include <chrono>
#include <stdexcept>
#include <stop_token>
#include <string>

#include "core/json/json.h"
#include "tools/mcp/transport/json_rpc.h"

namespace sortie::mcp {

/// The connection to a server failed; one sentence says why.
class TransportError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An observation apart from the messages, for the transcript; not yet redacted.
struct Remark {
  enum class Kind {
    stderr_text,  ///< stderr of a stdio server, in whole lines if possible
    log,          ///< the server's notifications/message
    bad_message,  ///< an invalid message was skipped
    warning,      ///< reconnected, a limit was met, …
  };
  Kind kind = Kind::warning;
  std::string text{};
};

/// Receives what a server sends. Called from the transport's threads, one call at a time, in the
/// order of arrival. Calls must not block; they may call Transport::send(), but not close().
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual void received(Message message) = 0;
  /// There will be no reply to this request, though the connection still works. (HTTP: the POST was
  /// refused, or its stream ended and could not be resumed.)
  virtual void failed(const Json& id, const std::string& why) = 0;
  /// The connection is closed, with the reason. Always the last call, also after close(); open
  /// requests get no reply.
  virtual void closed(const std::string& why) = 0;
  virtual void remarked(const Remark& remark) = 0;
};

/// The connection to one server; open() starts it. Messages that are too long or malformed are
/// remarked and skipped, or close the connection if the transport can't continue.
///
/// Thread-safe, but open() must be called once and first.
class Transport {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  /// Ends the connection at once. The receiver is not called after it returns.
  virtual ~Transport() = default;
  /// Starts the process, or prepares to connect (HTTP connects with the first message). The
  /// receiver outlives the transport.
  /// @throws TransportError  nothing was started; Receiver::closed() is not called
  virtual void open(Receiver& receiver, Deadline deadline, std::stop_token stop) = 0;
  /// Queues a message and returns at once. Later failures are reported by Receiver::failed() or
  /// closed().
  /// @throws TransportError  the connection is closed, or the queue is full
  virtual void send(const Message& message) = 0;
  /// Sets the version that `initialize` agreed on ("2025-06-18"), before the next message: HTTP
  /// sends it as a header from then on.
  virtual void agree(const std::string& /*protocol_version*/) {}
  /// The caller no longer waits for the reply to this request: its resources may be freed. This
  /// does not send a cancellation.
  virtual void abandon(const Json& /*id*/) {}
  /// Ends the session gracefully (stdio: stdin closed, SIGTERM, kill; HTTP: DELETE), by force at
  /// the deadline. Returns when it has ended; does nothing if it already has. Never throws.
  virtual void close(Deadline deadline) = 0;
};

}  // namespace sortie::mcp
