#include "policies/egress/gate/connect_gate.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <exception>
#include <list>
#include <optional>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/process/channel.h"

namespace sortie {
namespace {

constexpr int kLongestWait = 5000;        // milliseconds
constexpr std::uint16_t kMadeUpPort = 9;  // nothing is ever sent there

enum class Step : int { ids, no_new_privs, filter, hand_over, socket, connect, send };

const char* name_of(Step step) {
  static constexpr const char* kNames[] = {
      "change ids", "no_new_privs", "seccomp listener", "hand over the listener", "socket",
      "connect",    "send"};
  return kNames[static_cast<int>(step)];
}

/// The child's message for a failed step.
struct Failure {
  Step step;
  int error;
};

bool run_as(uid_t uid, gid_t gid) {
  if (::getuid() == uid && ::getgid() == gid) return true;
  return ::syscall(SYS_setgroups, 0, nullptr) == 0 &&
         ::syscall(SYS_setresgid, gid, gid, gid) == 0 &&
         ::syscall(SYS_setresuid, uid, uid, uid) == 0;
}

/// Installs a filter that notifies connect(2) and allows all other calls.
int listen_to_connect() {
  sock_filter instructions[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_connect, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{4, instructions};
  return static_cast<int>(
      ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &program));
}

std::optional<Step> try_in_child(int channel, uid_t uid, gid_t gid) {
  if (!run_as(uid, gid)) return Step::ids;
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return Step::no_new_privs;
  ::prctl(PR_SET_DUMPABLE, 1);  // as exec(2) makes a command's process
  const int listener = listen_to_connect();
  if (listener < 0) return Step::filter;
  errno = send_descriptor(channel, listener);
  if (errno != 0) return Step::hand_over;
  ::close(listener);
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  if (socket < 0) return Step::socket;
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(kMadeUpPort);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return Step::connect;
  if (::send(socket, "!", 1, MSG_NOSIGNAL) != 1) return Step::send;
  return std::nullopt;
}

[[noreturn]] void be_child(int channel, uid_t uid, gid_t gid) {
  const auto failed = try_in_child(channel, uid, gid);
  if (failed) {
    const Failure failure{*failed, errno};
    send_message(channel, {reinterpret_cast<const char*>(&failure), sizeof failure});
  }
  ::_exit(failed ? 1 : 0);
}

bool is_readable(int descriptor) {
  pollfd poll{descriptor, POLLIN, 0};
  int ready = 0;
  do ready = ::poll(&poll, 1, kLongestWait);
  while (ready < 0 && errno == EINTR);
  return ready > 0;
}

std::string failure_in(const ChannelMessage& message) {
  Failure failure{};
  if (message.bytes.size() != sizeof failure) return "the process that tries it died";
  std::memcpy(&failure, message.bytes.data(), sizeof failure);
  return std::string(name_of(failure.step)) + ": " + errno_text(failure.error);
}

std::string supervise(const Fd& channel, uid_t uid, gid_t gid) {
  if (!is_readable(channel.get())) return "no listener came";
  ChannelMessage message = receive_message(channel.get(), Wait::no);
  if (message.descriptors.size() != 1) return failure_in(message);
  const SeccompListener listener(std::move(message.descriptors.front()));
  if (!is_readable(listener.descriptor())) return "no call was notified";
  const auto call = listener.receive();
  if (!call) return failure_in(receive_message(channel.get(), Wait::no));
  const AnsweredConnect answered = answer_connect(listener, *call, {kMadeUpPort, uid, gid});
  char byte = 0;
  if (answered.connection && is_readable(answered.connection.get()) &&
      ::read(answered.connection.get(), &byte, 1) == 1 && byte == '!')
    return "";
  if (!answered.reason.empty()) return answered.reason;
  return is_readable(channel.get()) ? failure_in(receive_message(channel.get(), Wait::no))
                                    : "the connection did not get through";
}

/// A command can try in a loop; its transcript has to be readable all the same.
constexpr std::size_t kMostReports = 1000;

/// A thread with all signals blocked: the run's own threads handle them.
template <typename Body>
std::thread start_thread(Body body) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread(std::move(body));
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (const std::system_error& error) {
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw Error(std::string("connect gate: ") + error.what(), ExitCode::environment);
  }
}

}  // namespace

struct ConnectGate::State {
  State(Fd listeners_source, Parts given)
      : source(std::move(listeners_source)),
        parts(std::move(given)),
        end(::eventfd(0, EFD_CLOEXEC)) {
    if (!end) throw system_error("eventfd", ExitCode::environment);
    thread = start_thread([this] { run(); });
  }

  ~State() {
    ::eventfd_write(end.get(), 1);
    thread.join();
  }

  void run() {
    while (serve_once()) {
    }
    if (denied > kMostReports)
      tell({.reason = std::to_string(denied - kMostReports) + " further attempts were denied"});
  }

  /// One round: at most one call of each command, so that none holds up the others.
  bool serve_once() {
    std::vector<pollfd> polled = {{end.get(), POLLIN, 0}, {source.get(), POLLIN, 0}};
    for (const auto& listener : listeners) polled.push_back({listener.descriptor(), POLLIN, 0});
    if (::poll(polled.data(), polled.size(), -1) < 0) return errno == EINTR || errno == ENOMEM;
    if (polled[0].revents != 0) return false;
    std::size_t place = 2;
    for (auto listener = listeners.begin(); listener != listeners.end(); ++place) {
      const short events = polled[place].revents;
      if ((events & POLLIN) != 0) serve(*listener);
      // No call waits, and no process with the filter is left.
      const bool over = (events & POLLIN) == 0 && events != 0;
      listener = over ? listeners.erase(listener) : std::next(listener);
    }
    if (polled[1].revents != 0) take_listener();
    return true;
  }

  void take_listener() {
    ChannelMessage message = receive_message(source.get(), Wait::no);
    for (Fd& descriptor : message.descriptors) listeners.emplace_back(std::move(descriptor));
    if (message.closed) source.reset();  // poll(2) ignores -1
  }

  void serve(const SeccompListener& listener) {
    const auto call = listener.receive();
    if (!call) return;
    AnsweredConnect answered = answer_connect(listener, *call, parts.commands);
    try {
      if (answered.connection) parts.adopt(std::move(answered.connection));
    } catch (const std::exception& error) {
      answered.denied = true;
      answered.reason = std::string("the proxy took no connection: ") + error.what();
    }
    if (answered.denied && ++denied <= kMostReports)
      tell({.host = answered.host, .port = answered.port, .reason = answered.reason});
  }

  void tell(EgressConnection connection) {
    connection.method = "connect";
    try {
      parts.report(connection);
    } catch (const std::exception&) {
      // A record that can't be written ends the run elsewhere; the commands are answered until
      // then.
    }
  }

  Fd source;
  Parts parts;
  Fd end;
  std::list<SeccompListener> listeners;
  std::size_t denied = 0;
  std::thread thread;  ///< last: it uses all of the above
};

ConnectGate::ConnectGate(Fd source, Parts parts)
    : state_(std::make_unique<State>(std::move(source), std::move(parts))) {}

ConnectGate::~ConnectGate() = default;

std::string probe_connect_gate(uid_t uid, gid_t gid) {
  Channel channel = make_channel();
  const pid_t child = ::fork();
  if (child < 0) return "fork: " + errno_text(errno);
  if (child == 0) be_child(channel.theirs.get(), uid, gid);
  channel.theirs.reset();
  const std::string problem = supervise(channel.ours, uid, gid);
  ::kill(child, SIGKILL);
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return problem;
}

}  // namespace sortie
