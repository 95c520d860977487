#include "policies/egress/peer.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

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

}  // namespace sortie
