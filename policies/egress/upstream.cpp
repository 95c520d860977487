#include "policies/egress/upstream.h"

#include "core/base/error.h"
#include "core/host/url.h"

namespace sortie {

std::optional<UpstreamProxy> upstream_to(const ProxySettings& settings, const Authority& place,
                                         ProxyRequest::Form form) {
  Url url;
  url.secure = form == ProxyRequest::Form::tunnel;
  url.host = place.host.name;
  url.port = place.port;
  auto proxy = proxy_for(settings, url);
  if (!proxy) return std::nullopt;
  const bool v6 = proxy->host.find(':') != std::string::npos;
  HostReading read = read_host(v6 ? "[" + proxy->host + "]" : proxy->host);
  if (!read.host) throw InputError(proxy->variable + ": " + read.problem);
  return UpstreamProxy{std::move(*read.host), proxy->port, std::move(proxy->authorization)};
}

std::string refusal_words(int status) {
  std::string text = std::to_string(status);
  if (status == 407) text += ", it wants another user or password";
  if (status == 403) text += ", it does not let this host be reached";
  return text;
}

std::string connect_head(const Authority& place, const UpstreamProxy& upstream) {
  const std::string authority = authority_text(place.host, place.port);
  std::string head = "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n";
  if (!upstream.authorization.empty())
    head += "Proxy-Authorization: " + upstream.authorization + "\r\n";
  return head + "\r\n";
}

}  // namespace sortie
