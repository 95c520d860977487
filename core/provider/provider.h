#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/catalog/providers.h"
#include "core/net/http.h"

namespace sortie {

/// Where the provider's address may come from. "" and an empty variable count as not given.
struct AddressSources {
  std::string flag{};               ///< --base-url
  std::string environment{};        ///< SORTIE_BASE_URL
  std::string of_provider{};        ///< the value of one of ProviderInfo::address_variables
  std::string provider_variable{};  ///< its name
  std::string task{};               ///< model.base_url
  std::string otherwise{};          ///< replaces the provider's default; "": that default
  /// Whether a host that is not loopback may be used without TLS; empty: none may.
  std::function<bool(const Url&)> may_be_plain{};
  /// "; to allow it, …": what the policy would have to say; may be empty.
  std::function<std::string(const Url&)> to_allow_plain{};
};

/// Where requests go.
struct Endpoint {
  std::string provider = "openai";
  Url base{};
  std::string query{};         ///< of every request: "api-version=…&a=b"; mostly ""
  bool operator_host = false;  ///< named by the operator (flag, environment), not by the task
  std::string named_by{};      ///< the provider's own variable that named it; "" if none did

  /// The address of a request: base, path below it, query.
  Url target(std::string_view path) const;
};

/// The operator's address takes precedence over the provider's own variable, that over the task's,
/// and that over the provider's default. The policy's bounds apply to all but the operator's.
///
/// Corrects common mistakes: a final slash, the full path instead of the base (".../v1/responses"),
/// `/v1` that the provider's path already has (anthropic), a missing `/v1` (api.openai.com, local),
/// and for azure the bare resource, which becomes `/openai/v1`, or `/openai` with a dated
/// `api-version`, which means the older interface.
///
/// @throws InputError  for an address that can't be used or is missing; plain http is for loopback
///                     hosts only, a query is `api-version` and azure's only
Endpoint choose_endpoint(const ProviderInfo& provider, const AddressSources& sources);

/// Adds parameters to the query of every request, percent-encoded (RFC 3986 §2.1).
void add_query(const std::map<std::string, std::string>& parameters, Endpoint& endpoint);

/// Headers of every request: the key if the provider has one, the wire's, our user agent, then the
/// task's. The task can't set a header that may carry a key, nor one of ours.
/// @throws InputError  for a header of the task that is ours, or invalid
HttpHeaders request_headers(const ProviderInfo& provider, const std::string& key,
                            const std::string& run_id,
                            const std::map<std::string, std::string>& task_headers);

}  // namespace sortie
