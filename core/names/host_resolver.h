#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/host/ip_address.h"

namespace sortie {

/// Finds the addresses of host names.
class HostResolver {
 public:
  virtual ~HostResolver() = default;
  /// All addresses, best first; none with `problem` set. Blocks and can't be interrupted; called by
  /// several threads.
  virtual std::vector<IpAddress> resolve(const std::string& name, std::string& problem) = 0;
};

/// The machine's own: getaddrinfo(3); in the program without shared libraries c-ares
/// (ares_resolver.h).
std::shared_ptr<HostResolver> system_resolver();

}  // namespace sortie
