#include "policies/sandbox/keeper/keeper_service.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/process/channel.h"
#include "policies/environment/environment.h"
#include "policies/sandbox/keeper/keeper_messages.h"
#include "policies/sandbox/keeper/profile_message.h"
#include "policies/sandbox/layers/layers.h"
#include "policies/sandbox/layers/namespaces.h"
#include "policies/sandbox/view/view.h"

namespace sortie {
namespace {

/// Moves the descriptors to 3 and what follows, and closes all others; 0, 1 and 2 become /dev/null.
void keep_only(const std::vector<Fd*>& kept) {
  // First move them to free numbers.
  for (Fd* const one : kept) {
    const int high = ::fcntl(one->get(), F_DUPFD_CLOEXEC, 100);
    if (high < 0) throw system_error("dup", ExitCode::environment);
    *one = Fd(high);
  }
  int next = 3;
  for (Fd* const one : kept) {
    if (::dup3(one->get(), next, O_CLOEXEC) < 0) throw system_error("dup3", ExitCode::environment);
    *one = Fd(next++);
  }
  ::syscall(SYS_close_range, static_cast<unsigned>(next), ~0u, 0u);
  const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int standard = 0; standard <= 2; ++standard) ::dup2(null.get(), standard);
}

/// A part of this process's memory.
struct Block {
  char* begin = nullptr;
  std::size_t size = 0;
};

/// The part whose first and last address are two fields of proc(5) stat.
/// @param number  the first one's
Block block_of_stat(int number) {
  const Fd file(::open("/proc/self/stat", O_RDONLY | O_CLOEXEC));
  char text[2048] = {};
  if (!file || ::read(file.get(), text, sizeof text - 1) <= 0) return {};
  const char* at = std::strrchr(text, ')');
  for (int field = 2; at != nullptr && field < number; ++field) at = std::strchr(at + 1, ' ');
  if (at == nullptr) return {};
  char* rest = nullptr;
  const std::uintptr_t begin = std::strtoull(at + 1, &rest, 10);
  const std::uintptr_t end = std::strtoull(rest, nullptr, 10);
  if (begin == 0 || begin >= end) return {};
  return {reinterpret_cast<char*>(begin), end - begin};
}

/// Overwrites what /proc/PID/cmdline shows: variables and the names of key files are in it, and
/// commands can read it, since the keeper is process 1 of what they see.
void wipe_command_line() {
  constexpr std::string_view kTitle = "sortie: keeper";
  const Block line = block_of_stat(48);
  if (line.size == 0) return;
  ::explicit_bzero(line.begin, line.size);
  std::memcpy(line.begin, kTitle.data(), std::min(kTitle.size(), line.size - 1));
}

/// Overwrites the environment, in /proc/PID/environ and in this process: it contains keys.
void wipe_environment() {
  for (char** variable = ::environ; variable != nullptr && *variable != nullptr; ++variable)
    ::explicit_bzero(*variable, std::strlen(*variable));
  static char* none[] = {nullptr};
  ::environ = none;
  // Variables that were unset or replaced are still in the block.
  const Block block = block_of_stat(50);
  if (block.size > 0) ::explicit_bzero(block.begin, block.size);
}

/// Makes the machine's out-of-memory killer prefer the commands, which inherit this setting, to the
/// user's other processes. The keeper is the smallest of them.
void offer_to_be_killed() {
  const Fd file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file) static_cast<void>(write_all(file.get(), "800"));
}

/// Detaches the keeper from its parent's session, signals, descriptors (except its socket, which
/// moves to 3) and environment; sets up the namespaces it was cloned into.
/// @throws Error
void detach_keeper(KeeperStart& start) {
  ::prctl(PR_SET_NAME, "sortie-keeper");
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  // For the commands, which inherit them: an ignored signal stays so at exec(2).
  for (int number = 1; number < NSIG; ++number)
    if (number != SIGKILL && number != SIGSTOP) ::signal(number, SIG_DFL);
  ::setsid();
  std::vector<Fd*> kept = {&start.socket};
  if (start.group) kept.push_back(&start.group);
  keep_only(kept);
  wipe_environment();
  wipe_command_line();
  // The files of an undumpable process belong to root: its maps could not be written.
  ::prctl(PR_SET_DUMPABLE, 1);
  if ((start.new_namespaces & CLONE_NEWUSER) != 0) map_own_ids(start.uid, start.gid);
  offer_to_be_killed();
  ::prctl(PR_SET_DUMPABLE, 0);
  if (start.profile.use_namespaces) {
    // All processes of the namespace die with process 1. Without a PID namespace the keeper has to
    // stay alive, to kill them when the socket closes.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if ((start.new_namespaces & CLONE_NEWNET) != 0) {
      raise_loopback();
    } else if (has_own_network(start.profile)) {
      start.network = make_network();
    }
  } else {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
}

/// Limits a fork bomb between two samples by the PID namespace's own pid_max, if the kernel has one
/// (Linux 6.14).
void bound_process_ids(const PolicyLimits& limits) {
  // Before that release, this would change the machine's limit.
  if (limits.processes <= 0 || !kernel_is(6, 14)) return;
  const Fd file(::open("/proc/sys/kernel/pid_max", O_WRONLY | O_CLOEXEC));
  const std::string number = std::to_string(most_tasks(limits));
  // Sampling enforces the limit; this is only an addition.
  if (file) static_cast<void>(write_all(file.get(), number));
}

