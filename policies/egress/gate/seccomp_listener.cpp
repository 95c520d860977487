#include "policies/egress/gate/seccomp_listener.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace sortie {

std::optional<NotifiedCall> SeccompListener::receive() const {
  // All zero, and with room to spare: a later kernel may have a longer structure.
  union {
    seccomp_notif call;
    unsigned char room[1024];
  } buffer{.room = {}};
  while (::ioctl(descriptor_.get(), SECCOMP_IOCTL_NOTIF_RECV, &buffer) != 0) {
    if (errno != EINTR) return std::nullopt;
  }
  NotifiedCall call{.id = buffer.call.id, .thread = static_cast<pid_t>(buffer.call.pid)};
  std::copy(std::begin(buffer.call.data.args), std::end(buffer.call.data.args), call.arguments);
  return call;
}

bool SeccompListener::is_waiting(const NotifiedCall& call) const {
  return ::ioctl(descriptor_.get(), SECCOMP_IOCTL_NOTIF_ID_VALID, &call.id) == 0;
}

int SeccompListener::replace_descriptor(const NotifiedCall& call, int source, int number,
                                        bool close_on_exec) const {
  seccomp_notif_addfd add{};
  add.id = call.id;
  add.flags = SECCOMP_ADDFD_FLAG_SETFD;
  add.srcfd = static_cast<std::uint32_t>(source);
  add.newfd = static_cast<std::uint32_t>(number);
  add.newfd_flags = close_on_exec ? O_CLOEXEC : 0;
  return ::ioctl(descriptor_.get(), SECCOMP_IOCTL_NOTIF_ADDFD, &add) >= 0 ? 0 : errno;
}

void SeccompListener::answer(const NotifiedCall& call, int error) const {
  union {
    seccomp_notif_resp answer;
    unsigned char room[1024];
  } buffer{.room = {}};
  buffer.answer.id = call.id;
  buffer.answer.error = -error;
  // Fails where the process has died: then nobody waits.
  static_cast<void>(::ioctl(descriptor_.get(), SECCOMP_IOCTL_NOTIF_SEND, &buffer));
}

}  // namespace sortie
