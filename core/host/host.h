#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/host/ip_address.h"

namespace sortie {

/// A host as a client or a policy names it.
struct Host {
  std::string name;                  ///< lower case, no final dot; an address as in RFC 5952
  std::optional<IpAddress> address;  ///< set if the name is an address

  bool operator==(const Host&) const = default;
};

/// A host, or why the text is not a host.
struct HostReading {
  std::optional<Host> host;
  std::string problem;  ///< "" with a host
};

/// Parses a host's name: the result is the one that is compared, looked up and connected to.
///
/// A name is one or more labels of letters, digits, '-' and '_' (1 to 63 bytes, no '-' at an end),
/// 253 bytes in all, one final dot ignored. If some program could read the last label as a number
/// (decimal, octal, hexadecimal), the name has to be an IPv4 address in its full decimal spelling;
/// an IPv6 address is in brackets. Everything else is refused: percent signs, zones, bytes beyond
/// ASCII, user names, IPv4 addresses in IPv6 form.
HostReading read_host(std::string_view text);

/// A host and a port: "example.org:443", "[2001:db8::1]:443".
struct Authority {
  Host host;
  std::uint16_t port = 0;
};

struct AuthorityReading {
  std::optional<Authority> authority;
  std::string problem;
};

/// @param default_port  used if the text has none; 0: the text must have one
AuthorityReading read_authority(std::string_view text, std::uint16_t default_port);

/// The authority's text, with brackets around an IPv6 address and always with the port.
std::string authority_text(const Host& host, std::uint16_t port);

/// localhost, *.localhost, 127.0.0.0/8 and ::1, by their spelling: no name is looked up for it.
/// @param name  in the form of Host::name
bool is_loopback_host(std::string_view name);

/// Hosts that a policy names: `example.org`, `*.example.org`, `*`, `192.0.2.1`, `[2001:db8::1]`,
/// each with an optional `:PORT`.
struct HostPattern {
  Host host{};              ///< for "*.example.org" the part after "*."; for "*" empty
  bool subdomains = false;  ///< "*.": any host below, not the host itself
  bool any = false;         ///< "*"
  std::uint16_t port = 0;   ///< 0: not given
  bool operator==(const HostPattern&) const = default;

  /// Whether it matches almost any host: "*", "*.com".
  bool is_broad() const { return any || (subdomains && host.name.find('.') == std::string::npos); }
  /// Whether it matches the host, whatever its port.
  /// @param name  in the form of Host::name
  bool covers(std::string_view name) const;
};

/// Reads a pattern as strictly as a host: no scheme, user, path or blank, ports from 1 to 65535.
/// @param problem  set on failure: why; to be shown after the text
std::optional<HostPattern> parse_host_pattern(std::string_view text, std::string& problem);

}  // namespace sortie
