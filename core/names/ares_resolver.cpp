#include "core/names/ares_resolver.h"

#include <ares.h>
#include <poll.h>

#include <array>
#include <cstring>
#include <utility>

namespace sortie {
namespace {

struct Answer {
  std::vector<IpAddress> addresses;
  int status = ARES_ENODATA;
};

void take_answer(void* given, int status, int /*timeouts*/, ares_addrinfo* list) {
  Answer& answer = *static_cast<Answer*>(given);
  answer.status = status;
  if (list == nullptr) return;
  for (const ares_addrinfo_node* node = list->nodes; node != nullptr; node = node->ai_next) {
    sockaddr_storage bytes{};
    if (node->ai_addrlen > sizeof bytes) continue;
    std::memcpy(&bytes, node->ai_addr, node->ai_addrlen);
    if (const auto address = ip_address_of(bytes)) answer.addresses.push_back(*address);
  }
  ::ares_freeaddrinfo(list);
}

/// The settings of one lookup and its sockets.
class Channel {
 public:
  Channel(const std::string& resolv_conf, const std::string& servers) {
    std::string path = resolv_conf;
    ares_options options{};
    options.resolvconf_path = path.data();  // copied
    status_ = ::ares_init_options(&channel_, &options, ARES_OPT_RESOLVCONF);
    if (status_ == ARES_SUCCESS && !servers.empty() &&
        ::ares_set_servers_ports_csv(channel_, servers.c_str()) != ARES_SUCCESS)
      problem_ = ARES_EBADSTR;
  }
  Channel(const Channel&) = delete;
  ~Channel() {
    if (status_ == ARES_SUCCESS) ::ares_destroy(channel_);
  }

  int status() const { return status_ != ARES_SUCCESS ? status_ : problem_; }

  void ask(const std::string& name, Answer& answer) {
    ares_addrinfo_hints hints{};
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    ::ares_getaddrinfo(channel_, name.c_str(), nullptr, &hints, take_answer, &answer);
    while (wait()) {
    }
  }

 private:
  /// Serves what is ready, or late. False when nothing is asked any more; c-ares ends each question
  /// by its own time limits (`options timeout: attempts:`).
  bool wait() {
    std::array<ares_socket_t, ARES_GETSOCK_MAXNUM> sockets{};
    const int wanted = ::ares_getsock(channel_, sockets.data(), ARES_GETSOCK_MAXNUM);
    std::array<pollfd, ARES_GETSOCK_MAXNUM> polled{};
    nfds_t count = 0;
    for (unsigned i = 0; i < ARES_GETSOCK_MAXNUM; ++i) {
      short events = 0;
      if (ARES_GETSOCK_READABLE(static_cast<unsigned>(wanted), i)) events |= POLLIN;
      if (ARES_GETSOCK_WRITABLE(static_cast<unsigned>(wanted), i)) events |= POLLOUT;
      if (events != 0) polled[count++] = {sockets[i], events, 0};
    }
    if (count == 0) return false;
    timeval most{};
    const timeval* left = ::ares_timeout(channel_, nullptr, &most);
    const int milliseconds =
        left == nullptr ? -1 : static_cast<int>(left->tv_sec * 1000 + left->tv_usec / 1000 + 1);
    const int ready = ::poll(polled.data(), count, milliseconds);
    if (ready <= 0) ::ares_process_fd(channel_, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
    for (nfds_t i = 0; i < count && ready > 0; ++i) {
      const short events = polled[i].revents;
      const int fd = polled[i].fd;
      const bool input = (events & (POLLIN | POLLERR | POLLHUP)) != 0;
      if (events != 0)
        ::ares_process_fd(channel_, input ? fd : ARES_SOCKET_BAD,
                          (events & POLLOUT) != 0 ? fd : ARES_SOCKET_BAD);
    }
    return true;
  }

  ares_channel channel_ = nullptr;
  int status_ = ARES_SUCCESS;
  int problem_ = ARES_SUCCESS;  ///< of a channel that was opened
};

class AresResolver : public HostResolver {
 public:
  AresResolver(std::string resolv_conf, std::string servers)
      : resolv_conf_(std::move(resolv_conf)), servers_(std::move(servers)) {}

  std::vector<IpAddress> resolve(const std::string& name, std::string& problem) override {
    static const int library = ::ares_library_init(ARES_LIB_INIT_ALL);
    problem.clear();
    Answer answer{.addresses = {}, .status = library};
    if (library == ARES_SUCCESS) {
      Channel channel(resolv_conf_, servers_);
      answer.status = channel.status();
      if (channel.status() == ARES_SUCCESS) channel.ask(name, answer);
    }
    if (answer.status != ARES_SUCCESS)
      problem = ::ares_strerror(answer.status);
    else if (answer.addresses.empty())
      problem = "it has no address";
    return std::move(answer.addresses);
  }

 private:
  std::string resolv_conf_;
  std::string servers_;
};

}  // namespace

std::shared_ptr<HostResolver> ares_resolver(std::string resolv_conf, std::string servers) {
  return std::make_shared<AresResolver>(std::move(resolv_conf), std::move(servers));
}

}  // namespace sortie
