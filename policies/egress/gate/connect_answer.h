#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

#include "core/base/fd.h"
#include "policies/egress/gate/connect_request.h"

namespace sortie {

/// One system call of a command that waits for an answer.
struct NotifiedCall {
  std::uint64_t id = 0;
  pid_t thread = 0;
  std::uint64_t arguments[6] = {};
};

/// The supervisor's end of a seccomp filter that puts system calls before it (seccomp_unotify(2)).
///
/// poll(2) on it: POLLIN, a call waits; POLLHUP, no process is left behind the filter. Closing it
/// answers whatever waits, and all that comes later, with ENOSYS.
class SeccompListener {
 public:
  explicit SeccompListener(Fd descriptor) noexcept : descriptor_(std::move(descriptor)) {}
  int descriptor() const noexcept { return descriptor_.get(); }

  /// The next call that waits; nothing where its process has died meanwhile. Call it after
  /// POLLIN: without a call it blocks.
  std::optional<NotifiedCall> receive() const;
  /// Whether the call still waits, so that what was read of its thread until now was its own.
  bool is_waiting(const NotifiedCall& call) const;
  /// Puts a copy of `source` in the place of the thread's descriptor `number`. 0 or the errno.
  int replace_descriptor(const NotifiedCall& call, int source, int number,
                         bool close_on_exec) const;
  /// The call returns 0, or -1 with this errno; the kernel never does it itself.
  void answer(const NotifiedCall& call, int error) const;

 private:
  Fd descriptor_;
};

/// Whose calls are answered, and what they may reach.
struct GatedCommands {
  std::uint16_t proxy_port = 0;  ///< of the address that stands for the proxy; nobody listens there
  uid_t uid = 0;                 ///< what the commands run as
  gid_t gid = 0;
};

/// What was answered.
struct AnsweredConnect {
  Fd connection;        ///< where it led to the proxy: the other end of what the command got
  bool denied = false;  ///< an attempt to reach something that did not succeed
  std::string host;     ///< of it: the address in numbers, "" where it could not be read
  int port = 0;
  std::string reason;
};

/// Answers one connect(2): decides by a copy of its arguments, and where it leads to the proxy puts
/// one end of a new connection in the place of the command's descriptor. The command may change its
/// memory and its descriptors meanwhile: the kernel never looks at them for this call.
AnsweredConnect answer_connect(const SeccompListener& listener, const NotifiedCall& call,
                               const GatedCommands& commands);

}  // namespace sortie
