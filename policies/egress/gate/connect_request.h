#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/fd.h"

namespace sortie {

/// While it lives, this thread's access to files and processes is judged as this user's: what lets
/// a root without CAP_SYS_PTRACE, as in a container, look into a command that runs as another user
/// (ptrace(2), "Ptrace access mode checking"). Other threads are not touched.
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

/// What a command's descriptor number stands for.
enum class SocketKind { no_descriptor, no_socket, tcp4, tcp6, other };

/// A command's descriptor as /proc shows it.
struct SeenDescriptor {
  SocketKind kind = SocketKind::no_descriptor;
  bool non_blocking = false;
  bool close_on_exec = false;
};

/// Looks into a thread of a command that is stopped in a system call. What it says holds only if
/// the call still waits afterwards: thread ids are used again.
class ThreadReader {
 public:
  explicit ThreadReader(pid_t thread);
  /// Whether this process may: not with a program that is undumpable (prctl(2)), as a rule.
  bool may_look() const noexcept { return static_cast<bool>(memory_); }
  /// Copies `size` bytes of its memory. @return 0, or EFAULT where they are not all there
  int read_memory(std::uint64_t address, std::size_t size, std::string& bytes) const;
  SeenDescriptor descriptor(int number) const;

 private:
  std::string folder_;  ///< /proc/THREAD
  Fd memory_;
};

/// What a connect(2) of a command comes to. Nothing is ever left to the kernel.
struct ConnectVerdict {
  bool to_proxy = false;
  int error = 0;        ///< what the call answers where it does not lead to the proxy
  bool leaves = false;  ///< it was an attempt to reach an address: for the record
  std::string host;     ///< of such an attempt: the address in numbers
  int port = 0;
};

/// Judges a call by the one copy of its arguments that was made, as the kernel would judge a wrong
/// one. The proxy stands at 127.0.0.1 (also as ::1 or ::ffff:127.0.0.1 of an IPv6 socket) at
/// `proxy_port`; nothing else is reachable: ECONNREFUSED on the machine itself, else ENETUNREACH,
/// which is what a network namespace with a proxy and nothing else answers.
///
/// @param address  the bytes of the socket address, as many as the call said
ConnectVerdict judge_connect(SocketKind socket, std::string_view address, std::uint16_t proxy_port);

}  // namespace sortie
