#include "core/host/url.h"

#include "core/base/error.h"
#include "core/host/host.h"

namespace sortie {

namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw InputError("address '" + std::string(text) + "': " + why);
}

}  // namespace

std::string_view url_authority(std::string_view address) {
  const std::size_t scheme = address.find("://");
  if (scheme != std::string_view::npos) address.remove_prefix(scheme + 3);
  return address.substr(0, address.find_first_of("/?#"));
}

std::string Url::authority() const {
  const std::string name = host.find(':') == std::string::npos ? host : "[" + host + "]";
  const bool usual = port == (secure ? 443 : 80);
  return usual ? name : name + ":" + std::to_string(port);
}

std::string Url::text() const { return (secure ? "https://" : "http://") + authority() + path; }

bool Url::is_loopback() const { return is_loopback_host(host); }

Url parse_url(std::string_view text) {
  // A password in an address must not be shown: messages before this check show no address.
  const std::string_view authority = url_authority(text);
  if (authority.find('@') != std::string_view::npos)
    throw InputError("address: a user name or password in it is not allowed");
  for (const unsigned char c : text)
    if (c <= ' ' || c >= 0x7f || c == '\\')
      refuse("…", "white space, control or non-ASCII characters are not allowed");

  Url url{.secure = text.starts_with("https://")};
  if (!url.secure && !text.starts_with("http://"))
    refuse(text, "it has to begin with https:// or http://");
  if (text.find_first_of("?#") != std::string_view::npos)
    refuse(text, "a query or fragment is not allowed");
  AuthorityReading reading = read_authority(authority, url.secure ? 443 : 80);
  if (!reading.authority) refuse(text, reading.problem);
  url.host = std::move(reading.authority->host.name);
  url.port = reading.authority->port;
  url.path = text.substr(text.find("://") + 3 + authority.size());
  while (url.path.ends_with('/')) url.path.pop_back();
  return url;
}

}  // namespace sortie
