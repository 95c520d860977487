#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "core/base/fd.h"

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

}  // namespace sortie
