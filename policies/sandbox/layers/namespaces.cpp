#include "policies/sandbox/layers/namespaces.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/process/channel.h"

namespace sortie {
namespace {

constexpr std::uint64_t kCloneIntoCgroup = 0x200000000;  // Linux 5.7

void write_proc(const char* path, const std::string& text) {
  const Fd file(::open(path, O_WRONLY | O_CLOEXEC));
  if (!file || !write_all(file.get(), text))
    throw system_error(std::string("write ") + path, ExitCode::environment);
}

}  // namespace

bool is_admin() noexcept {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[2]{};
  if (::geteuid() != 0 || ::syscall(SYS_capget, &header, data) != 0) return false;
  // Entering a mount namespace takes both (setns(2)).
  constexpr std::uint32_t kWanted = (1u << CAP_SYS_ADMIN) | (1u << CAP_SYS_CHROOT);
  return (data[0].effective & kWanted) == kWanted;
}

bool kernel_is(int major, int minor) noexcept {
  utsname name{};
  int running[2] = {};
  if (::uname(&name) != 0 || std::sscanf(name.release, "%d.%d", &running[0], &running[1]) != 2)
    return false;
  return running[0] > major || (running[0] == major && running[1] >= minor);
}

pid_t clone_process(unsigned long flags, const Fd& group) noexcept {
  if (group) {
    // linux/sched.h, struct clone_args; Debian 12's has it, other systems' may not.
    std::uint64_t arguments[11] = {flags | kCloneIntoCgroup, 0, 0, 0, SIGCHLD};
    arguments[10] = static_cast<std::uint64_t>(group.get());
    const long pid = ::syscall(SYS_clone3, arguments, sizeof arguments);
    // A container's filter may refuse clone3; then the child enters the group itself, at some cost.
    if (pid >= 0 || errno != ENOSYS) return static_cast<pid_t>(pid);
    const pid_t child = clone_process(flags);
    if (child != 0) return child;
    const Fd file(::openat(group.get(), "cgroup.procs", O_WRONLY | O_CLOEXEC));
    if (!file || !write_all(file.get(), "0")) ::_exit(127);
    return 0;
  }
  return static_cast<pid_t>(::syscall(SYS_clone, flags | static_cast<unsigned long>(SIGCHLD),
                                      nullptr, nullptr, nullptr, 0));
}

unsigned long run_namespaces(const SandboxProfile& profile) noexcept {
  unsigned long flags = CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS;
  if (has_own_network(profile) && !profile.may_escalate_network) flags |= CLONE_NEWNET;
  if (!is_admin()) flags |= CLONE_NEWUSER;
  return flags;
}

void map_own_ids(uid_t uid, gid_t gid) {
  // Order and content: user_namespaces(7), "Defining user and group ID mappings".
  write_proc("/proc/self/setgroups", "deny");
  write_proc("/proc/self/uid_map", std::to_string(uid) + ' ' + std::to_string(uid) + " 1\n");
  write_proc("/proc/self/gid_map", std::to_string(gid) + ' ' + std::to_string(gid) + " 1\n");
}

void raise_loopback() {
  const Fd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request{};
  std::strcpy(request.ifr_name, "lo");
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  if (!socket || ::ioctl(socket.get(), SIOCSIFFLAGS, &request) != 0)
    throw system_error("raise the loopback interface", ExitCode::environment);
}

namespace {

/// Runs `become` and then `make` in a child, and returns the descriptor that `make` returned.
Fd made_in_child(const std::function<void()>& become, const std::function<Fd()>& make) {
  Channel channel = make_channel();
  const pid_t child = clone_process(0);
  if (child < 0) throw system_error("clone", ExitCode::environment);
  if (child == 0) {
    try {
      become();
      const Fd made = make();
      ::_exit(send_message(channel.theirs.get(), "made", {made.get()}) ? 0 : 1);
    } catch (const std::exception& error) {
      send_message(channel.theirs.get(), error.what());
      ::_exit(1);
    }
  }
  channel.theirs.reset();
  ChannelMessage answer = receive_message(channel.ours.get(), Wait::yes);
  ::kill(child, SIGKILL);  // it has finished, or hangs
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (answer.descriptors.size() == 1) return std::move(answer.descriptors.front());
  throw Error("network namespace: " + (answer.closed ? "its maker died" : answer.bytes),
              ExitCode::environment);
}

}  // namespace

Fd make_network() {
  const auto become = [] {
    if (::unshare(CLONE_NEWNET) != 0) throw system_error("unshare", ExitCode::environment);
    raise_loopback();
  };
  return made_in_child(become, [] {
    Fd network(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC));
    if (!network) throw system_error("open /proc/self/ns/net", ExitCode::environment);
    return network;
  });
}

Fd made_in_network(const Fd& network, const std::function<Fd()>& make) {
  if (!network) return make();
  const auto become = [&] {
    if (::setns(network.get(), CLONE_NEWNET) != 0)
      throw system_error("setns", ExitCode::environment);
  };
  return made_in_child(become, make);
}

}  // namespace sortie
