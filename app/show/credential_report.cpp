#include "app/show/credential_report.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "app/inputs/auth_file_choice.h"
#include "app/inputs/provider_choice.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/own_variable.h"
#include "core/provider/provider.h"
#include "core/provider/sign_in/credentials.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using std::chrono::system_clock;

Json time_json(const std::optional<AuthFile::Time>& time) {
  return time ? Json(utc_timestamp(*time)) : Json();
}

Json sign_in_json(const AuthFileSummary& summary, system_clock::time_point now) {
  const auto& last = summary.last_refresh;
  return Json::object(
      {{"plan", summary.plan.empty() ? Json() : Json(summary.plan)},
       {"last_refresh", time_json(last)},
       {"age_days",
        last ? Json(std::chrono::duration_cast<std::chrono::hours>(now - *last).count() / 24)
             : Json()},
       {"refresh_due", last && now - *last > kSignInAge},
       {"expires", time_json(summary.expires)},
       {"expired", summary.expires && *summary.expires <= now},
       {"can_refresh", summary.can_refresh},
       {"can_write", summary.can_write}});
}

/// The source of a provider's key, and its problem.
struct Source {
  std::string credential;  ///< the name that bounds.credentials has it under
  std::string from;
  bool available = false;
  std::string problem;
  bool is_sign_in = false;
  Json sign_in;
};

Source source_of_auth_file(const RunOptions& options, const ProviderInfo& provider,
                           system_clock::time_point now) {
  Source source{.credential = std::string(provider.key_variable),
                .from = "--auth-file " + options.auth_file};
  try {
    const AuthFileSummary summary = summarize_auth_file(options.auth_file);
    source.available = true;
    if (!summary.is_sign_in) return source;
    source.credential = kSignInCredential;
    source.is_sign_in = true;
    source.sign_in = sign_in_json(summary, now);
  } catch (const InputError& error) {
    source.problem = error.what();
  }
  return source;
}

/// As a run takes them: descriptor, file or sign-in before the variable.
Source source_of(const RunOptions& options, const ProviderInfo& provider,
                 system_clock::time_point now) {
  Source source{.credential = std::string(provider.key_variable)};
  if (provider.key_variable.empty()) return source;
  if (options.api_key_fd) {
    source.from = "--api-key-fd " + std::to_string(*options.api_key_fd);
    source.available = ::fcntl(*options.api_key_fd, F_GETFD) != -1;
  } else if (!options.api_key_file.empty()) {
    source.from = "--api-key-file " + options.api_key_file;
    source.available = ::access(options.api_key_file.c_str(), R_OK) == 0;
  } else if (!options.auth_file.empty() && provider.key_variable == "OPENAI_API_KEY") {
    Source found = source_of_auth_file(options, provider, now);
    if (!found.is_sign_in || provider.name == "openai") return found;
    source.from = "variable " + source.credential;  // its sign-in is for the other interface
    source.available = !own_variable(source.credential.c_str()).empty();
    return source;
  } else {
    source.from = "variable " + source.credential;
    source.available = !own_variable(source.credential.c_str()).empty();
    return source;
  }
  if (!source.available) source.problem = errno_text(errno);
  return source;
}

/// Where a provider is asked without a task, and by what word.
struct Address {
  std::optional<Endpoint> endpoint;  ///< nothing if there is none, or one that can't be used
  std::string named_by;              ///< the variable; "" for none
  std::string problem;               ///< of the variable's address
};

Address address_of(const ProviderInfo& provider, const Policy& policy, const Source& source) {
  AddressSources sources = addresses_of_environment(provider, policy, source.credential);
  sources.otherwise = source.is_sign_in ? kSignInBase : "";
  allow_operators_plain(provider, sources);
  Address address;
  if (!sources.environment.empty())
    address.named_by = "SORTIE_BASE_URL";
  else if (!sources.of_provider.empty())
    address.named_by = sources.provider_variable;
  try {
    address.endpoint = choose_endpoint(provider, sources);
  } catch (const InputError& error) {
    if (!address.named_by.empty()) address.problem = address.named_by + ": " + error.what();
  }
  return address;
}

Json hosts_json(const Policy& policy, const std::string& credential) {
  Json hosts = Json::array();
  const auto found = policy.credentials.find(credential);
  if (found != policy.credentials.end())
    for (const std::string& host : found->second) hosts.push_back(host);
  return hosts;
}

}  // namespace

Json credentials_json(const RunOptions& options, const Policy& policy,
                      system_clock::time_point now) {
  Json list = Json::object();
  for (const ProviderInfo& provider : providers()) {
    Source source = source_of(options, provider, now);
    const Address address = address_of(provider, policy, source);
    const auto& endpoint = address.endpoint;
    if (!address.problem.empty())
      source.problem += (source.problem.empty() ? "" : "; ") + address.problem;
    const bool none = source.from.empty();
    Json one = Json::object();
    one.set("from", none ? Json() : Json(source.from));
    one.set("available", source.available);
    one.set("credential", none ? Json() : Json(source.credential));
    one.set("may_go_to", none ? Json::array() : hosts_json(policy, source.credential));
    one.set("address", endpoint ? Json(endpoint->base.text()) : Json());
    one.set("address_from", address.named_by.empty() ? Json() : Json(address.named_by));
    one.set("may_go_there",
            !none && endpoint && key_may_go(source.credential, *endpoint, policy.credentials));
    one.set("sign_in", std::move(source.sign_in));
    one.set("problem", source.problem.empty() ? Json() : Json(source.problem));
    list.set(provider.name, std::move(one));
  }
  return list;
}

std::string credentials_text(const Json& credentials) {
  std::string text;
  for (const auto& [name, one] : credentials.members()) {
    text += "  " + name + std::string(name.size() < 12 ? 12 - name.size() : 1, ' ');
    const std::string address = one.string_at("address");
    const std::string named_by = one.string_at("address_from");
    const std::string asked =
        address.empty() ? ""
                        : "; asked at " + address + (named_by.empty() ? "" : ", by " + named_by);
    const std::string indent(14, ' ');
    const std::string problem = one.string_at("problem");
    const std::string problem_line = problem.empty() ? "" : indent + one_line(problem, 400) + "\n";
    if (one["from"].is_null()) {
      text += "no key is sent" + asked + "\n" + problem_line;
      continue;
    }
    text += one.string_at("from") + (one["available"].boolean() ? ": there" : ": not there");
    const std::string hosts = joined(one["may_go_to"].texts(), ", ");
    text += hosts.empty() ? "; may go nowhere by the policy" : "; may go to " + hosts;
    text += asked;
    if (!address.empty() && !one["may_go_there"].boolean()) text += ", where it may NOT go";
    text += "\n";
    if (const Json& sign_in = one["sign_in"]; sign_in.is_object()) {
      text += indent + "sign-in, plan " + sign_in.string_at("plan", "not known");
      text += sign_in["age_days"].is_null()
                  ? ", last refresh not known"
                  : ", refreshed " + sign_in["age_days"].text() + " days ago";
      if (sign_in["refresh_due"].boolean()) text += " (a refresh is due)";
      if (!sign_in["expires"].is_null())
        text += std::string(", token ") +
                (sign_in["expired"].boolean() ? "EXPIRED " : "good until ") +
                sign_in.string_at("expires");
      text += "\n";
      if (!sign_in["can_refresh"].boolean()) text += indent + "has no refresh token\n";
      if (!sign_in["can_write"].boolean())
        text += indent + "can't be written: after a refresh the sign-in in it would be invalid\n";
    }
    text += problem_line;
  }
  return text;
}

}  // namespace sortie
