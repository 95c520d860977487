#pragma once

#include <chrono>
#include <functional>
#include <stop_token>
#include <string>

#include "tools/mcp/transport/http_session.h"

namespace sortie::mcp {

struct HttpExchangeLimits {
  std::chrono::milliseconds connect{std::chrono::seconds(10)};
  /// Of a request with all that is done to get its reply, whatever whoever waits for it says.
  std::chrono::milliseconds request{std::chrono::hours(25)};
  /// Of a message that has no reply.
  std::chrono::milliseconds notification{std::chrono::seconds(10)};
  /// Before a stream is taken up again, where the server says nothing of it.
  std::chrono::milliseconds retry{std::chrono::seconds(1)};
  /// At least this long, whatever the server says.
  std::chrono::milliseconds shortest_retry{100};
  /// Tries in a row that bring nothing new; then it is given up.
  int retries = 5;
  HttpReplyLimits reply{};
};

/// How the delivery of a message ended.
struct HttpDelivery {
  enum class Ending {
    done,          ///< taken; of a request: the reply has come
    failed,        ///< and the next may be taken all the same
    session_lost,  ///< the server knows the session no more: a new one has to be begun
    stopped,
  };
  Ending ending = Ending::done;
  std::string why{};
};

/// Gets what comes meanwhile, of which the reply is the last.
struct HttpMessages {
  std::function<void(Message)> received;
  std::function<void(const std::string&)> bad;
};

/// Sends a request and reads until its reply has come. A stream that breaks before is taken up
/// again where the server has numbered its events (by GET with Last-Event-ID).
HttpDelivery deliver_request(HttpSession& session, const Message& request,
                             const HttpExchangeLimits& limits, const HttpMessages& messages,
                             std::stop_token stop);

/// Sends a notification, or a reply of ours.
/// @param limit  of it all
HttpDelivery deliver_notice(HttpSession& session, const Message& message,
                            const HttpExchangeLimits& limits, std::chrono::milliseconds limit,
                            const HttpMessages& messages, std::stop_token stop);

/// Reads what the server sends unasked, on a stream of its own, until it offers none, the stream
/// breaks again and again, or a stop.
/// @return  done where the server has none (405), else why it ended
HttpDelivery listen(HttpSession& session, const HttpExchangeLimits& limits,
                    const HttpMessages& messages, std::stop_token stop);

}  // namespace sortie::mcp
