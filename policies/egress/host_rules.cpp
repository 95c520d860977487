#include "policies/egress/host_rules.h"

#include <algorithm>

#include "core/base/error.h"
#include "policies/rules/host_pattern.h"

namespace sortie {
namespace {

constexpr std::uint16_t kDefaultPort = 443;

/// What clouds call their metadata services. Their addresses are refused in any case; the names are
/// here for resolvers that answer with others.
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

/// Whether the entry names this very host.
bool names(const HostRule& rule, const Host& host) {
  return !rule.any && !rule.subdomains && rule.host == host;
}

bool covers(const HostRule& rule, const Host& host) {
  if (rule.any) return true;
  if (!rule.subdomains) return names(rule, host);
  // At the border of a label: "*.example.org" has nothing to do with "badexample.org".
  return !host.address && host.name.size() > rule.host.name.size() + 1 &&
         host.name.ends_with(rule.host.name) &&
         host.name[host.name.size() - rule.host.name.size() - 1] == '.';
}

}  // namespace

HostRuleReading read_host_rule(std::string_view text) {
  std::string problem;
  const auto pattern = parse_host_pattern(text, problem);
  if (!pattern) return {std::nullopt, std::move(problem)};
  HostRule rule;
  rule.text = text;
  rule.subdomains = pattern->subdomains;
  rule.any = pattern->any;
  rule.port = pattern->port == 0 ? kDefaultPort : static_cast<std::uint16_t>(pattern->port);
  if (rule.any) return {std::move(rule), ""};
  const bool brackets = pattern->host.find(':') != std::string::npos;
  HostReading reading = read_host(brackets ? "[" + pattern->host + "]" : pattern->host);
  if (!reading.host) return {std::nullopt, std::move(reading.problem)};
  rule.host = std::move(*reading.host);
  return {std::move(rule), ""};
}

HostRules::HostRules(const std::vector<std::string>& entries) {
  for (const std::string& entry : entries) {
    HostRuleReading reading = read_host_rule(entry);
    if (!reading.rule) throw InputError("network.allow: '" + entry + "': " + reading.problem);
    rules_.push_back(std::move(*reading.rule));
  }
}

HostDecision HostRules::decide(const Host& host, std::uint16_t port) const {
  const std::string asked = authority_text(host, port);
  const HostRule* found = nullptr;
  const HostRule* other_port = nullptr;
  for (const HostRule& rule : rules_) {
    if (!covers(rule, host)) continue;
    if (rule.port != port)
      other_port = &rule;
    else if (found == nullptr || names(rule, host))
      found = &rule;
  }
  const bool by_name = found != nullptr && names(*found, host);
  if (found != nullptr && !by_name && is_metadata_name(host.name))
    return {false, "", false,
            asked + " is a cloud's metadata service: only an entry \"" + asked +
                "\" of its own in the policy's network.allow would allow it"};
  if (found != nullptr) return {true, found->text, by_name, ""};
  std::string reason = asked + " is not in the policy's network.allow";
  if (other_port != nullptr) reason += " (\"" + other_port->text + "\" is for another port)";
  if (rules_.empty()) reason += ", which is empty";
  return {false, "", false, reason + "; an entry \"" + asked + "\" there would allow it"};
}

bool HostRules::lists(const IpAddress& address, std::uint16_t port) const {
  return std::any_of(rules_.begin(), rules_.end(), [&](const HostRule& rule) {
    return rule.host.address == address && rule.port == port;  // "*" has no host, nor an address
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
