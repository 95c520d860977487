#pragma once

#include <cstdint>
#include <string>

namespace sortie {

/// Where commands find the proxy of network mode `allow-list`: in the run's own network namespace,
/// or, without one, where the connect gate takes it for the proxy. The same in every run, so that
/// what a run records can be compared with another's.
inline constexpr std::uint16_t kProxyPort = 3128;
inline constexpr const char* kProxyAddress = "127.0.0.1";

/// "http://127.0.0.1:3128".
inline std::string proxy_url() {
  return std::string("http://") + kProxyAddress + ":" + std::to_string(kProxyPort);
}

}  // namespace sortie
