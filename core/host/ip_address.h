#pragma once

#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sortie {

/// An IPv4 or IPv6 address.
struct IpAddress {
  std::array<std::uint8_t, 16> bytes{};  ///< network order; IPv4 in the first four
  bool v6 = false;

  /// The address in RFC 5952 form, without brackets.
  std::string text() const;
  bool operator==(const IpAddress&) const = default;
};

/// Parses an address in its full spelling only: four decimal parts without leading zeros, or
/// RFC 4291 without a zone. Nothing for the other forms of inet_aton(3).
std::optional<IpAddress> read_ip_address(std::string_view text);

/// The address of an AF_INET or AF_INET6 socket address; nothing for another family.
std::optional<IpAddress> ip_address_of(const sockaddr_storage& address);

/// A socket address to connect to. @return its length
socklen_t fill_socket_address(const IpAddress& address, std::uint16_t port, sockaddr_storage& out);

/// The purpose of an address.
struct AddressUse {
  enum class Kind {
    ordinary,  ///< a host of the internet
    internal,  ///< private, loopback, carrier-grade NAT: may be a wanted host
    metadata,  ///< link-local, and other addresses where clouds serve the machine's credentials
    unusable,  ///< multicast, documentation, reserved, forms with an embedded IPv4 address …
  };
  Kind kind = Kind::ordinary;
  std::string words;  ///< "a private address"; "" for ordinary
};

/// IPv6 addresses with an embedded IPv4 address are never ordinary, except NAT64's, which have the
/// use of the inner address: where the others lead depends on the translator.
///
/// Source: the IANA registries of special-purpose addresses (RFC 6890), RFC 6598, RFC 6052.
AddressUse use_of(const IpAddress& address);

/// Whether an IPv6 address is an IPv4 address in IPv6 form: IPv4-mapped or -compatible.
bool is_ipv4_in_disguise(const IpAddress& address);

}  // namespace sortie
