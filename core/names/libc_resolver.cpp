#include <netdb.h>

#include <cstring>

#include "core/names/host_resolver.h"

namespace sortie {
namespace {

class LibcResolver : public HostResolver {
 public:
  std::vector<IpAddress> resolve(const std::string& name, std::string& problem) override {
    problem.clear();
    addrinfo hints{};
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_ADDRCONFIG;
    addrinfo* list = nullptr;
    int status = ::getaddrinfo(name.c_str(), nullptr, &hints, &list);
    if (status == EAI_NONAME || status == EAI_ADDRFAMILY) {
      // AI_ADDRCONFIG finds nothing if the machine only has loopback addresses.
      hints.ai_flags = 0;
      status = ::getaddrinfo(name.c_str(), nullptr, &hints, &list);
    }
    std::vector<IpAddress> addresses;
    if (status != 0) {
      problem = ::gai_strerror(status);
      return addresses;
    }
    for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
      sockaddr_storage bytes{};
      if (entry->ai_addrlen > sizeof bytes) continue;
      std::memcpy(&bytes, entry->ai_addr, entry->ai_addrlen);
      if (const auto address = ip_address_of(bytes)) addresses.push_back(*address);
    }
    ::freeaddrinfo(list);
    if (addresses.empty()) problem = "it has no address";
    return addresses;
  }
};

}  // namespace

std::shared_ptr<HostResolver> system_resolver() { return std::make_shared<LibcResolver>(); }

}  // namespace sortie
