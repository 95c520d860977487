#include "policies/egress/peer.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

#include "core/base/error.h"

namespace sortie {
namespace {

/// Whether the call only has to be repeated later; any other error is a failure.
bool is_later(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

}  // namespace

Peer::Peer(Fd socket) : socket_(std::move(socket)) {
  const int flags = ::fcntl(socket_.get(), F_GETFL);
  ::fcntl(socket_.get(), F_SETFL, flags | O_NONBLOCK);
  const int on = 1;
  // Fails on sockets other than TCP, which have no such delay.
  ::setsockopt(socket_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

bool Peer::read_into(ByteQueue& queue) {
  std::string& tail = queue.tail();
  const std::size_t before = tail.size();
  tail.resize(before + kQueueBytes);
  const ssize_t count = ::recv(socket_.get(), tail.data() + before, kQueueBytes, 0);
  const int error = errno;
  tail.resize(before + static_cast<std::size_t>(count > 0 ? count : 0));
  if (count > 0) {
    read_bytes_ += static_cast<std::uint64_t>(count);
    return true;
  }
  if (count < 0 && is_later(error)) return false;
  read_ended_ = true;
  read_failed_ = count < 0;
  return true;
}

bool Peer::write_from(ByteQueue& queue) {
  if (queue.empty() || !socket_ || write_failed_ || write_ended_) return false;
  const auto bytes = queue.bytes();
  const ssize_t count = ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (count > 0) {
    written_bytes_ += static_cast<std::uint64_t>(count);
    queue.drop(static_cast<std::size_t>(count));
    return true;
  }
  if (count < 0 && is_later(errno)) return false;
  write_failed_ = true;
  return true;
}

void Peer::end_writing() {
  if (!write_ended_ && socket_) ::shutdown(socket_.get(), SHUT_WR);
  write_ended_ = true;
}

void Peer::abort() {
  const linger at_once{1, 0};
  if (socket_) ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  socket_.reset();
}

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
