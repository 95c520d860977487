#include "core/host/url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>
#include <charconv>

#include "core/base/error.h"

namespace sortie {

namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw InputError("address '" + std::string(text) + "': " + why);
}

std::uint16_t parse_port(std::string_view digits, std::string_view text) {
  std::uint16_t port = 0;
  const auto end = digits.data() + digits.size();
  const auto result = std::from_chars(digits.data(), end, port);
  if (digits.empty() || result.ec != std::errc() || result.ptr != end || port == 0)
    refuse(text, "the port is no number from 1 to 65535");
  return port;
}

bool is_host(std::string_view host) {
  return !host.empty() && host.size() <= 253 && host.front() != '-' && host.front() != '.' &&
         std::all_of(host.begin(), host.end(), [](unsigned char c) {
           return std::isalnum(c) || c == '-' || c == '.' || c == '_';
         });
}

bool is_ipv6(const std::string& host) {
  in6_addr address{};
  return ::inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

}  // namespace

std::string Url::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  const bool usual = port == (secure ? 443 : 80);
  return usual ? name : name + ":" + std::to_string(port);
}

std::string Url::text() const { return (secure ? "https://" : "http://") + authority() + path; }

Url parse_url(std::string_view text) {
  // A password in an address must not be shown: messages before this check show no address.
  std::string_view rest = text;
  const std::size_t scheme_end = rest.find("://");
  const std::size_t authority_begin = scheme_end == std::string_view::npos ? 0 : scheme_end + 3;
  const std::string_view authority_part =
      rest.substr(authority_begin, rest.find('/', authority_begin) - authority_begin);
  if (authority_part.find('@') != std::string_view::npos)
    throw InputError("address: a user name or password in it is not allowed");
  for (const unsigned char c : text)
    if (c <= ' ' || c >= 0x7f || c == '\\')
      refuse("…", "white space, control or non-ASCII characters are not allowed");

  Url url;
  if (text.starts_with("https://")) {
    url.secure = true;
  } else if (text.starts_with("http://")) {
    url.secure = false;
  } else {
    refuse(text, "it has to begin with https:// or http://");
  }
  if (text.find_first_of("?#") != std::string_view::npos)
    refuse(text, "a query or fragment is not allowed");
  url.port = url.secure ? 443 : 80;

  std::string_view place = authority_part;
  if (place.starts_with('[')) {
    const std::size_t end = place.find(']');
    if (end == std::string_view::npos) refuse(text, "']' is missing");
    url.host = place.substr(1, end - 1);
    if (!is_ipv6(url.host)) refuse(text, "no IPv6 address stands in the brackets");
    place.remove_prefix(end + 1);
    if (!place.empty() && place.front() != ':') refuse(text, "something stands behind ']'");
  } else {
    const std::size_t colon = std::min(place.find(':'), place.size());
    url.host = place.substr(0, colon);
    place.remove_prefix(colon);
    if (!is_host(url.host)) refuse(text, "the host name is missing or malformed");
  }
  if (!place.empty()) url.port = parse_port(place.substr(1), text);
  std::transform(url.host.begin(), url.host.end(), url.host.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });

  url.path = text.substr(authority_begin + authority_part.size());
  while (url.path.ends_with('/')) url.path.pop_back();
  return url;
}

bool is_loopback_host(std::string_view host) {
  if (host == "localhost" || host.ends_with(".localhost")) return true;
  const std::string name(host);
  in_addr v4{};
  if (::inet_pton(AF_INET, name.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return ::inet_pton(AF_INET6, name.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

}  // namespace sortie
