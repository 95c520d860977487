#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sortie {

/// Hosts that a policy names: `example.org`, `*.example.org`, `*`, `192.0.2.1`, `[2001:db8::1]`,
/// each with `:PORT` where it is not the usual one.
struct HostPattern {
  std::string host;         ///< lower-case, without brackets; of "*.example.org" the part behind
  bool subdomains = false;  ///< "*.": any host below, not the host itself
  bool any = false;         ///< "*"
  bool address = false;     ///< an IP address
  int port = 0;             ///< 0: none given
  bool operator==(const HostPattern&) const = default;

  /// Whether it stands for so many hosts that it is no list: "*", "*.com".
  bool is_broad() const { return any || (subdomains && host.find('.') == std::string::npos); }
};

/// Reads a pattern strictly: no scheme, user, path or blank, ports from 1 to 65535, IP addresses in
/// their usual spelling alone.
/// @param problem  on failure: why, in words that follow the text
std::optional<HostPattern> parse_host_pattern(std::string_view text, std::string& problem);

}  // namespace sortie
