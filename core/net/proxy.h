#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/host/url.h"

namespace sortie {

/// The proxies of the environment. Loopback never goes through one.
struct ProxySettings {
  std::string https_proxy{};  ///< HTTPS_PROXY, else ALL_PROXY: "http://user:password@host:port"; port 80
  std::string no_proxy{};     ///< NO_PROXY: "host", ".suffix", "10.0.0.0/8", "host:port", "*"
  /// HTTP_PROXY, else ALL_PROXY: for requests of commands; sortie itself uses plain http on loopback
  /// only.
  std::string http_proxy{};
};

struct Proxy {
  std::string host;
  std::uint16_t port = 0;
  std::string authorization;  ///< "Basic …", or ""
};

/// The proxy that leads to this place, or nothing where it is reached directly.
/// @throws InputError  for a proxy address that can't be used, never showing its password
std::optional<Proxy> proxy_for(const ProxySettings& settings, const Url& url);

}  // namespace sortie
