#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sortie {

/// An http or https address without user, query or fragment.
struct Url {
  bool secure = true;  ///< https
  std::string host;    ///< lower case; an IPv6 address without its brackets
  std::uint16_t port = 443;
  std::string path;  ///< "" or "/…", never with a final slash

  /// "host", "host:port" where the port is not the scheme's, "[::1]:8080".
  std::string authority() const;
  std::string text() const;
  bool same_origin(const Url& other) const {
    return secure == other.secure && host == other.host && port == other.port;
  }
  bool operator==(const Url&) const = default;
};

/// @throws InputError  naming what is wrong: another scheme, no host, a user, a query, white space
Url parse_url(std::string_view text);

/// localhost, *.localhost, 127.0.0.0/8 and ::1, by their spelling: no name is looked up,
/// here and by resolve().
bool is_loopback_host(std::string_view host);

}  // namespace sortie
