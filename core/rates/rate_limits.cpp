#include "core/rates/rate_limits.h"

#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/catalog/providers.h"
#include "core/config/fields.h"
#include "core/files/file_name.h"
#include "core/files/files.h"
#include "core/rates/rate_state.h"
#include "core/text/text.h"

namespace sortie {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::int64_t kMostRequests = 1'000'000'000;
constexpr std::int64_t kMostTokens = 1'000'000'000'000;
constexpr std::size_t kMostFileBytesOfLimits = 1u << 20;

Fields limit_fields(ProviderRate& limit) {
  return Fields("the limits of a provider")
      .add("requests", where_given(integer_value(limit.requests, 1, kMostRequests)),
           "Requests in a minute, by all runs that share the state.")
      .add("tokens", where_given(integer_value(limit.tokens, 1, kMostTokens)),
           "Tokens of input and output in a minute.")
      .add("window", duration_value(limit.window, 1s, 1h),
           "The time over which the server counts, and in which it lets through its share of a "
           "minute's requests and tokens.");
}

std::vector<std::string> provider_names() {
  std::vector<std::string> names;
  for (const ProviderInfo& provider : providers()) names.emplace_back(provider.name);
  return names;
}

bool is_address(std::string_view name) {
  return name.starts_with("https://") || name.starts_with("http://");
}

/// The name under which the limits are kept; nothing after a finding.
std::optional<std::string> read_name(const YamlNode& key, Diagnostics& findings) {
  const std::string& name = key.text;
  if (!is_address(name)) {
    const auto names = provider_names();
    if (is_one_of(name, names)) return name;
    findings.error(key.place,
                   "unknown provider " + in_quotes(name) + "; expected one of " +
                       joined(names, ", ") + ", or a server as https://host:port",
                   nearest_name(name, names));
    return std::nullopt;
  }
  try {
    const Url url = parse_url(name);
    const std::string origin = origin_of(url);
    if (!url.path.empty())
      findings.error(key.place, "the limits of a server are for all of it: write " + origin +
                                    ", without a path");
    else if (origin.size() > RateState::kMostNameBytes)
      findings.error(key.place, "the address is longer than " +
                                    std::to_string(RateState::kMostNameBytes) + " bytes");
    else
      return origin;
  } catch (const InputError& error) {
    findings.error(key.place, error.what());
  }
  return std::nullopt;
}

/// Whether a window has room for at least one of what is limited.
void check_window(const ProviderRate& limit, const YamlNode& node, Diagnostics& findings) {
  const RatePace pace = pace_of(limit);
  const YamlNode* const window = node.find("window");
  const TextPlace& place = window == nullptr ? node.place : window->place;
  if (limit.requests && pace.requests == 0)
    findings.error(place, "'window': " + duration_text(limit.window) +
                              " has room for less than one of " + std::to_string(*limit.requests) +
                              " requests a minute");
  if (limit.tokens && pace.tokens == 0)
    findings.error(place, "'window': " + duration_text(limit.window) +
                              " has room for less than one of " + std::to_string(*limit.tokens) +
                              " tokens a minute");
}

void read_limit(const YamlMember& member, std::vector<ProviderRate>& target,
                Diagnostics& findings) {
  const auto name = read_name(member.key, findings);
  const std::string shown = in_quotes(member.key.text);
  ProviderRate limit{.name = name.value_or("")};
  const std::size_t before = findings.findings().size();
  if (member.value.kind == YamlNode::Kind::null)
    findings.error(member.key.place, shown + " needs a value");
  else
    limit_fields(limit).read(member.value, findings);
  if (findings.findings().size() == before && member.value.is_mapping()) {
    if (!limit.requests && !limit.tokens)
      findings.error(member.key.place, shown + " needs 'requests', 'tokens' or both");
    check_window(limit, member.value, findings);
  }
  if (!name) return;
  if (std::any_of(target.begin(), target.end(),
                  [&](const ProviderRate& each) { return each.name == *name; }))
    findings.error(member.key.place, shown + ": " + *name + " is there already");
  target.push_back(std::move(limit));
}

Json providers_schema() {
  ProviderRate any;
  Json forms = limit_fields(any).schema();
  forms.set("anyOf", Json::array({Json::object({{"required", Json::array({"requests"})}}),
                                  Json::object({{"required", Json::array({"tokens"})}})}));
  Json names = Json::object(
      {{"anyOf", Json::array({Json::object({{"enum", text_list(provider_names())}}),
                              Json::object({{"pattern", "^https?://[^/?#@]+/?$"}})})}});
  return Json::object({{"type", "object"},
                       {"propertyNames", std::move(names)},
                       {"maxProperties", static_cast<std::int64_t>(RateState::kMostQueues)},
                       {"additionalProperties", std::move(forms)}});
}

struct Draft {
  std::string state;
  std::vector<ProviderRate> limits;
};

Fields file_fields(Draft& draft) {
  return Fields("rate limits")
      .require("version", version_value(1), "The version of this format.")
      .add("state", where_given(text_value(draft.state)),
           "The file that all runs share, relative to this one's folder; by default its name with "
           "'.state'.")
      .require("providers", provider_rates_value(draft.limits),
               "The limits, by the name of a provider or by a server's https://host:port.");
}

Draft read_draft(const fs::path& file) {
  const TextFile text = read_text_file(file, kMostFileBytesOfLimits);
  if (!text.problem.empty())
    throw InputError("--rate-limits " + path_text(file) + ": " + text.problem);
  Diagnostics findings;
  const std::size_t source = findings.add_source(file.string(), text.text);
  const YamlNode root = read_yaml(source, findings);
  Draft draft;
  if (root.kind == YamlNode::Kind::null && findings.empty())
    findings.error({.source = source}, "the file is empty; it needs 'version: 1' and 'providers'");
  else
    file_fields(draft).read(root, findings);
  findings.throw_if_any();
  return draft;
}

}  // namespace

