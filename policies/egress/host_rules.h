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
  HostPattern hosts;  ///< with its port, 443 by default
};

/// The decision on a host and port, before any address is known.
struct HostDecision {
  bool allowed = false;
  std::string rule;      ///< the entry that allowed it, as written
  bool by_name = false;  ///< the entry names exactly this host
  std::string reason;    ///< why it is denied, and what would allow it
  /// The entry that would allow it, of a host that is only not listed; "" for others, and for what
  /// belongs to the machine or its network by its spelling: such an entry needs thought.
  std::string would_allow{};
};

/// The hosts that a policy allows for commands.
class HostRules {
 public:
  /// @param entries  `network.allow`
  /// @throws InputError  for an invalid entry
  explicit HostRules(const std::vector<std::string>& entries);

  /// Whether the host is allowed at that port. Names of clouds' metadata services are allowed only
  /// by an entry with that name.
  HostDecision decide(const Host& host, std::uint16_t port) const;

  /// Why the address of an allowed host is refused, or "".
  ///
  /// A public address is allowed. Any other only if the list has that address with that port; a
  /// private or loopback one also if the entry names exactly that host, without a wildcard.
  std::string refusal(const HostDecision& decision, const Host& host, std::uint16_t port,
                      const IpAddress& address) const;

  bool empty() const noexcept { return rules_.empty(); }
  const std::vector<HostRule>& rules() const noexcept { return rules_; }

 private:
  bool lists(const IpAddress& address, std::uint16_t port) const;

  std::vector<HostRule> rules_;
};

}  // namespace sortie
