#include "core/model/provider.h"

#include <strings.h>

#include <algorithm>
#include <cctype>

#include "core/base/error.h"

namespace sortie {

namespace {

constexpr const char* kDefaultBase = "https://api.openai.com/v1";

/// Headers that the task can't set: they carry the credential, frame the request, or are ours.
constexpr const char* kOurs[] = {"Authorization",   "Host",
                                 "Content-Length",  "Content-Type",
                                 "Connection",      "Transfer-Encoding",
                                 "Upgrade",         "TE",
                                 "Trailer",         "Expect",
                                 "Accept",          "User-Agent",
                                 "originator",      "session_id",
                                 "Accept-Encoding", "Proxy-Authorization",
                                 "Cookie",          "api-key",
                                 "x-api-key"};

bool is_ours(const std::string& name) {
  return std::any_of(std::begin(kOurs), std::end(kOurs),
                     [&name](const char* ours) { return ::strcasecmp(ours, name.c_str()) == 0; });
}

bool is_header_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_';
  });
}

bool is_header_value(const std::string& value) {
  return std::none_of(value.begin(), value.end(),
                      [](unsigned char c) { return (c < ' ' && c != '\t') || c == 0x7f; });
}

}  // namespace

Endpoint choose_endpoint(const AddressSources& sources) {
  Endpoint endpoint;
  endpoint.operator_host = true;
  std::string address = sources.flag;
  if (address.empty()) address = sources.environment;
  if (address.empty()) {
    address = sources.task;
    endpoint.operator_host = false;
  }
  if (address.empty()) address = kDefaultBase;
  endpoint.base = parse_url(address);
  if (!endpoint.base.secure && !is_loopback_host(endpoint.base.host))
    throw InputError("address '" + endpoint.base.text() +
                     "': plain http is for loopback hosts only; use https://");
  return endpoint;
}

HttpHeaders request_headers(const std::string& key, const std::string& run_id,
                            const std::map<std::string, std::string>& task_headers) {
  HttpHeaders headers;
  if (!key.empty()) headers.emplace_back("Authorization", "Bearer " + key);
  headers.emplace_back("Accept", "text/event-stream");
  headers.emplace_back("Content-Type", "application/json");
  headers.emplace_back("User-Agent", "sortie/" SORTIE_VERSION);
  headers.emplace_back("originator", "sortie");
  if (!run_id.empty()) headers.emplace_back("session_id", run_id);
  for (const auto& [name, value] : task_headers) {
    if (!is_header_name(name)) throw InputError("model.headers: '" + name + "' is no header name");
    if (is_ours(name)) throw InputError("model.headers: '" + name + "' is set by sortie itself");
    if (!is_header_value(value))
      throw InputError("model.headers: the value of '" + name + "' has control characters");
    headers.emplace_back(name, value);
  }
  return headers;
}

}  // namespace sortie
