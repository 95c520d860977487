#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/exec/config_values.h"
#include "core/task/task.h"
#include "policies/rules/policy.h"

namespace sortie {

/// A model provider that codex's configuration defines.
struct ConfiguredProvider {
  std::string base_url;
  std::string env_key;
  std::string wire_api = "responses";  ///< or "chat"
  bool needs_openai_key = false;       ///< requires_openai_auth
  std::string bearer_token;            ///< experimental_bearer_token
  std::map<std::string, std::string> headers;
  std::map<std::string, std::string> variable_headers;  ///< env_http_headers
  std::map<std::string, std::string> query;
  std::optional<int> retries;  ///< stream_max_retries, else request_max_retries
  std::optional<std::chrono::milliseconds> idle_timeout;
};

/// What codex's configuration says, as far as it means something here; the rest is not given.
struct ExecSettings {
  std::string model;
  std::string model_provider;
  std::map<std::string, ConfiguredProvider> providers;
  std::string openai_base_url;
  std::optional<Effort> effort;
  std::string summary;  ///< "auto", "concise", "detailed", "none"
  std::string sandbox;  ///< as -s has it
  bool network = false;
  std::vector<std::string> writable_roots;
  bool web_search = false;
  std::map<std::string, TaskMcpServer> mcp;  ///< by name
  std::vector<std::string> mcp_off;          ///< the disabled ones
  std::optional<std::uint64_t> docs_bytes;   ///< project_doc_max_bytes
  std::optional<InheritedVariables> inherit;
  bool no_default_excludes = false;
  std::vector<std::string> exclude;
  std::vector<std::string> include_only;
  std::map<std::string, std::string> set;
};

/// Reads the known keys.
/// @param unknown  gets the other ones
/// @throws InputError  a value of another kind
ExecSettings read_settings(const ConfigValues& values, std::vector<std::string>& unknown);

/// The keys, for "did you mean": those without a name in them.
const std::vector<std::string>& known_config_keys();

}  // namespace sortie
