#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "tools/mcp/transport/http_session.h"

namespace sortie::mcp {

struct HttpExchangeLimits {
  std::chrono::milliseconds connect{std::chrono::seconds(10)};
  /// For a request until its reply, retries included, independent of the caller's deadline.
  std::chrono::milliseconds request{std::chrono::hours(25)};
  /// For a message without a reply.
  std::chrono::milliseconds notification{std::chrono::seconds(10)};
  /// Delay before a broken stream is resumed, unless the server names one.
  std::chrono::milliseconds retry{std::chrono::seconds(1)};
  /// Minimum delay, whatever the server says.
  std::chrono::milliseconds shortest_retry{100};
  /// Consecutive attempts without anything new before giving up.
  int retries = 5;
  HttpReplyLimits reply{};
};

/// How the delivery of a message ended.
struct HttpDelivery {
  enum class Ending {
    done,          ///< accepted; for a request, the reply has arrived
    failed,        ///< this message only: the next one may succeed
    session_lost,  ///< the server does not know the session: a new one is needed
    stopped,
  };
  Ending ending = Ending::done;
  std::string why{};
};

/// Receives the messages of an exchange; the reply is the last.
struct HttpMessages {
  std::function<void(Message)> received;
  std::function<void(const std::string&)> bad;
};

/// Sends a request and reads until its reply has arrived. A stream that breaks earlier is resumed
/// (by GET with Last-Event-ID) if the server numbers its events.
HttpDelivery deliver_request(HttpSession& session, const Message& request,
                             const HttpExchangeLimits& limits, const HttpMessages& messages,
                             std::stop_token stop);

/// Sends a notification or a reply.
/// @param limit  for the whole exchange
HttpDelivery deliver_notice(HttpSession& session, const Message& message,
                            const HttpExchangeLimits& limits, std::chrono::milliseconds limit,
                            const HttpMessages& messages, std::stop_token stop);

/// Reads the server's own messages from a separate stream, until the server ends it, it breaks
/// repeatedly, or a stop.
/// @return  done if the server offers no such stream (405), else why it ended
HttpDelivery listen(HttpSession& session, const HttpExchangeLimits& limits,
                    const HttpMessages& messages, std::stop_token stop);

}  // namespace sortie::mcp
