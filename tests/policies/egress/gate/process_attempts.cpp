#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

#include "core/base/fd.h"
#include "tests/policies/egress/gate/attempts.h"

namespace sortie::gated {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int connect_to(int socket, const sockaddr_in& address) {
  return ::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

/// One thread changes the address while others connect by it: each gets the proxy or nothing.
std::string race_of_addresses(const Outside& outside) {
  sockaddr_in shared = loopback(outside.proxy_port);
  std::atomic<bool> over = false;
  std::thread changer([&] {
    auto& port = reinterpret_cast<std::atomic<in_port_t>&>(shared.sin_port);
    const in_port_t ports[] = {htons(static_cast<std::uint16_t>(outside.proxy_port)),
                               htons(static_cast<std::uint16_t>(outside.tcp_port))};
    for (unsigned round = 0; !over; ++round) port.store(ports[round & 1]);
  });
  std::string odd;
  int through = 0;
  int refused = 0;
  for (int round = 0; round < 1000 && odd.empty(); ++round) {
    const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect_to(socket.get(), shared) == 0) {
      ++through;
      if (const std::string said = talk(socket.get()); said != "ok") odd = said;
    } else {
      ++refused;
      if (errno != ECONNREFUSED) odd = outcome(-1);
    }
  }
  over = true;
  changer.join();
  if (odd.empty() && (through == 0 || refused == 0)) odd = "raced nothing";
  return odd.empty() ? "ok" : odd;
}

/// One thread puts other descriptors under the number while another connects it.
std::string race_of_descriptors(const Outside& outside) {
  const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const Fd file(::open("/dev/null", O_RDWR | O_CLOEXEC));
  const int number = 200;
  std::atomic<bool> over = false;
  std::thread changer([&] {
    for (unsigned round = 0; !over; ++round)
      ::dup2(round % 2 == 0 ? socket.get() : file.get(), number);
  });
  std::string odd;
  for (int round = 0; round < 1000 && odd.empty(); ++round) {
    // Looked at twice, it may have been a socket and then none: any of these is an answer.
    const bool wanted = connect_to(number, loopback(outside.proxy_port)) == 0 ||
                        errno == ENOTSOCK || errno == EBADF || errno == EISCONN;
    if (!wanted) odd = outcome(-1);
    if (connect_to(number, loopback(outside.tcp_port)) == 0) odd = "got through";
  }
  over = true;
  changer.join();
  return odd.empty() ? "ok" : odd;
}

std::string in_parallel(const Outside& outside, int number) {
  std::vector<std::thread> threads;
  std::atomic<int> through = 0;
  for (int i = 0; i < number; ++i)
    threads.emplace_back([&] { through += reach(outside.proxy_port) == "ok" ? 1 : 0; });
  for (auto& thread : threads) thread.join();
  return through == number ? "ok" : std::to_string(through) + " got through";
}

/// The result of `body` in a child that has a new session and another parent than this process.
std::string in_daemon(const std::function<std::string()>& body) {
  const Pipe pipe = make_pipe();
  const pid_t child = ::fork();
  if (child == 0) {
    ::setsid();
    if (::fork() != 0) ::_exit(0);
    const std::string said = body();
    static_cast<void>(write_all(pipe.write.get(), said));
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  char buffer[64] = {};
  const ssize_t count = ::read(pipe.read.get(), buffer, sizeof buffer);
  return count <= 0 ? "no result" : std::string(buffer, static_cast<std::size_t>(count));
}

/// The result of `body` in a child, since what it does to itself can't be undone.
std::string in_child(const std::function<std::string()>& body) {
  const Pipe pipe = make_pipe();
  const pid_t child = ::fork();
  if (child == 0) {
    static_cast<void>(write_all(pipe.write.get(), body()));
    ::_exit(0);
  }
  char buffer[64] = {};
  const ssize_t count = ::read(pipe.read.get(), buffer, sizeof buffer);
  ::waitpid(child, nullptr, 0);
  return count <= 0 ? "no result" : std::string(buffer, static_cast<std::size_t>(count));
}

/// A filter of the command's own that says the same of every call.
long add_filter(std::uint32_t action, unsigned long flags) {
  const bool connect_alone = action == SECCOMP_RET_USER_NOTIF;
  sock_filter instructions[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_connect, 0, static_cast<std::uint8_t>(connect_alone)),
      BPF_STMT(BPF_RET | BPF_K, action),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{4, instructions};
  return ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}

std::string with_own_filter(const Outside& outside, std::uint32_t action) {
  return in_child([&] {
    return add_filter(action, 0) == 0 ? reach(outside.tcp_port) : "filter: " + outcome(-1);
  });
}

/// Signals arrive all the time and must cost no connection.
std::string under_signals(const Outside& outside) {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  ::sigaction(SIGALRM, &action, nullptr);  // without SA_RESTART
  const itimerval often{{0, 500}, {0, 500}};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  std::string odd;
  for (int round = 0; round < 300 && odd.empty(); ++round) {
    const Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    int result = -1;
    do result = connect_to(socket.get(), loopback(outside.proxy_port));
    while (result != 0 && errno == EINTR);
    if (result != 0) odd = outcome(result);
  }
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  return odd.empty() ? "ok" : odd;
}

std::string inherited() {
  for (int number = 3; number < 256; ++number) {
    if (::fcntl(number, F_GETFD) >= 0) return "descriptor " + std::to_string(number);
  }
  return "none";
}

}  // namespace

std::vector<Attempt> process_attempts() {
  return {
      {"inherited", [](auto&) { return inherited(); }},
      {"race_of_addresses", race_of_addresses},
      {"race_of_descriptors", race_of_descriptors},
      {"many_in_parallel", [](auto& o) { return in_parallel(o, 200); }},
      {"in_parallel", [](auto& o) { return in_parallel(o, 40); }},
      {"under_signals", under_signals},
      {"daemon", [](auto& o) { return in_daemon([&] { return reach(o.proxy_port); }); }},
      {"daemon_direct", [](auto& o) { return in_daemon([&] { return reach(o.tcp_port); }); }},
      {"own_filter", [](auto& o) { return with_own_filter(o, SECCOMP_RET_ALLOW); }},
      {"own_notification", [](auto& o) { return with_own_filter(o, SECCOMP_RET_USER_NOTIF); }},
      {"own_listener",
       [](auto&) {
         return in_child([] {
           return outcome(add_filter(SECCOMP_RET_USER_NOTIF, SECCOMP_FILTER_FLAG_NEW_LISTENER));
         });
       }},
      {"undumpable",
       [](auto& o) {
         return in_child([&] {
           ::prctl(PR_SET_DUMPABLE, 0);
           return reach(o.proxy_port);
         });
       }},
  };
}

}  // namespace sortie::gated
