#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

namespace sortie {

struct NetAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;
};

/// The addresses of a host, best first. A numeric one is parsed, localhost and names below it are
/// loopback without a lookup. Any other name is looked up on a thread of its own, since
/// a lookup can't be interrupted: when `alarm` becomes readable, the lookup is abandoned and the
/// result is empty with `problem` "".
std::vector<NetAddress> resolve(const std::string& host, std::uint16_t port, int alarm,
                                std::string& problem);

}  // namespace sortie
