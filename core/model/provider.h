#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/net/http.h"

namespace sortie {

/// Where the provider's address may be named. "" and an empty variable count as not given.
struct AddressSources {
  std::string flag{};         ///< --base-url
  std::string environment{};  ///< SORTIE_BASE_URL
  std::string task{};         ///< model.base_url
};

/// Where requests go.
struct Endpoint {
  std::string provider = "openai";
  Url base{};
  bool operator_host = false;  ///< named by the operator (flag, environment), not by the task
};

/// The operator's word goes before the task's; without either it is https://api.openai.com/v1.
/// @throws InputError  for an address that can't be used; plain http is for loopback hosts only
Endpoint choose_endpoint(const AddressSources& sources);

/// Headers of every request: what the wire needs, who we are, then the task's. The task can't set
/// Authorization, Host, or another of those that are ours.
/// @throws InputError  for a header of the task that is ours or no valid header
HttpHeaders request_headers(const std::string& key, const std::string& run_id,
                            const std::map<std::string, std::string>& task_headers);

}  // namespace sortie
