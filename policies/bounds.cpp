#include "policies/bounds.h"

#include <algorithm>
#include <cstdio>

#include "core/base/fields.h"
#include "core/base/pattern.h"
#include "core/base/text.h"
#include "policies/environment.h"
#include "policies/mcp_bounds.h"

namespace sortie {
namespace {

/// The glob that the name matches; nothing where none does.
const std::string* matching_glob(const std::vector<std::string>& globs, const std::string& name,
                                 LetterCase letters) {
  for (const auto& glob : globs)
    if (Pattern::word_glob(glob, letters).matches(name)) return &glob;
  return nullptr;
}

std::string list_text(const std::vector<std::string>& entries) {
  std::string text = "[";
  for (const auto& entry : entries) text += (text.size() == 1 ? "" : ", ") + one_line(entry, 60);
  return one_line(text, 200) + "]";
}

/// "policy.yaml:7: bounds.models", or the name of the key alone where its default holds.
std::string policy_place(const Policy& policy, const std::string& key) {
  const auto place = policy.places.find(key);
  if (place == policy.places.end()) return key + " (the default)";
  return place->second.file + ":" + std::to_string(place->second.line) + ": " + key;
}

std::string usd_text(double amount) {
  char text[64];
  std::snprintf(text, sizeof text, "%g USD", amount);
  return text;
}

/// Builds the messages: "task.yaml:5:3: error: … (policy.yaml:7: bounds.models is [a/*])".
class Check {
 public:
  Check(const Policy& policy, const BoundsRequest& request) : policy_(policy), request_(request) {}

  std::vector<std::string> run() {
    if (request_.asks_model) check_models();
    if (request_.asks_model)
      for (const KeyUse& key : request_.keys)
        if (!key.may_go) check_key(key);
    for (const auto& [name, variable] : request_.task.vars)
      if (!variable.environment.empty() && request_.given_variables.count(name) == 0)
        check_variable(name, variable.environment);
    for (const TaskMcpServer& server : request_.task.mcp) check_server(server);
    for (const McpHostUse& use : request_.mcp_hosts) check_host(use);
    for (const TaskFunction& function : request_.task.functions) check_function(function);
    check_time();
    check_cost();
    return std::move(messages_);
  }

 private:
  /// Where the task or a flag says it.
  std::string asked_at(const std::string& key) const {
    const auto flag = request_.flags.find(key);
    if (flag != request_.flags.end()) return flag->second + ": ";
    const auto place = request_.task.places.find(key);
    if (place != request_.task.places.end()) return place->second + ": error: ";
    return "task: " + key + ": ";
  }

  void add(const std::string& key, const std::string& what, const std::string& bound,
           const std::string& value) {
    messages_.push_back(asked_at(key) + what + " (" + policy_place(policy_, bound) + " is " +
                        value + ")");
  }

  void check_models() {
    check_model(request_.task.model, "model.name");
    for (const TaskModel& model : request_.task.model.fallback)
      check_model(model, "model.fallback");
  }

  void check_model(const TaskModel& model, const std::string& key) {
    const std::string asked = model.provider + "/" + model.name;
    if (matching_glob(policy_.models, asked, LetterCase::exact) != nullptr) return;
    add(key, "the model " + one_line(asked, 80) + " is beyond the policy's bounds", "bounds.models",
        list_text(policy_.models));
  }

  void check_key(const KeyUse& key) {
    const auto hosts = policy_.credentials.find(key.variable);
    const bool known = hosts != policy_.credentials.end();
    const std::string advice =
        key.of_fallback ? "" : "; --base-url and SORTIE_BASE_URL are the operator's own word";
    add(key.of_fallback ? "model.fallback"
        : known         ? "model.base_url"
                        : "model.api_key_env",
        key.variable + " may not go to " + key.host, "bounds.credentials",
        known ? key.variable + ": " + list_text(hosts->second) + advice
              : "without " + key.variable);
  }

