#include "core/net/resolver.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <memory>
#include <thread>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/host/host.h"
#include "core/host/ip_address.h"
#include "core/names/host_resolver.h"

namespace sortie {

namespace {

struct Answer {
  std::vector<NetAddress> addresses;
  std::string problem;
};

NetAddress net_address(const IpAddress& address, std::uint16_t port) {
  NetAddress made;
  made.size = fill_socket_address(address, port, made.bytes);
  return made;
}

Answer look_up(const std::string& host, std::uint16_t port) {
  Answer answer;
  for (const IpAddress& address : system_resolver()->resolve(host, answer.problem))
    answer.addresses.push_back(net_address(address, port));
  if (!answer.problem.empty())
    answer.problem = "cannot find host '" + host + "': " + answer.problem;
  return answer;
}

/// RFC 6761 §6.3: names below localhost are loopback's. A name server, or a search list that the
/// machine puts behind the name, could say otherwise, and what url.h takes for loopback by its
/// spelling may be asked in plain text and without a key.
std::vector<NetAddress> loopback(std::uint16_t port) {
  std::vector<NetAddress> addresses;
  for (const char* address : {"::1", "127.0.0.1"})
    addresses.push_back(net_address(*read_ip_address(address), port));
  return addresses;
}

/// Shared by the caller and the thread: either may be the last to need it.
struct Lookup {
  Answer answer;
  Fd done{::eventfd(0, EFD_CLOEXEC)};
};

}  // namespace

std::vector<NetAddress> resolve(const std::string& host, std::uint16_t port, int alarm,
                                std::string& problem) {
  problem.clear();
  if (const auto numeric = read_ip_address(host)) return {net_address(*numeric, port)};
  if (is_loopback_host(host)) return loopback(port);

  const auto lookup = std::make_shared<Lookup>();
  if (!lookup->done) throw system_error("eventfd");
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([lookup, host, port] {
    lookup->answer = look_up(host, port);
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(lookup->done.get(), &one, sizeof one);
  }).detach();
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);

  pollfd waits[] = {{lookup->done.get(), POLLIN, 0}, {alarm, POLLIN, 0}};
  while (::poll(waits, 2, -1) < 0 && errno == EINTR) {
  }
  std::uint64_t count = 0;
  if (!(waits[0].revents & POLLIN)) return {};
  if (::read(lookup->done.get(), &count, sizeof count) < 0) return {};
  problem = lookup->answer.problem;
  return std::move(lookup->answer.addresses);
}

}  // namespace sortie
