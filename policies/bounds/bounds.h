#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/task/task.h"
#include "policies/bounds/task_gate.h"
#include "policies/rules/policy.h"

namespace sortie {

/// A credential that the run would send.
struct KeyUse {
  std::string variable{};
  std::string host{};        ///< the receiver, "HOST:PORT"
  bool may_go = true;        ///< whether bounds.credentials lists that host for it
  bool of_fallback = false;  ///< for one of model.fallback
  std::string named_by{};    ///< the variable that names the host; "" if the task does
};

/// The host of a model that gets no key.
struct ModelHostUse {
  ModelHost host{};
  std::string shown{};  ///< "HOST:PORT"
  bool of_fallback = false;
};

/// A model that is not in the price list.
struct UnpricedModel {
  std::string name{};  ///< "local qwen3"
  bool of_fallback = false;
};

/// An MCP server that is reached over the network.
struct McpHostUse {
  std::string server{};      ///< its name in the task
  std::string place{};       ///< "task.yaml:5:5"
  std::string address{};     ///< "https://HOST", with ":PORT" if it is not the scheme's
  std::string variable{};    ///< the variable with its token; "" for none
  bool token_may_go = true;  ///< whether bounds.credentials lists that host for it
};

/// What the task and the flags ask for.
struct BoundsRequest {
  const Task& task;  ///< with the flags' overrides
  /// Flags that override values of the task, by the task's key: {"model.name", "--model"}.
  std::map<std::string, std::string> flags{};
  std::set<std::string> given_variables{};  ///< template variables that --var gives
  bool asks_model = true;                   ///< false: a recording answers, nothing is sent
  std::vector<KeyUse> keys{};               ///< of the models that have one
  std::vector<ModelHostUse> model_hosts{};  ///< of the others, except those that the operator names
  std::vector<UnpricedModel> unpriced{};    ///< models that are not in the price list
  std::vector<McpHostUse> mcp_hosts{};      ///< of the task's MCP servers that have a url
  Approval approval = Approval::deny_by_default;  ///< in force
  GatePlaces places{};
  /// Files of the run, which notes must not replace.
  std::vector<std::filesystem::path> files{};
};

/// A message for each request beyond the policy's bounds: its place, what it asks for, and the
/// policy's bound with its place.
std::vector<std::string> beyond_bounds(const Policy& policy, const BoundsRequest& request);

/// USD that a run may cost: the task's value; without one, the default within the policy's bound.
double bounded_cost(const Policy& policy, const BoundsRequest& request);

/// Tokens that a run may use: the task's value; without one, the default within the policy's bound.
std::int64_t bounded_tokens(const Policy& policy, const BoundsRequest& request);

/// The time that a run may take: the task's value; without one, the default within the bound.
std::chrono::milliseconds bounded_time(const Policy& policy, const BoundsRequest& request);

}  // namespace sortie
