#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/host/host.h"
#include "core/net/proxy.h"
#include "policies/egress/http/proxy_messages.h"

namespace sortie {

/// A proxy between sortie's own and the network, such as a company's.
struct UpstreamProxy {
  Host host;
  std::uint16_t port = 0;
  std::string authorization;  ///< the value of Proxy-Authorization, or ""
};

/// The upstream proxy for a host; nothing: connect directly.
/// @param form  a tunnel uses HTTPS_PROXY, a plain request HTTP_PROXY
/// @throws InputError  for a proxy address that can't be used, never showing its password
std::optional<UpstreamProxy> upstream_to(const ProxySettings& settings, const Authority& place,
                                         ProxyRequest::Form form);

/// Its name in messages for commands, which does not show its host.
inline const std::string kAhead =
    "the proxy ahead (HTTPS_PROXY, HTTP_PROXY of sortie's own environment)";
/// "407, it wants another user or password"
std::string refusal_words(int status);

/// The request for a tunnel through it (RFC 9110 §9.3.6).
std::string connect_head(const Authority& place, const UpstreamProxy& upstream);

}  // namespace sortie