/// A TCP listener at kProxyAddress and kProxyPort of the network namespace that the caller is in.
/// Without SO_REUSEADDR and SO_REUSEPORT, no other socket can bind to that port while it lives, not
/// even with a wildcard address (socket(7), ip(7)). @throws Error
Fd listen_for_proxy() {
  Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kProxyPort);
  ::inet_pton(AF_INET, kProxyAddress, &address.sin_addr);
  if (!listener ||
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(listener.get(), SOMAXCONN) != 0)
    throw system_error("listen for the proxy", ExitCode::environment);
  return listener;
}

/// Waits for what a keeper that was forked early is to build.
/// @return  false: it is not needed
bool receive_profile(KeeperStart& start) {
  constexpr std::int64_t kMost = 1 << 30;
  ChannelMessage message = receive_message(start.socket.get(), Wait::yes);
  if (message.closed || message.descriptors.empty()) return false;
  start.profile = decode_profile(read_memory_file(message.descriptors[0], kMost));
  if (message.descriptors.size() > 1) start.group = std::move(message.descriptors[1]);
  return true;
}

View direct_view(const SandboxProfile& profile) {
  View view;
  const std::string folder = workspace_root(profile);
  view.workspace =
      Fd(::open(folder.empty() ? "/" : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!view.workspace) throw system_error("open " + folder, ExitCode::environment);
  return view;
}

std::string ready_message(const View& view) {
  WireWriter writer;
  writer.number(static_cast<std::int64_t>(KeeperWord::ready));
  writer.texts(view.notes);
  return writer.bytes();
}

/// Answers every request that no command can be started, since a layer could not be prepared.
void refuse_all(const Fd& socket, const std::string& why) {
  for (;;) {
    const ChannelMessage message = receive_message(socket.get(), Wait::yes);
    if (message.closed || message.bytes.empty()) return;
    WireReader reader(message.bytes);
    const auto word = static_cast<KeeperWord>(reader.number());
    if (word == KeeperWord::start && message.descriptors.size() >= 2) {
      CommandEnd refused;
      refused.failure = "a command could not be confined: " + why;
      send_message(message.descriptors[1].get(), encode_end(refused));
    } else if (word == KeeperWord::make_tree && message.descriptors.size() == 1) {
      WireWriter writer;
      writer.number(static_cast<std::int64_t>(KeeperWord::failed));
      writer.text(why);
      send_message(message.descriptors.front().get(), writer.bytes());
    }
  }
}

int keep(KeeperStart& start) {
  const SandboxProfile& profile = start.profile;
  try {
    detach_keeper(start);
    if (start.awaits_profile && !receive_profile(start)) return 0;
    const auto user =
        (start.new_namespaces & CLONE_NEWUSER) != 0 ? UserNamespace::own : UserNamespace::machine;
    View view = profile.use_namespaces ? build_view(profile, start.path_variable, user)
                                       : direct_view(profile);
    if (profile.use_namespaces) bound_process_ids(profile.limits);
    Channel gate;
    if (has_connect_gate(profile)) gate = make_channel();
    start.gate = std::move(gate.theirs);
    if (profile.mode != SandboxMode::none)
      if (const int error = close_capability_sets()) {
        errno = error;
        throw system_error("close the capability sets", ExitCode::environment);
      }
    std::optional<KeeperService> service;
    const auto begin_service = [&] {
      service.emplace(start, std::move(view), receive_filters(start.socket.get(), profile));
    };
    // Without namespaces a layer may be missing here, which is found out now.
    if (!profile.use_namespaces) begin_service();
    const View& built = service ? service->view() : view;
    Fd listener;
    if (has_proxy_listener(profile)) listener = made_in_network(start.network, listen_for_proxy);
    std::vector<int> handed = {built.workspace.get()};
    if (gate.ours) handed.push_back(gate.ours.get());
    if (listener) handed.push_back(listener.get());
    if (!send_message(start.socket.get(), ready_message(built), handed)) return 1;
    gate.ours.reset();
    listener.reset();
    // Done while the other side goes on; no command starts before it. To unmount waits for all
    // processors (RCU).
    try {
      if (profile.use_namespaces) leave_machine();
      if (!service) begin_service();
    } catch (const std::exception& error) {
      refuse_all(start.socket, error.what());
      return 1;
    }
    service->serve();
    return service->end_all() ? 0 : 1;
  } catch (const std::exception& error) {
    WireWriter writer;
    writer.number(static_cast<std::int64_t>(KeeperWord::failed));
    writer.text(error.what());
    send_message(start.socket.get(), writer.bytes());
    return 1;
  }
}

}  // namespace

KeeperStart keeper_start(const SandboxProfile& profile) {
  const char* path = std::getenv("PATH");
  return {.profile = profile,
          .socket = {},
          .path_variable = path == nullptr ? "" : path,
          .new_namespaces = profile.use_namespaces ? run_namespaces(profile) : 0,
          .uid = ::getuid(),
          .gid = ::getgid()};
}

void keeper_main(KeeperStart start) { ::_exit(keep(start)); }

}  // namespace sortie
