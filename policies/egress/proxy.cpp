#include "policies/egress/proxy.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>

#include "core/base/error.h"
#include "policies/egress/host_rules.h"
#include "policies/egress/proxy_session.h"

namespace sortie {

namespace {

using Time = ProxySession::Time;

constexpr std::chrono::milliseconds kAcceptPause{100};

}  // namespace

struct EgressProxy::State {
  State(const std::vector<std::string>& allow, Report given, const EgressLimits& given_limits,
        std::shared_ptr<HostResolver> resolver, ProxySettings given_ahead)
      : rules(allow),
        report(std::move(given)),
        limits(given_limits),
        ahead(std::move(given_ahead)),
        lookup(std::move(resolver)) {
    if (!wake) throw system_error("eventfd", ExitCode::environment);
  }

  void tell() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto told = ::write(wake.get(), &one, sizeof one);
  }
  void loop();
  bool take_orders();
  int wait_time(Time now) const;
  void wait(std::vector<pollfd>& polled);
  void accept_from(const Fd& listener);
  void serve(const std::vector<pollfd>& polled);
  template <typename Act>
  void guarded(ProxySession& session, const Act& act);

  const HostRules rules;
  const Report report;
  const EgressLimits limits;
  const ProxySettings ahead;
  NameLookup lookup;
  Fd wake{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  ProxyServices services{rules, lookup, limits, report, ahead};

  std::mutex mutex;  ///< guards the members below it, up to the next blank line
  std::vector<Fd> new_listeners;
  std::vector<Fd> new_connections;
  bool stop = false;

  // The loop's own.
  std::vector<Fd> listeners;
  std::vector<std::unique_ptr<ProxySession>> sessions;
  Time accept_again = Time::min();  ///< later, where the system had no descriptor left

  std::thread thread;
};

/// @return false when the proxy is to end
bool EgressProxy::State::take_orders() {
  std::uint64_t count = 0;
  [[maybe_unused]] const auto ignored = ::read(wake.get(), &count, sizeof count);
  const std::lock_guard lock(mutex);
  if (stop) return false;
  for (Fd& listener : new_listeners) listeners.push_back(std::move(listener));
  for (Fd& connection : new_connections) {
    if (sessions.size() < limits.connections)
      sessions.push_back(std::make_unique<ProxySession>(std::move(connection), services,
                                                        std::chrono::steady_clock::now()));
  }
  new_listeners.clear();
  new_connections.clear();
  return true;
}

int EgressProxy::State::wait_time(Time now) const {
  Time next = now < accept_again ? accept_again : Time::max();
  for (const auto& session : sessions) next = std::min(next, session->deadline());
  if (next == Time::max()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
}

void EgressProxy::State::wait(std::vector<pollfd>& polled) {
  polled = {{wake.get(), POLLIN, 0}, {lookup.descriptor(), POLLIN, 0}};
  const Time now = std::chrono::steady_clock::now();
  const bool room = sessions.size() < limits.connections && now >= accept_again;
  for (const Fd& listener : listeners) polled.push_back({room ? listener.get() : -1, POLLIN, 0});
  for (const auto& session : sessions) {
    const auto wanted = session->wanted();
    polled.push_back({wanted.client, wanted.client_events, 0});
    polled.push_back({wanted.server, wanted.server_events, 0});
  }
  const int timeout = wait_time(now);
  if (::poll(polled.data(), polled.size(), timeout) < 0)
    for (auto& each : polled) each.revents = 0;
}

void EgressProxy::State::accept_from(const Fd& listener) {
  while (sessions.size() < limits.connections) {
    Fd client(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
        accept_again = std::chrono::steady_clock::now() + kAcceptPause;
      return;
    }
    sessions.push_back(std::make_unique<ProxySession>(std::move(client), services,
                                                      std::chrono::steady_clock::now()));
  }
}

/// Ends a session that throws, without affecting the others.
template <typename Act>
void EgressProxy::State::guarded(ProxySession& session, const Act& act) {
  try {
    act();
  } catch (const std::exception& error) {
    session.end(error.what());
  }
}

void EgressProxy::State::serve(const std::vector<pollfd>& polled) {
  const Time now = std::chrono::steady_clock::now();
  // In the order in which wait() listed them: nothing is added or removed before this is done.
  std::size_t place = 2 + listeners.size();
  for (const auto& session : sessions) {
    const short client = polled[place++].revents;
    const short server = polled[place++].revents;
    guarded(*session, [&] {
      if ((client | server) != 0) session->on_ready(client, server, now);
      if (!session->is_over() && now >= session->deadline()) session->on_time(now);
    });
  }
  if (polled[1].revents != 0) {
    for (auto& answer : lookup.take_answers()) {
      for (const auto& session : sessions) {
        if (session->lookup_id() != answer.id) continue;
        guarded(*session, [&] { session->on_answer(std::move(answer), now); });
        break;
      }
    }
  }
  std::erase_if(sessions, [](const auto& session) { return session->is_over(); });
}

void EgressProxy::State::loop() {
  std::vector<pollfd> polled;
  while (take_orders()) {
    wait(polled);
    const std::size_t count = listeners.size();
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < count; ++i)
      if (polled[2 + i].revents != 0) ready.push_back(i);
    serve(polled);
    for (const std::size_t i : ready) accept_from(listeners[i]);
  }
  for (const auto& session : sessions) guarded(*session, [&] { session->end("the run ended"); });
  sessions.clear();
}

EgressProxy::EgressProxy(const std::vector<std::string>& allow, Report report, ProxySettings ahead)
    : EgressProxy(allow, std::move(report), {}, system_resolver(), std::move(ahead)) {}

EgressProxy::EgressProxy(const std::vector<std::string>& allow, Report report,
                         const EgressLimits& limits, std::shared_ptr<HostResolver> resolver,
                         ProxySettings ahead)
    : state_(std::make_unique<State>(allow, std::move(report), limits, std::move(resolver),
                                     std::move(ahead))) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  state_->thread = std::thread([state = state_.get()] { state->loop(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

EgressProxy::~EgressProxy() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->tell();
  state_->thread.join();
}

void EgressProxy::listen(Fd listener) {
  ::fcntl(listener.get(), F_SETFL, ::fcntl(listener.get(), F_GETFL) | O_NONBLOCK);
  {
    const std::lock_guard lock(state_->mutex);
    state_->new_listeners.push_back(std::move(listener));
  }
  state_->tell();
}

void EgressProxy::adopt(Fd connection) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->new_connections.size() < state_->limits.connections)
      state_->new_connections.push_back(std::move(connection));
  }
  state_->tell();
}

}  // namespace sortie
