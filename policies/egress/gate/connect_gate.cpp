#include "policies/egress/gate/connect_gate.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <list>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "core/process/channel.h"

namespace sortie {
namespace {

/// A command can try in a loop; its transcript has to be readable all the same.
constexpr std::size_t kMostReports = 1000;

/// A thread that no signal is delivered to: the run's own threads take those.
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
      // Nothing waits and nobody is left that could ask.
      const bool over = (events & POLLIN) == 0 && events != 0;
      listener = over ? listeners.erase(listener) : std::next(listener);
    }
    if (polled[1].revents != 0) take_listener();
    return true;
  }

  void take_listener() {
    ChannelMessage message = receive_message(source.get(), Wait::no);
    for (Fd& descriptor : message.descriptors) listeners.emplace_back(std::move(descriptor));
    if (message.closed) source.reset();  // poll(2) passes over -1
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

}  // namespace sortie
