#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sortie {

/// An http or https address without user, query or fragment.
struct Url {
  bool secure = true;  ///< https
  std::string host;    ///< in the form of Host::name: lower case, an IPv6 address without brackets
  std::uint16_t port = 443;
  std::string path;  ///< "" or "/…", never with a final slash

  /// "host", or "host:port" if the port is not the scheme's default, "[::1]:8080".
  std::string authority() const;
  std::string text() const;
  bool is_loopback() const;  ///< by the host's spelling: is_loopback_host()
  bool same_origin(const Url& other) const {
    return secure == other.secure && host == other.host && port == other.port;
  }
  bool operator==(const Url&) const = default;
};

/// @throws InputError  for another scheme, no host, a user, a query, white space
Url parse_url(std::string_view text);

/// The text between "://" and the path, query or fragment, for read_authority().
std::string_view url_authority(std::string_view address);

}  // namespace sortie