FieldValue provider_rates_value(std::vector<ProviderRate>& target) {
  return {.schema = providers_schema,
          .read =
              [&target](const YamlNode& node, const std::string& name, Diagnostics& findings) {
                if (!node.is_mapping()) {
                  findings.error(node.place, in_quotes(name) +
                                                 ": expected a mapping of providers, got " +
                                                 kind_in_words(node));
                  return;
                }
                if (node.members.size() > RateState::kMostQueues)
                  findings.error(node.place, in_quotes(name) + " has more than " +
                                                 std::to_string(RateState::kMostQueues) +
                                                 " entries");
                for (const YamlMember& member : node.members) read_limit(member, target, findings);
              },
          .write =
              [&target] {
                Json json = Json::object();
                for (ProviderRate& limit : target)
                  json.set(limit.name, limit_fields(limit).write());
                return json;
              }};
}

std::string rate_limits_text(const fs::path& state, const std::vector<ProviderRate>& limits) {
  Draft draft{.state = state.string(), .limits = limits};
  // JSON is YAML, too.
  return write_json_pretty(file_fields(draft).write()) + "\n";
}

std::string origin_of(const Url& url) {
  return (url.secure ? "https://" : "http://") + url.authority();
}

RatePace pace_of(const ProviderRate& limit) {
  const auto in_window = [&limit](const std::optional<std::int64_t>& in_minute) {
    return static_cast<std::int64_t>(static_cast<double>(in_minute.value_or(0)) *
                                     static_cast<double>(limit.window.count()) /
                                     static_cast<double>(std::chrono::milliseconds(1min).count()));
  };
  return {.requests = in_window(limit.requests),
          .tokens = in_window(limit.tokens),
          .window = limit.window};
}

const ProviderRate* RateLimits::find(std::string_view provider, const Url& server) const {
  const auto named = [this](std::string_view name) -> const ProviderRate* {
    const auto found = std::find_if(limits.begin(), limits.end(),
                                    [name](const ProviderRate& each) { return each.name == name; });
    return found == limits.end() ? nullptr : &*found;
  };
  const ProviderRate* const by_origin = named(origin_of(server));
  return by_origin != nullptr ? by_origin : named(provider);
}

RateLimits load_rate_limits(const fs::path& file) {
  Draft draft = read_draft(file);
  RateLimits limits{.file = fs::absolute(file).lexically_normal(),
                    .state = {},
                    .owner = {},
                    .limits = std::move(draft.limits)};
  limits.state = draft.state.empty() ? fs::path(limits.file.string() + kRateStateEnding)
                                     : (limits.file.parent_path() / draft.state).lexically_normal();
  struct stat status {};
  if (::stat(limits.file.c_str(), &status) == 0) limits.owner = status.st_uid;
  return limits;
}

Json rate_limits_schema() {
  Draft any;
  return file_schema(file_fields(any), "Rate limits of sortie, version 1");
}

}  // namespace sortie
