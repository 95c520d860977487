#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/host/host.h"
#include "core/net/proxy.h"
#include "policies/egress/http/proxy_request.h"

namespace sortie {

/// A proxy ahead of sortie's own: the company's.
struct UpstreamProxy {
  Host host;
  std::uint16_t port = 0;
  std::string authorization;  ///< the value of Proxy-Authorization, or ""
};

/// The proxy that leads to a place; nothing: it is connected to directly.
/// @param form  a tunnel goes by HTTPS_PROXY, a plain request by HTTP_PROXY
/// @throws InputError  for a proxy address that can't be used, never showing its password
std::optional<UpstreamProxy> upstream_to(const ProxySettings& settings, const Authority& place,
                                         ProxyRequest::Form form);

/// What commands are told of it by: its name is the operator's matter.
inline const std::string kAhead =
    "the proxy ahead (HTTPS_PROXY, HTTP_PROXY of sortie's own environment)";
/// "407, it wants another user or password"
std::string refusal_words(int status);

/// The request for a tunnel through it (RFC 9110 §9.3.6).
std::string connect_head(const Authority& place, const UpstreamProxy& upstream);

}  // namespace sortie
