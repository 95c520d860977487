#include "core/net/resolver.h"

#include <netdb.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "core/base/error.h"
#include "core/base/fd.h"
#include "core/host/host.h"
#include "core/host/url.h"

namespace sortie {

namespace {

struct Answer {
  std::vector<NetAddress> addresses;
  std::string problem;
};

Answer look_up(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  addrinfo* list = nullptr;
  Answer answer;
  const int status = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (status != 0) {
    answer.problem = "cannot find host '" + host + "': " + ::gai_strerror(status);
    return answer;
  }
  for (const addrinfo* entry = list; entry; entry = entry->ai_next) {
    if (entry->ai_addrlen > sizeof(sockaddr_storage)) continue;
    NetAddress address;
    std::memcpy(&address.bytes, entry->ai_addr, entry->ai_addrlen);
    address.size = entry->ai_addrlen;
    answer.addresses.push_back(address);
  }
  ::freeaddrinfo(list);
  return answer;
}

/// RFC 6761 §6.3: names below localhost are loopback's. A name server, or a search list that the
/// machine puts behind the name, could say otherwise, and what url.h takes for loopback by its
/// spelling may be asked in plain text and without a key.
std::vector<NetAddress> loopback(std::uint16_t port) {
  std::vector<NetAddress> addresses;
  for (const char* address : {"::1", "127.0.0.1"})
    for (const NetAddress& one : look_up(address, port, AI_NUMERICHOST).addresses)
      addresses.push_back(one);
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
  if (auto numeric = look_up(host, port, AI_NUMERICHOST); !numeric.addresses.empty())
    return std::move(numeric.addresses);
  if (is_loopback_host(host)) return loopback(port);

  const auto lookup = std::make_shared<Lookup>();
  if (!lookup->done) throw system_error("eventfd");
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([lookup, host, port] {
    lookup->answer = look_up(host, port, 0);
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
