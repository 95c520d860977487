#include "policies/egress/connector.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "core/base/error.h"

namespace sortie {

Connector::Connector(std::vector<IpAddress> addresses, std::uint16_t port, Time deadline)
    : addresses_(std::move(addresses)), port_(port), deadline_(deadline), next_time_(deadline) {}

/// Starts connecting to the current address. False if it failed at once.
bool Connector::start(Time now) {
  const auto left = addresses_.size() - place_;
  next_time_ = now + (deadline_ - now) / static_cast<std::int64_t>(left);
  sockaddr_storage to;
  const IpAddress& address = addresses_[place_];
  const socklen_t length = fill_socket_address(address, port_, to);
  socket_ = Fd(::socket(to.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket_ && (::connect(socket_.get(), reinterpret_cast<sockaddr*>(&to), length) == 0 ||
                  errno == EINPROGRESS))
    return true;
  problem_ = errno_text(errno);
  timed_out_ = false;
  return false;
}

Connector::Outcome Connector::advance(Time now) {
  while (place_ < addresses_.size()) {
    if (!socket_) {
      if (now >= deadline_) {
        timed_out_ = true;
        return Outcome::failed;
      }
      if (start(now)) continue;
    } else {
      pollfd ready{socket_.get(), POLLOUT, 0};
      if (::poll(&ready, 1, 0) > 0) {
        int error = 0;
        socklen_t length = sizeof error;
        ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &error, &length);
        if (error == 0) return Outcome::connected;
        problem_ = errno_text(error);
        timed_out_ = error == ETIMEDOUT;
      } else if (now < next_time_) {
        return Outcome::pending;
      } else {
        problem_ = "it does not answer";
        timed_out_ = true;
      }
    }
    socket_.reset();
    ++place_;
  }
  return Outcome::failed;
}

}  // namespace sortie
