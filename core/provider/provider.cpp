#include "core/provider/provider.h"

#include <algorithm>
#include <cctype>

#include "core/base/error.h"
#include "core/base/own_headers.h"
#include "core/provider/wires.h"
#include "core/text/text.h"

namespace sortie {

namespace {

/// The common end of the addresses of all its models, if there is one.
std::string path_of(const ProviderInfo& provider) { return make_wire(provider.wire)->path(""); }

/// Removes the ending from the path, repeatedly.
void drop_endings(std::string& path, std::string_view ending) {
  while (path.ends_with(ending)) path.resize(path.size() - ending.size());
}

/// "api-version=…", the only query that an address may have, or "".
std::string take_query(const ProviderInfo& provider, std::string& address) {
  const std::size_t mark = address.find('?');
  if (mark == std::string::npos) return {};
  std::string query = address.substr(mark + 1);
  address.resize(mark);
  constexpr std::string_view kName = "api-version=";
  const bool is_version =
      query.starts_with(kName) && query.size() > kName.size() &&
      std::all_of(query.begin() + kName.size(), query.end(), [](unsigned char c) {
        return std::isalnum(c) || c == '-' || c == '.' || c == '_';
      });
  if (provider.name != "azure" || !is_version)
    throw InputError("address '" + one_line(address, 200) +
                     "': the only query allowed is ?api-version=… of provider azure");
  return query;
}

/// Azure has two interfaces: /openai/v1, which needs no api-version (or takes "preview"), and
/// /openai with a dated one. The portal shows addresses of both, and that of the bare resource.
void complete_azure(Url& base, const std::string& query) {
  const bool dated = query.size() > 12 && std::isdigit(static_cast<unsigned char>(query[12]));
  if (base.path.empty()) base.path = "/openai";
  if (base.path == "/openai" && !dated) base.path = "/openai/v1";
}

/// Corrects common mistakes in the base address.
void complete_base(const ProviderInfo& provider, const std::string& query, Url& base) {
  const std::string own = path_of(provider);
  drop_endings(base.path, own);
  for (const ProviderInfo& other : providers()) {
    const std::string path = path_of(other);
    if (path != own && base.path.ends_with(path))
      throw InputError("address '" + base.text() + "': " + path +
                       " is the interface of another provider (" + std::string(other.name) +
                       "); give the address without it, or name that provider");
  }
  if (provider.name == "azure") return complete_azure(base, query);
  if (own.starts_with("/v1/")) return drop_endings(base.path, "/v1");
  const bool has_v1 = provider.name == "local" || base.host == "api.openai.com";
  if (has_v1 && base.path.empty()) base.path = "/v1";
}

std::string given_address(const ProviderInfo& provider, const AddressSources& sources,
                          bool& by_operator, std::string& named_by) {
  by_operator = true;
  if (!sources.flag.empty()) return sources.flag;
  if (!sources.environment.empty()) return sources.environment;
  by_operator = false;
  if (!sources.of_provider.empty()) {
    named_by = sources.provider_variable;
    return sources.of_provider;
  }
  if (!sources.task.empty()) return sources.task;
  if (!sources.otherwise.empty()) return sources.otherwise;
  if (provider.default_base.empty())
    throw InputError("provider " + std::string(provider.name) +
                     " has no default address: set base_url in the task's model (or give "
                     "--base-url)");
  return std::string(provider.default_base);
}

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_ascii_alphanumeric(c) || c == '-' || c == '.' || c == '_' || c == '~')
      encoded += c;
    else
      encoded += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return encoded;
}

}  // namespace

Url Endpoint::target(std::string_view path) const {
  Url url = base;
  url.path += path;
  if (!query.empty()) url.path += "?" + query;
  return url;
}

Endpoint choose_endpoint(const ProviderInfo& provider, const AddressSources& sources) {
  Endpoint endpoint{.provider = std::string(provider.name)};
  std::string address = given_address(provider, sources, endpoint.operator_host, endpoint.named_by);
  endpoint.query = take_query(provider, address);
  endpoint.base = parse_url(address);
  if (!endpoint.base.secure && !endpoint.base.is_loopback() &&
      !(sources.may_be_plain && sources.may_be_plain(endpoint.base)))
    throw InputError("address '" + endpoint.base.text() +
                     "': plain http is for loopback hosts only; use https://" +
                     (sources.to_allow_plain ? sources.to_allow_plain(endpoint.base) : ""));
  complete_base(provider, endpoint.query, endpoint.base);
  return endpoint;
}

void add_query(const std::map<std::string, std::string>& parameters, Endpoint& endpoint) {
  for (const auto& [name, value] : parameters)
    endpoint.query +=
        (endpoint.query.empty() ? "" : "&") + percent_encoded(name) + "=" + percent_encoded(value);
}

HttpHeaders request_headers(const ProviderInfo& provider, const std::string& key,
                            const std::string& run_id,
                            const std::map<std::string, std::string>& task_headers) {
  HttpHeaders headers;
  if (!key.empty() && !provider.key_header.empty())
    headers.emplace_back(provider.key_header, std::string(provider.key_prefix) + key);
  headers.emplace_back("Accept", "text/event-stream");
  headers.emplace_back("Content-Type", "application/json");
  headers.emplace_back("User-Agent", "sortie/" SORTIE_VERSION);
  for (auto& header : make_wire(provider.wire)->headers(run_id))
    headers.push_back(std::move(header));
  for (const auto& [name, value] : task_headers) {
    if (!is_header_name(name)) throw InputError("model.headers: not a header name: '" + name + "'");
    if (is_own_header(name))
      throw InputError("model.headers: '" + name + "' can't be set by the task");
    if (!is_header_value(value))
      throw InputError("model.headers: the value of '" + name + "' has control characters");
    headers.emplace_back(name, value);
  }
  return headers;
}

}  // namespace sortie
