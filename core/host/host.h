#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/host/ip_address.h"

namespace sortie {

/// A host as a client or a policy names it.
struct Host {
  std::string name;                  ///< lower case, no final dot; an address as RFC 5952 has it
  std::optional<IpAddress> address;  ///< where the name is one

  bool operator==(const Host&) const = default;
};

/// A host, or why the text is none.
struct HostReading {
  std::optional<Host> host;
  std::string problem;  ///< "" with a host
};

/// Reads a host's name once and for all: what this yields is what is compared, looked up and
/// connected to.
///
/// A name is one or more labels of letters, digits, '-' and '_' (1 to 63 bytes, no '-' at an end),
/// 253 bytes in all, one final dot passed over. Where the last label could be read as a number
/// somewhere (decimal, octal, hexadecimal), the name has to be an IPv4 address in its full decimal
/// spelling; an IPv6 address stands in brackets. Everything else is refused: percent signs, zones,
/// bytes beyond ASCII, user names, IPv4 addresses in IPv6 form.
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

/// @param default_port  where the text has none; 0: the text has to have one
AuthorityReading read_authority(std::string_view text, std::uint16_t default_port);

/// The authority's text, with brackets around an IPv6 address and always with the port.
std::string authority_text(const Host& host, std::uint16_t port);

/// localhost, *.localhost, 127.0.0.0/8 and ::1, by their spelling: no name is looked up for it.
/// @param name  as Host::name has it
bool is_loopback_host(std::string_view name);

/// Hosts that a policy names: `example.org`, `*.example.org`, `*`, `192.0.2.1`, `[2001:db8::1]`,
/// each with `:PORT` where it is not the usual one.
struct HostPattern {
  Host host{};              ///< of "*.example.org" the part behind; of "*" none
  bool subdomains = false;  ///< "*.": any host below, not the host itself
  bool any = false;         ///< "*"
  std::uint16_t port = 0;   ///< 0: none given
  bool operator==(const HostPattern&) const = default;

  /// Whether it stands for so many hosts that it is no list: "*", "*.com".
  bool is_broad() const { return any || (subdomains && host.name.find('.') == std::string::npos); }
  /// Whether it stands for the host, whatever its port.
  /// @param name  as Host::name has it
  bool covers(std::string_view name) const;
};

/// Reads a pattern as strictly as a host: no scheme, user, path or blank, ports from 1 to 65535.
/// @param problem  on failure: why, in words that follow the text
std::optional<HostPattern> parse_host_pattern(std::string_view text, std::string& problem);

}  // namespace sortie
