#pragma once

#include <chrono>
#include <stdexcept>
#include <stop_token>
#include <string>

#include "core/json/json.h"
#include "tools/mcp/transport/json_rpc.h"

namespace sortie::mcp {

/// The way to a server does not work, or not any more; one sentence that says why.
class TransportError : public std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What happened beside the messages, for the transcript; not yet redacted.
struct Remark {
  enum class Kind {
    stderr_text,  ///< what a stdio server wrote to stderr, whole lines where there are any
    log,          ///< what the server said by notifications/message
    bad_message,  ///< something came that is no message; it was passed over
    warning,      ///< reconnected, a limit was met, …
  };
  Kind kind = Kind::warning;
  std::string text{};
};

/// Who gets what comes from a server. The calls come from the transport's own threads, one at a
/// time and in the order in which things came; Transport::send() may be called from within, close()
/// may not. They are quick: nobody waits in them.
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual void received(Message message) = 0;
  /// The reply to this request of ours can't come any more, though the connection is still good.
  /// (HTTP: its POST was refused, or its stream ended and could not be taken up again.)
  virtual void failed(const Json& id, const std::string& why) = 0;
  /// The connection is over, and why. The last call: nothing comes after it, and requests that are
  /// still open have no reply. Comes once, also where close() was the cause.
  virtual void closed(const std::string& why) = 0;
  virtual void remarked(const Remark& remark) = 0;
};

/// The way to one server. Made by its constructor without effect; open() starts it. Messages that
/// are too long or malformed are remarked and passed over, or close the connection where the
/// transport can't go on behind them.
///
/// Methods may be called from several threads, but open() once and first.
class Transport {
 public:
  using Deadline = std::chrono::steady_clock::time_point;

  /// Ends what is left at once. No call to the receiver comes after it has returned.
  virtual ~Transport() = default;
  /// Starts the process, or makes ready to connect (HTTP connects with the first message). The
  /// receiver outlives the transport.
  /// @throws TransportError  nothing was started; Receiver::closed() is not called
  virtual void open(Receiver& receiver, Deadline deadline, std::stop_token stop) = 0;
  /// Takes a message for delivery and returns at once: delivering, and waiting for the answer, is
  /// the transport's own business. What fails later is told by Receiver::failed() or closed().
  /// @throws TransportError  the connection is over, or too much is waiting to be delivered
  virtual void send(const Message& message) = 0;
  /// What `initialize` agreed on ("2025-06-18"), before the first message after it: HTTP sends it
  /// as a header from then on.
  virtual void agree(const std::string& /*protocol_version*/) {}
  /// The caller waits no longer for the reply to this request: resources that only serve it may be
  /// let go. That it is cancelled is a message of its own.
  virtual void abandon(const Json& /*id*/) {}
  /// Ends the session in the polite way (stdio: stdin closed, SIGTERM, kill; HTTP: DELETE), by
  /// force at the deadline. Returns when it is over; nothing by being over already. Never throws.
  virtual void close(Deadline deadline) = 0;
};

}  // namespace sortie::mcp
