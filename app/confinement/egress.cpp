#include "app/confinement/egress.h"

#include <string>

#include "core/base/error.h"
#include "core/net/proxy.h"
#include "policies/egress/host_rules.h"
#include "policies/egress/upstream.h"
#include "policies/environment/environment.h"

namespace sortie {
namespace {

/// The proxies that sortie's own environment names.
ProxySettings proxies_ahead(const Environment& own) {
  return read_proxies([&own](const std::string& name) {
    const auto found = own.find(name);
    return found == own.end() ? std::string() : found->second;
  });
}

ConnectionState recorded_state(EgressConnection::State state) {
  switch (state) {
    case EgressConnection::State::denied:
      return ConnectionState::denied;
    case EgressConnection::State::opened:
      return ConnectionState::opened;
    case EgressConnection::State::closed:
      return ConnectionState::closed;
  }
  return ConnectionState::denied;
}

/// Why the proxy from the environment can't be used for a listed host, or "": only http:// proxies
/// are supported.
std::string upstream_proxy_problem(const Policy& policy, const Environment& own) {
  if (policy.network != NetworkMode::allow_list) return "";
  const ProxySettings ahead = proxies_ahead(own);
  const HostRules rules(policy.network_allow);
  for (const HostRule& rule : rules.rules()) {
    Authority place{rule.hosts.host, rule.hosts.port};
    if (rule.hosts.any) place.host.name = "any.example";
    if (rule.hosts.subdomains) place.host.name = "any." + rule.hosts.host.name;
    const auto form = place.port == 80 ? ProxyRequest::Form::absolute : ProxyRequest::Form::tunnel;
    try {
      upstream_to(ahead, place, form);
    } catch (const InputError& error) {
      return std::string(error.what()) +
             ": network.mode allow-list can't go through it; unset it, or name '" +
             place.host.name + "' in NO_PROXY";
    }
  }
  return "";
}

}  // namespace

NetworkRecord network_record(const EgressConnection& connection) {
  return {.id = connection.id,
          .state = recorded_state(connection.state),
          .host = connection.host,
          .port = connection.port,
          .method = connection.method,
          .rule = connection.rule,
          .reason = connection.reason,
          .would_allow = connection.would_allow,
          .address = connection.address,
          .sent = connection.sent_bytes,
          .received = connection.received_bytes,
          .duration = connection.duration};
}

Egress::Egress(const Policy& policy, Confinement& confinement, const Environment& own,
               EgressProxy::Report report) {
  if (policy.network != NetworkMode::allow_list) return;
  if (const auto problem = upstream_proxy_problem(policy, own); !problem.empty())
    throw Error(problem, ExitCode::environment);
  Fd listener = confinement.keeper().take_proxy_listener();
  Fd gate = confinement.keeper().take_connect_gate();
  if (!listener && !gate)
    throw Error(
        "network.mode allow-list can't be enforced here: it needs a sandbox with network namespaces, "
        "or one that passes connect(2) to sortie",
        ExitCode::environment);
  const EgressProxy::Report told = [this, report = std::move(report)](const auto& connection) {
    if (reports_) report(connection);
  };
  proxy_ = std::make_unique<EgressProxy>(policy.network_allow, told, proxies_ahead(own));
  if (listener) proxy_->listen(std::move(listener));
  if (!gate) return;
  const SandboxProfile& profile = confinement.profile();
  gate_ = std::make_unique<ConnectGate>(std::move(gate),
                                        ConnectGate::Parts{{kProxyPort, profile.uid, profile.gid},
                                                           [proxy = proxy_.get()](Fd connection) {
                                                             proxy->adopt(std::move(connection));
                                                           },
                                                           told});
}

}  // namespace sortie