  void check_variable(const std::string& name, const std::string& variable) {
    const std::string key = "vars." + name + ".env";
    const std::string* excluded =
        matching_glob(policy_.environment_exclude, variable, LetterCase::ignored);
    if (excluded != nullptr) {
      add(key, "the variable " + variable + " never goes into a prompt: it may hold a secret",
          "environment.exclude", "'" + *excluded + "' among others");
    } else if (policy_.credentials.count(variable) != 0) {
      add(key, "the variable " + variable + " never goes into a prompt: it is a credential",
          "bounds.credentials", variable);
    } else if (matching_glob(policy_.vars_env, variable, LetterCase::exact) == nullptr) {
      add(key, "the variable " + variable + " is beyond the policy's bounds", "bounds.vars_env",
          list_text(policy_.vars_env));
    }
  }

  void check_server(const TaskMcpServer& server) {
    if (server.command.empty()) return;
    const std::string name = "the MCP server " + server.name;
    if (!names_program(policy_.mcp, server.command))
      messages_.push_back(server.place + ": error: the program " +
                          one_line(server.command.front(), 80) + " of " + name +
                          " is beyond the policy's bounds (" + policy_place(policy_, "bounds.mcp") +
                          " is " + list_text(policy_.mcp) + ")");
    for (const auto& [variable, value] : server.environment)
      if (variable == "PATH" || variable == "HOME" || makes_programs_run_code(variable))
        messages_.push_back(server.place + ": error: the variable " + one_line(variable, 60) +
                            " of " + name + " would have its program run other code");
  }

  void check_host(const McpHostUse& use) {
    const std::string name = "the MCP server " + use.server;
    const std::string address = one_line(use.address, 80);
    // The entry that is missing is said in full: a host without its scheme names a program.
    if (!names_address(policy_.mcp, use.address))
      messages_.push_back(use.place + ": error: the address of " + name +
                          " is beyond the policy's bounds (" + policy_place(policy_, "bounds.mcp") +
                          " is " + list_text(policy_.mcp) + ", without " + address + ")");
    if (use.token_may_go) return;
    const auto hosts = policy_.credentials.find(use.variable);
    messages_.push_back(
        use.place + ": error: " + use.variable + " may not go to " + address + ", the address of " +
        name + " (" + policy_place(policy_, "bounds.credentials") + " is " +
        (hosts == policy_.credentials.end() ? "without " + use.variable
                                            : use.variable + ": " + list_text(hosts->second)) +
        ")");
  }

  void check_function(const TaskFunction& function) {
    if (names_program(policy_.mcp, function.run)) return;
    messages_.push_back(function.place + ": error: the program " + one_line(function.run[0], 80) +
                        " of the function " + function.name + " is beyond the policy's bounds (" +
                        policy_place(policy_, "bounds.mcp") + " is " + list_text(policy_.mcp) +
                        ")");
  }

  void check_time() {
    const auto asked = bounded_time(policy_, request_);
    if (asked <= policy_.max_time) return;
    add("budget.time", "a time of " + duration_text(asked) + " is beyond the policy's bounds",
        "bounds.budget.time", duration_text(policy_.max_time));
  }

  void check_cost() {
    if (!policy_.max_cost) return;
    const double asked = bounded_cost(policy_, request_);
    if (asked <= *policy_.max_cost) return;
    add("budget.cost", "a cost of " + usd_text(asked) + " is beyond the policy's bounds",
        "bounds.budget.cost", usd_text(*policy_.max_cost));
  }

  const Policy& policy_;
  const BoundsRequest& request_;
  std::vector<std::string> messages_;
};

}  // namespace

std::vector<std::string> beyond_bounds(const Policy& policy, const BoundsRequest& request) {
  return Check(policy, request).run();
}

bool may_read_variable(const Policy& policy, const std::string& name) {
  return matching_glob(policy.environment_exclude, name, LetterCase::ignored) == nullptr &&
         policy.credentials.count(name) == 0 &&
         matching_glob(policy.vars_env, name, LetterCase::exact) != nullptr;
}

double bounded_cost(const Policy& policy, const BoundsRequest& request) {
  const double cost = request.task.budget.cost;
  if (request.task.budget.cost_given || !policy.max_cost) return cost;
  return std::min(cost, *policy.max_cost);
}

std::chrono::milliseconds bounded_time(const Policy& policy, const BoundsRequest& request) {
  const bool asked =
      request.task.places.count("budget.time") != 0 || request.flags.count("budget.time") != 0;
  return asked ? request.task.budget.time : std::min(request.task.budget.time, policy.max_time);
}

}  // namespace sortie
