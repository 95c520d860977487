#include "core/process/channel.h"

#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/base/error.h"

namespace sortie {
namespace {

constexpr std::size_t kMaxDescriptors = 8;
constexpr std::size_t kMaxMessage = 64 * 1024;
/// How long to wait for the other end, which is a process of sortie and answers at once.
constexpr timeval kLongestWait{120, 0};

}  // namespace

Channel make_channel() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    throw system_error("socketpair");
  Channel channel{Fd(ends[0]), Fd(ends[1])};
  for (const Fd* end : {&channel.ours, &channel.theirs}) {
    ::setsockopt(end->get(), SOL_SOCKET, SO_SNDTIMEO, &kLongestWait, sizeof kLongestWait);
    ::setsockopt(end->get(), SOL_SOCKET, SO_RCVTIMEO, &kLongestWait, sizeof kLongestWait);
  }
  return channel;
}

bool send_message(int socket, std::string_view bytes, const std::vector<int>& descriptors) {
  if (descriptors.size() > kMaxDescriptors) {
    errno = EINVAL;
    return false;
  }
  iovec part{const_cast<char*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxDescriptors)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    const std::size_t size = sizeof(int) * descriptors.size();
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(size);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(header), descriptors.data(), size);
  }
  ssize_t sent = 0;
  do sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(bytes.size());
}

int send_descriptor(int socket, int descriptor) noexcept {
  char byte = 0;
  iovec part{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  ssize_t sent = 0;
  do sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == 1 ? 0 : errno;
}

ChannelMessage receive_message(int socket, Wait wait) {
  ChannelMessage result;
  result.bytes.resize(kMaxMessage);
  iovec part{result.bytes.data(), result.bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * kMaxDescriptors)> control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t count = 0;
  // The other end that closes with a message of ours unread resets the connection: that is said once,
  // before what it sent us first (unix(7), ECONNRESET).
  do count = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC | (wait == Wait::no ? MSG_DONTWAIT : 0));
  while (count < 0 && (errno == EINTR || errno == ECONNRESET));
  // A message that does not arrive in time counts as a closed channel (SO_RCVTIMEO, socket(7)).
  result.closed = count == 0 || (count < 0 && (wait == Wait::yes || errno != EAGAIN));
  result.bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  if (count < 0) return result;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
       header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t number = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < number; ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(header) + i * sizeof(int), sizeof(int));
      result.descriptors.emplace_back(descriptor);
    }
  }
  return result;
}

}  // namespace sortie
