#include "app/exec/exec_settings.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <string_view>

#include "core/base/error.h"
#include "core/base/own_headers.h"
#include "core/host/url.h"
#include "core/http1/message_head.h"
#include "core/text/pattern.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// A key of the configuration with its value.
struct Setting {
  std::string key;
  const Json& value;

  /// Names the type of the value, which may be a credential: a number that lacks its quotes.
  [[noreturn]] void refuse(const std::string& expected) const {
    refuse(expected, value.is_string()    ? "a string"
                     : value.is_number()  ? "a number"
                     : value.is_boolean() ? "true or false"
                     : value.is_array()   ? "a list"
                                          : "a table");
  }
  [[noreturn]] void refuse(const std::string& expected, const std::string& given) const {
    throw InputError("-c " + one_line(key, 80) + ": expected " + expected + ", got " + given);
  }
  std::string text() const {
    if (!value.is_string()) refuse("a string");
    return value.text();
  }
  bool flag() const {
    if (!value.is_boolean()) refuse("true or false");
    return value.boolean();
  }
  std::vector<std::string> texts() const {
    if (!value.is_array()) refuse("a list of strings");
    for (const Json& item : value.items())
      if (!item.is_string()) refuse("a list of strings");
    return value.texts();
  }
  /// Globs over names of variables.
  std::vector<std::string> globs() const {
    for (const std::string& glob : texts()) try {
        Pattern::word_glob(glob);
      } catch (const PatternError& error) {
        throw InputError("-c " + one_line(key, 80) + ": " + in_quotes(glob) + ": " + error.what());
      }
    return texts();
  }
  std::chrono::milliseconds seconds() const {
    const auto number = value.real();
    if (!number || *number <= 0 || *number > 86'400) refuse("seconds, up to a day");
    return std::chrono::milliseconds(static_cast<std::int64_t>(*number * 1000));
  }
  std::chrono::milliseconds milliseconds() const {
    const auto number = value.integer();
    if (!number || *number <= 0 || *number > 86'400'000) refuse("milliseconds, up to a day");
    return std::chrono::milliseconds(*number);
  }
  std::string one_of(const std::vector<std::string>& words) const {
    const std::string word = text();
    if (!is_one_of(word, words))
      refuse("one of " + joined(words, ", "), one_line(in_quotes(word), 80));
    return word;
  }
};

Effort effort_of(const Setting& setting) {
  if (setting.value == Json("persistent"))
    setting.refuse(
        "none, minimal, low, medium, high, xhigh or max, since sortie has no agent that "
        "goes on by itself after its turn");
  const std::string word =
      setting.one_of({"none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"});
  // What codex sends for "ultra"; other agents, to which it would hand parts on, are not there.
  return word == "ultra" ? Effort::max : *value_named<Effort>(word);
}

InheritedVariables inherit_of(const Setting& setting) {
  const std::string word = setting.one_of({"all", "core", "none"});
  return value_named<InheritedVariables>(word).value_or(InheritedVariables::core);
}

bool searches(const Setting& setting) {
  if (setting.value.is_boolean()) return setting.value.boolean();
  return setting.one_of({"disabled", "cached", "indexed", "live"}) != "disabled";
}

std::uint64_t bytes_of(const Setting& setting) {
  const auto number = setting.value.integer();
  if (!number || *number < 0 || *number > (1 << 20)) setting.refuse("bytes, up to 1048576");
  return static_cast<std::uint64_t>(*number);
}

using Take = std::function<void(const Setting&, ExecSettings&)>;

struct Key {
  std::string name;
  Take take;
};

/// Accepted without effect, since nobody is ever asked.
void leave(const Setting&, ExecSettings&) {}

const std::vector<Key>& plain_keys() {
  static const std::vector<Key> keys = {
      {"model", [](const Setting& one, ExecSettings& to) { to.model = one.text(); }},
      {"model_provider",
       [](const Setting& one, ExecSettings& to) { to.model_provider = one.text(); }},
      {"openai_base_url",
       [](const Setting& one, ExecSettings& to) { to.openai_base_url = one.text(); }},
      {"model_reasoning_effort",
       [](const Setting& one, ExecSettings& to) { to.effort = effort_of(one); }},
      {"model_reasoning_summary",
       [](const Setting& one, ExecSettings& to) {
         to.summary = one.one_of({"auto", "concise", "detailed", "none"});
       }},
      {"sandbox_mode",
       [](const Setting& one, ExecSettings& to) {
         to.sandbox = one.one_of({"read-only", "workspace-write", "danger-full-access"});
       }},
      {"sandbox_workspace_write.network_access",
       [](const Setting& one, ExecSettings& to) { to.network = one.flag(); }},
      {"sandbox_workspace_write.writable_roots",
       [](const Setting& one, ExecSettings& to) { to.writable_roots = one.texts(); }},
      {"approval_policy", leave},
      {"web_search", [](const Setting& one, ExecSettings& to) { to.web_search = searches(one); }},
      {"project_doc_max_bytes",
       [](const Setting& one, ExecSettings& to) { to.docs_bytes = bytes_of(one); }},
      {"shell_environment_policy.inherit",
       [](const Setting& one, ExecSettings& to) { to.inherit = inherit_of(one); }},
      {"shell_environment_policy.ignore_default_excludes",
       [](const Setting& one, ExecSettings& to) { to.no_default_excludes = one.flag(); }},
      {"shell_environment_policy.exclude",
       [](const Setting& one, ExecSettings& to) { to.exclude = one.globs(); }},
      {"shell_environment_policy.include_only",
       [](const Setting& one, ExecSettings& to) { to.include_only = one.globs(); }},
  };
  return keys;
}

/// A key with a name in it, taken apart: "model_providers.NAME.http_headers.X-Team".
struct NamedKey {
  std::string name;
  std::string member;
  std::string inner;  ///< "" if it goes no deeper
};

NamedKey named_key(std::string_view rest) {
  const std::size_t dot = std::min(rest.find('.'), rest.size());
  const std::string_view after = rest.substr(std::min(dot + 1, rest.size()));
  const std::size_t next = std::min(after.find('.'), after.size());
  return {.name = std::string(rest.substr(0, dot)),
          .member = std::string(after.substr(0, next)),
          .inner = std::string(after.substr(std::min(next + 1, after.size())))};
}

/// A header of codex's configuration. @throws InputError  it can't be sent
void check_header(const Setting& one, const std::string& name) {
  const std::string key = "-c " + one_line(one.key, 100) + ": ";
  if (!is_header_name(name)) throw InputError(key + "not the name of an HTTP header");
  if (!is_header_value(one.text())) throw InputError(key + "the value has control characters");
  if (is_written_header(name)) throw InputError(key + "sortie itself writes this header");
}

/// A table of a provider: headers, parameters, and ways to a key that there are not.
bool take_provider_table(const NamedKey& key, const Setting& one, ConfiguredProvider& provider) {
  if (key.member == "http_headers" || key.member == "env_http_headers") {
    check_header(one, key.inner);
    (key.member == "http_headers" ? provider.headers : provider.variable_headers)[key.inner] =
        one.text();
  } else if (key.member == "query_params") {
    provider.query[key.inner] = one.text();
  } else if (key.member == "auth" || key.member == "aws") {
    throw InputError("-c " + one_line(one.key, 80) +
                     ": sortie gets no key this way; put it into a variable, and write "
                     "model_providers." +
                     one_line(key.name, 60) + ".env_key=VARIABLE");
  } else {
    return false;
  }
  return true;
}

int retries_of(const Setting& one) {
  constexpr std::int64_t kMostRetries = 100;
  const auto number = one.value.integer();
  if (!number || *number < 0) one.refuse("a number of retries");
  return static_cast<int>(std::min(*number, kMostRetries));
}

/// @return  whether the key is known
bool take_provider(const NamedKey& key, const Setting& one, ExecSettings& to) {
  ConfiguredProvider& provider = to.providers[key.name];
  if (!key.inner.empty()) return take_provider_table(key, one, provider);
  if (key.member == "base_url") {
    provider.base_url = one.text();
  } else if (key.member == "env_key") {
    provider.env_key = one.text();
  } else if (key.member == "experimental_bearer_token") {
    provider.bearer_token = one.text();
  } else if (key.member == "wire_api") {
    provider.wire_api = one.one_of({"responses", "chat"});
  } else if (key.member == "requires_openai_auth") {
    provider.needs_openai_key = one.flag();
  } else if (key.member == "stream_max_retries") {
    provider.retries = retries_of(one);
  } else if (key.member == "request_max_retries") {
    if (!provider.retries) provider.retries = retries_of(one);  // the keys come in their order
  } else if (key.member == "stream_idle_timeout_ms") {
    provider.idle_timeout = one.milliseconds();
  } else {
    // For people, and of a transport that is not used.
    return is_one_of(key.member, {"name", "env_key_instructions", "supports_websockets",
                                  "websocket_connect_timeout_ms"});
  }
  return true;
}

bool take_server(const NamedKey& key, const Setting& one, ExecSettings& to) {
  TaskMcpServer& server = to.mcp[key.name];
  server.name = key.name;
  server.place = "-c mcp_servers." + one_line(key.name, 60);
  if (!key.inner.empty()) {
    if (key.member != "env") return false;
    server.environment[key.inner] = one.text();
  } else if (key.member == "command") {
    server.command.insert(server.command.begin(), one.text());
  } else if (key.member == "args") {
    const std::vector<std::string> words = one.texts();
    server.command.insert(server.command.end(), words.begin(), words.end());
  } else if (key.member == "url") {
    server.url = one.text();
  } else if (key.member == "bearer_token_env_var") {
    server.bearer_token_env = one.text();
  } else if (key.member == "startup_timeout_sec") {
    server.startup_timeout = one.seconds();
  } else if (key.member == "tool_timeout_sec") {
    server.tool_timeout = one.seconds();
  } else if (key.member == "enabled_tools") {
    server.tools = one.texts();
  } else if (key.member == "required") {
    server.required = one.flag();
  } else if (key.member == "enabled") {
    if (!one.flag()) to.mcp_off.push_back(key.name);
  } else {
    return false;
  }
  return true;
}

bool take(const Setting& one, ExecSettings& to) {
  constexpr std::string_view kProviders = "model_providers.";
  constexpr std::string_view kServers = "mcp_servers.";
  constexpr std::string_view kSet = "shell_environment_policy.set.";
  for (const Key& key : plain_keys())
    if (key.name == one.key) {
      key.take(one, to);
      return true;
    }
  const std::string_view key = one.key;
  if (key.starts_with(kProviders))
    return take_provider(named_key(key.substr(kProviders.size())), one, to);
  if (key.starts_with(kServers))
    return take_server(named_key(key.substr(kServers.size())), one, to);
  if (!key.starts_with(kSet)) return false;
  to.set[std::string(key.substr(kSet.size()))] = one.text();
  return true;
}

void check_servers(const ExecSettings& settings) {
  for (const auto& [name, server] : settings.mcp) {
    const std::string key = "-c mcp_servers." + one_line(name, 60);
    if (server.command.empty() == server.url.empty())
      throw InputError(key + ": give it either a command or a url");
    if (server.url.empty()) continue;
    try {
      parse_url(server.url);
    } catch (const InputError& error) {
      throw InputError(key + ".url: " + error.what());
    }
  }
}

}  // namespace

ExecSettings read_settings(const ConfigValues& values, std::vector<std::string>& unknown) {
  ExecSettings settings;
  for (const auto& [key, value] : values)
    if (!take({key, value}, settings)) unknown.push_back(key);
  for (const std::string& name : settings.mcp_off) settings.mcp.erase(name);
  check_servers(settings);
  return settings;
}

const std::vector<std::string>& known_config_keys() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const Key& key : plain_keys()) list.push_back(key.name);
    return list;
  }();
  return names;
}

}  // namespace sortie
