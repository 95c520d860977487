#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/host/host.h"

namespace sortie {

/// One entry of `network.allow`.
struct HostRule {
  std::string text;   ///< as written
  HostPattern hosts;  ///< with its port: 443 where the text has none
};

/// What the rules say about a host and port, before any address is known.
struct HostDecision {
  bool allowed = false;
  std::string rule;      ///< the entry that allowed it, as written
  bool by_name = false;  ///< the entry names this very host
  std::string reason;    ///< why not, and what would allow it
};

/// The hosts that a policy lets commands reach.
class HostRules {
 public:
  /// @param entries  `network.allow`
  /// @throws InputError  for one that can't be read
  explicit HostRules(const std::vector<std::string>& entries);

  /// Whether the host may be asked for at that port. Names that clouds give to their metadata
  /// service are allowed only by an entry of that name.
  HostDecision decide(const Host& host, std::uint16_t port) const;

  /// Why the address that an allowed host leads to may not be connected to, or "".
  ///
  /// A public address may. Any other only where the list has that address with that port; a private
  /// or loopback one also where the entry names the very host, not by a wildcard.
  std::string refusal(const HostDecision& decision, const Host& host, std::uint16_t port,
                      const IpAddress& address) const;

  bool empty() const noexcept { return rules_.empty(); }
  const std::vector<HostRule>& rules() const noexcept { return rules_; }

 private:
  bool lists(const IpAddress& address, std::uint16_t port) const;

  std::vector<HostRule> rules_;
};

}  // namespace sortie
