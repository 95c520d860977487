#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/fd.h"
#include "policies/egress/gate/connect_request.h"

namespace sortie {

/// A system call of a command that waits for an answer.
struct NotifiedCall {
  std::uint64_t id = 0;
  pid_t thread = 0;
  std::uint64_t arguments[6] = {};
};

/// The supervisor's end of a seccomp filter with user notification (seccomp_unotify(2)).
///
/// poll(2) on it: POLLIN, a call waits; POLLHUP, no process with the filter is left. After closing
/// it, waiting and later calls fail with ENOSYS.
class SeccompListener {
 public:
  explicit SeccompListener(Fd descriptor) noexcept : descriptor_(std::move(descriptor)) {}
  int descriptor() const noexcept { return descriptor_.get(); }

  /// The next waiting call; nothing if its process has died meanwhile. Call it after POLLIN:
  /// without a waiting call it blocks.
  std::optional<NotifiedCall> receive() const;
  /// Whether the call still waits, so that data read from its thread was valid.
  bool is_waiting(const NotifiedCall& call) const;
  /// Replaces the thread's descriptor `number` by a copy of `source`. 0 or the errno.
  int replace_descriptor(const NotifiedCall& call, int source, int number,
                         bool close_on_exec) const;
  /// Makes the call return 0, or -1 with this errno; the kernel never executes it.
  void answer(const NotifiedCall& call, int error) const;

 private:
  Fd descriptor_;
};

/// The commands whose calls are answered, and the proxy that they may reach.
struct GatedCommands {
  std::uint16_t proxy_port = 0;  ///< the port that is redirected to the proxy; no listener is there
  uid_t uid = 0;                 ///< the user that commands run as
  gid_t gid = 0;
};

/// How a connect(2) was answered.
struct AnsweredConnect {
  Fd connection;        ///< for the proxy: the other end of the command's connection
  bool denied = false;  ///< a failed attempt to reach an address
  std::string host;     ///< that address, numeric; "" if it could not be read
  int port = 0;
  std::string reason;
};

/// Answers one connect(2): decides by a copy of its arguments, and if it is for the proxy, replaces
/// the command's descriptor by one end of a new connection. The command may change its memory and
/// descriptors meanwhile: the kernel never reads them for this call.
AnsweredConnect answer_connect(const SeccompListener& listener, const NotifiedCall& call,
                               const GatedCommands& commands);

}  // namespace sortie
