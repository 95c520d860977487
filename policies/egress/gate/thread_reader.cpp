#include "policies/egress/gate/thread_reader.h"

#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace sortie {
namespace {

/// What /proc calls a socket's protocol: "TCP", "TCPv6", "UNIX-STREAM"; "" for anything else.
std::string protocol_of(const std::string& descriptor) {
  char name[64] = {};
  const ssize_t size = ::getxattr(descriptor.c_str(), "system.sockprotoname", name, sizeof name);
  return size > 0 ? std::string(name, ::strnlen(name, static_cast<std::size_t>(size))) : "";
}

SocketKind kind_of(const std::string& descriptor) {
  char target[64] = {};
  if (::readlink(descriptor.c_str(), target, sizeof target - 1) < 0)
    return SocketKind::no_descriptor;
  if (std::strncmp(target, "socket:", 7) != 0) return SocketKind::no_socket;
  const std::string protocol = protocol_of(descriptor);
  if (protocol == "TCP") return SocketKind::tcp4;
  return protocol == "TCPv6" ? SocketKind::tcp6 : SocketKind::other;
}

/// The line "flags:" of proc_pid_fdinfo(5), in octal.
unsigned long flags_of(const std::string& path) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  char text[512] = {};
  if (!file || ::read(file.get(), text, sizeof text - 1) <= 0) return 0;
  const char* const line = std::strstr(text, "flags:");
  return line == nullptr ? 0 : std::strtoul(line + 6, nullptr, 8);
}

}  // namespace

FileAccessAs::FileAccessAs(uid_t uid, gid_t gid) noexcept
    : changed_(uid != ::geteuid() || gid != ::getegid()) {
  if (!changed_) return;
  dumpable_ = ::prctl(PR_GET_DUMPABLE);
  gid_ = static_cast<gid_t>(::setfsgid(gid));
  uid_ = static_cast<uid_t>(::setfsuid(uid));
}

FileAccessAs::~FileAccessAs() {
  if (!changed_) return;
  ::setfsuid(uid_);
  ::setfsgid(gid_);
  // Changing it gives the process the dumpable state that fs.suid_dumpable says.
  ::prctl(PR_SET_DUMPABLE, dumpable_ == 1 ? 1 : 0);
}

ThreadReader::ThreadReader(pid_t thread)
    : folder_("/proc/" + std::to_string(thread)),
      memory_(::open((folder_ + "/mem").c_str(), O_RDONLY | O_CLOEXEC)) {}

int ThreadReader::read_memory(std::uint64_t address, std::size_t size, std::string& bytes) const {
  bytes.assign(size, '\0');
  if (size == 0) return 0;
  const ssize_t count = ::pread(memory_.get(), bytes.data(), size, static_cast<off_t>(address));
  return count == static_cast<ssize_t>(size) ? 0 : EFAULT;
}

SeenDescriptor ThreadReader::descriptor(int number) const {
  const std::string name = std::to_string(number);
  SeenDescriptor seen{.kind = kind_of(folder_ + "/fd/" + name)};
  const unsigned long flags = flags_of(folder_ + "/fdinfo/" + name);
  seen.non_blocking = (flags & O_NONBLOCK) != 0;
  seen.close_on_exec = (flags & O_CLOEXEC) != 0;
  return seen;
}

}  // namespace sortie
