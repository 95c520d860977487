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
  std::string host{};        ///< where to: "HOST:PORT"
  bool may_go = true;        ///< whether bounds.credentials has that host for it
  bool of_fallback = false;  ///< for one of model.fallback
  std::string named_by{};    ///< the variable that names the host; "" where the task does
};

/// A host that a model is asked at without a key.
struct ModelHostUse {
  ModelHost host{};
  std::string shown{};  ///< "HOST:PORT"
  bool of_fallback = false;
};

/// A model whose price only the task can know.
struct UnpricedModel {
  std::string name{};  ///< "local qwen3"
  bool of_fallback = false;
};

/// An MCP server that is reached over the network.
struct McpHostUse {
  std::string server{};      ///< its name in the task
  std::string place{};       ///< "task.yaml:5:5"
  std::string address{};     ///< "https://HOST", with ":PORT" where it is not the scheme's
  std::string variable{};    ///< of its token; "" for none
  bool token_may_go = true;  ///< whether bounds.credentials has that host for it
};

/// What a run asks for, as the task and the flags have it.
struct BoundsRequest {
  const Task& task;  ///< with the flags' overrides
  /// The flag that a value of the task comes from, by the task's key: {"model.name", "--model"}.
  std::map<std::string, std::string> flags{};
  std::set<std::string> given_variables{};  ///< template variables that --var gives
  bool asks_model = true;                   ///< false: a recording answers, nothing leaves
  std::vector<KeyUse> keys{};               ///< of the models that have one
  std::vector<ModelHostUse> model_hosts{};  ///< of those without, but such as the operator names
  std::vector<UnpricedModel> unpriced{};    ///< models that are not in the price list
  std::vector<McpHostUse> mcp_hosts{};      ///< of the task's MCP servers that have a url
  Approval approval = Approval::deny_by_default;  ///< in force
  GatePlaces places{};
  /// Files that the run has already, which no notes may stand in place of.
  std::vector<std::filesystem::path> files{};
};

/// What is asked for beyond the policy's bounds, a message each: where it is asked, what, and what
/// the policy has instead, with its place.
std::vector<std::string> beyond_bounds(const Policy& policy, const BoundsRequest& request);

/// USD that a run may cost: what the task asks for, and at most the policy's ceiling where it does
/// not say.
double bounded_cost(const Policy& policy, const BoundsRequest& request);

/// Tokens that a run may take, likewise.
std::int64_t bounded_tokens(const Policy& policy, const BoundsRequest& request);

/// The time a run may take: what the task asks for, and the policy's ceiling where it does not say.
std::chrono::milliseconds bounded_time(const Policy& policy, const BoundsRequest& request);

}  // namespace sortie
