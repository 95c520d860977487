#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "core/catalog/providers.h"
#include "core/net/http.h"

namespace sortie {

/// Where the provider's address may be named. "" and an empty variable count as not given.
struct AddressSources {
  std::string flag{};               ///< --base-url
  std::string environment{};        ///< SORTIE_BASE_URL
  std::string of_provider{};        ///< the value of one of ProviderInfo::address_variables
  std::string provider_variable{};  ///< its name
  std::string task{};               ///< model.base_url
  std::string otherwise{};          ///< in place of the provider's own; "" is that one
  /// Whether a host that is not loopback may be spoken to without TLS; nothing: none may.
  std::function<bool(const Url&)> may_be_plain{};
};

/// Where requests go.
struct Endpoint {
  std::string provider = "openai";
  Url base{};
  std::string query{};         ///< of every request: "api-version=…"; mostly ""
  bool operator_host = false;  ///< named by the operator (flag, environment), not by the task
  std::string named_by{};      ///< the provider's own variable that named it; "" where none did

  /// The address of a request: base, path below it, query.
  Url target(std::string_view path) const;
};

/// The operator's word goes before the task's; without either it is the provider's own address.
/// The variable of the provider's own programs stands between them: the bounds hold for its host.
///
/// Forgives what is mistaken often: a final slash, the address of the interface itself in place of
/// the base (".../v1/responses"), `/v1` where the provider's path has it already (anthropic), no
/// `/v1` where there has to be one (api.openai.com, local), and for azure the bare resource, which
/// becomes `/openai/v1`, or `/openai` where a dated `api-version` asks for the older interface.
///
/// @throws InputError  for an address that can't be used or is missing; plain http is for loopback
///                     hosts only, a query is `api-version` and azure's only
Endpoint choose_endpoint(const ProviderInfo& provider, const AddressSources& sources);

/// Headers of every request: the key where the provider takes one, what the wire needs, who we are,
/// then the task's. The task can't set a header that may carry a key, nor one that is ours.
/// @throws InputError  for a header of the task that is ours or no valid header
HttpHeaders request_headers(const ProviderInfo& provider, const std::string& key,
                            const std::string& run_id,
                            const std::map<std::string, std::string>& task_headers);

}  // namespace sortie
