#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/fd.h"

namespace sortie {

/// While it lives, this thread accesses files and processes as this user: so root without
/// CAP_SYS_PTRACE, as in a container, can inspect a command that runs as another user (ptrace(2),
/// "Ptrace access mode checking"). Other threads are not affected.
class FileAccessAs {
 public:
  FileAccessAs(uid_t uid, gid_t gid) noexcept;
  FileAccessAs(const FileAccessAs&) = delete;
  FileAccessAs& operator=(const FileAccessAs&) = delete;
  ~FileAccessAs();

 private:
  bool changed_;
  uid_t uid_ = 0;
  gid_t gid_ = 0;
  int dumpable_ = 0;
};

/// The kind of a command's descriptor.
enum class SocketKind { no_descriptor, no_socket, tcp4, tcp6, other };

/// A command's descriptor as /proc shows it.
struct SeenDescriptor {
  SocketKind kind = SocketKind::no_descriptor;
  bool non_blocking = false;
  bool close_on_exec = false;
};

/// Reads the state of a command's thread that is stopped in a system call. Its results are valid
/// only if the call still waits afterwards: thread ids are reused.
class ThreadReader {
 public:
  explicit ThreadReader(pid_t thread);
  /// Whether this process may inspect it: usually not an undumpable program (prctl(2)).
  bool may_look() const noexcept { return static_cast<bool>(memory_); }
  /// Copies `size` bytes of its memory. @return 0, or EFAULT if some are not mapped
  int read_memory(std::uint64_t address, std::size_t size, std::string& bytes) const;
  SeenDescriptor descriptor(int number) const;

 private:
  std::string folder_;  ///< /proc/THREAD
  Fd memory_;
};

/// The answer to a connect(2) of a command. The kernel never executes it.
struct ConnectVerdict {
  bool to_proxy = false;
  int error = 0;        ///< errno for a call that is not to the proxy
  bool leaves = false;  ///< an attempt to reach an address, which is recorded
  std::string host;     ///< that address, numeric
  int port = 0;
};

/// Decides a call by the one copy of its arguments; invalid ones get the kernel's errors. The proxy
/// is at 127.0.0.1 (also ::1 or ::ffff:127.0.0.1 for an IPv6 socket) at `proxy_port`; nothing else
/// is reachable: ECONNREFUSED on the machine itself, else ENETUNREACH, as in a network namespace
/// with only a proxy.
///
/// @param address  the bytes of the socket address, with the call's length
ConnectVerdict judge_connect(SocketKind socket, std::string_view address, std::uint16_t proxy_port);

}  // namespace sortie
