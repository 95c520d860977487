#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/host/url.h"

namespace sortie {

/// The proxies of the environment. Loopback never goes through one.
struct ProxySettings {
  std::string
      https_proxy{};  ///< HTTPS_PROXY, else ALL_PROXY: "http://user:password@host:port"; port 80
  std::string no_proxy{};  ///< NO_PROXY: "host", ".suffix", "10.0.0.0/8", "host:port", "*"
  /// HTTP_PROXY, else ALL_PROXY: for requests of commands; sortie itself uses plain http on loopback
  /// only.
  std::string http_proxy{};
  std::string https_variable =
      "HTTPS_PROXY";  ///< the variable that named https_proxy, for messages
  std::string http_variable = "HTTP_PROXY";
};

/// The proxies that variables name, each also in lower case.
/// @param value_of  a variable's value, "" if it is not set
ProxySettings read_proxies(const std::function<std::string(const std::string& name)>& value_of);

struct Proxy {
  std::string host;
  std::uint16_t port = 0;
  std::string authorization;  ///< "Basic …", or ""
  std::string variable{};     ///< that named it
};

/// The proxy that leads to this place, or nothing where it is reached directly.
/// @throws InputError  for a proxy address that can't be used, never showing its password
std::optional<Proxy> proxy_for(const ProxySettings& settings, const Url& url);

}  // namespace sortie
