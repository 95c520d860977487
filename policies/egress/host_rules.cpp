#include "policies/egress/host_rules.h"

#include <algorithm>

#include "core/base/error.h"

namespace sortie {
namespace {

constexpr std::uint16_t kDefaultPort = 443;

/// Names of clouds' metadata services. Their addresses are always refused; the names are for
/// resolvers that answer with other addresses.
constexpr std::string_view kMetadataNames[] = {"metadata",
                                               "metadata.google.internal",
                                               "metadata.goog",
                                               "metadata.internal",
                                               "metadata.azure.internal",
                                               "metadata.azure.com",
                                               "instance-data",
                                               "instance-data.ec2.internal",
                                               "metadata.tencentyun.com",
                                               "metadata.platformequinix.com"};

bool is_metadata_name(std::string_view name) {
  return std::find(std::begin(kMetadataNames), std::end(kMetadataNames), name) !=
         std::end(kMetadataNames);
}

/// Whether a host belongs to the machine, its network or its cloud, as far as its spelling tells.
bool is_inside(const Host& host) {
  return is_loopback_host(host.name) || is_metadata_name(host.name) ||
         (host.address && use_of(*host.address).kind != AddressUse::Kind::ordinary);
}

/// Whether the entry names exactly this host.
bool names(const HostPattern& pattern, const Host& host) {
  return !pattern.any && !pattern.subdomains && pattern.host == host;
}

}  // namespace

HostRules::HostRules(const std::vector<std::string>& entries) {
  for (const std::string& entry : entries) {
    std::string problem;
    auto pattern = parse_host_pattern(entry, problem);
    if (!pattern) throw InputError("network.allow: '" + entry + "': " + problem);
    if (pattern->port == 0) pattern->port = kDefaultPort;
    rules_.push_back({entry, std::move(*pattern)});
  }
}

HostDecision HostRules::decide(const Host& host, std::uint16_t port) const {
  const std::string asked = authority_text(host, port);
  const HostRule* found = nullptr;
  const HostRule* other_port = nullptr;
  for (const HostRule& rule : rules_) {
    if (!rule.hosts.covers(host.name)) continue;
    if (rule.hosts.port != port)
      other_port = &rule;
    else if (found == nullptr || names(rule.hosts, host))
      found = &rule;
  }
  const bool by_name = found != nullptr && names(found->hosts, host);
  if (found != nullptr && !by_name && is_metadata_name(host.name))
    return {false, "", false,
            asked + " is a cloud's metadata service: only an entry \"" + asked +
                "\" of its own in the policy's network.allow would allow it"};
  if (found != nullptr) return {true, found->text, by_name, ""};
  std::string reason = asked + " is not in the policy's network.allow";
  if (other_port != nullptr) reason += " (\"" + other_port->text + "\" is for another port)";
  if (rules_.empty()) reason += ", which is empty";
  return {false, "", false, reason + "; an entry \"" + asked + "\" there would allow it",
          is_inside(host) ? "" : asked};
}

bool HostRules::lists(const IpAddress& address, std::uint16_t port) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const HostRule& rule) {
    // "*" has no host, nor an address.
    return rule.hosts.host.address == address && rule.hosts.port == port;
  });
}

std::string HostRules::refusal(const HostDecision& decision, const Host& host, std::uint16_t port,
                               const IpAddress& address) const {
  const AddressUse use = use_of(address);
  if (use.kind == AddressUse::Kind::ordinary || lists(address, port)) return "";
  const bool name_suffices =
      use.kind == AddressUse::Kind::internal ||
      (use.kind == AddressUse::Kind::metadata && is_metadata_name(host.name));
  if (decision.by_name && name_suffices) return "";
  const std::string entry = name_suffices ? authority_text(host, port)
                                          : authority_text(Host{address.text(), address}, port);
  return authority_text(host, port) + " leads to " + address.text() + ", " + use.words +
         ": only an entry \"" + entry +
         "\" of its own in the policy's network.allow would allow it";
}

}  // namespace sortie
