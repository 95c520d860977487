#include "policies/bounds/bounds.h"

#include <algorithm>
#include <cstdio>

#include "core/config/fields.h"
#include "core/text/pattern.h"
#include "core/text/text.h"

namespace sortie {
namespace {

/// Whether one of the globs matches.
bool any_glob(const std::vector<std::string>& globs, const std::string& name) {
  return std::any_of(globs.begin(), globs.end(), [&name](const std::string& glob) {
    return Pattern::word_glob(glob).matches(name);
  });
}

std::string usd_text(double amount) {
  char text[64];
  std::snprintf(text, sizeof text, "%g USD", amount);
  return text;
}

/// Builds the messages: "task.yaml:5:3: error: … (policy.yaml:7: bounds.models is [a/*])".
class Check {
 public:
  Check(const Policy& policy, const BoundsRequest& request)
      : policy_(policy), request_(request), gate_(policy, request.places) {}

  std::vector<std::string> run() {
    if (request_.asks_model) {
      check_models();
      for (const KeyUse& key : request_.keys)
        if (!key.may_go) check_key(key);
      for (const ModelHostUse& use : request_.model_hosts)
        ask(use.of_fallback ? "model.fallback" : "model.base_url", use.shown,
            gate_.keyless_host(use.host));
      check_headers(request_.task.model, "model.headers");
      for (const TaskModel& model : request_.task.model.fallback)
        check_headers(model, "model.fallback");
      check_prices();
    }
    for (const auto& [name, variable] : request_.task.vars)
      if (!variable.environment.empty() && request_.given_variables.count(name) == 0)
        check_variable(name, variable.environment);
    for (const TaskMcpServer& server : request_.task.mcp) check_server(server);
    for (const McpHostUse& use : request_.mcp_hosts) check_host(use);
    for (const TaskFunction& function : request_.task.functions) check_function(function);
    check_isolation();
    check_files();
    for (const auto* commands : {&request_.task.verify.setup, &request_.task.verify.commands})
      for (const VerifyCommand& command : *commands)
        ask("verify", "the command '" + one_line(command.text, 80) + "'",
            gate_.verification(command.argv, request_.approval));
    check_time();
    check_tokens();
    check_cost();
    return std::move(messages_);
  }

 private:
  /// The place in the task, or the flag.
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

  /// Adds the gate's answer, if it is not "".
  void ask(const std::string& key, const std::string& what, const std::string& problem) {
    if (!problem.empty()) messages_.push_back(asked_at(key) + what + " " + problem);
  }
  void ask_of(const std::string& place, const std::string& what, const std::string& problem) {
    if (!problem.empty()) messages_.push_back(place + ": error: " + what + " " + problem);
  }

  void check_headers(const TaskModel& model, const std::string& key) {
    for (const auto& [name, value] : model.headers)
      ask(key, "the header '" + one_line(name, 60) + "'", gate_.header(name));
  }

  void check_prices() {
    if (policy_.prices_of_task || policy_.places.count("bounds.budget.cost") == 0) return;
    for (const UnpricedModel& model : request_.unpriced)
      messages_.push_back(asked_at(model.of_fallback ? "model.fallback" : "model.name") +
                          "the price of the model " + one_line(model.name, 80) +
                          " is unknown, and the task's own price does not count (" +
                          policy_place(policy_, "bounds.budget.cost") +
                          " bounds it; bounds.prices: true would let the task set its price)");
  }

  /// A flag is the operator's word.
  void check_isolation() {
    const std::string key = "workspace.isolation";
    if (request_.task.workspace.isolation == Isolation::none && !policy_.own_tree &&
        request_.flags.count(key) == 0)
      add(key,
          "isolation none, to work in the tree itself, is beyond the policy's bounds; --isolation "
          "none allows it",
          "bounds.own_tree", "false");
  }

  void check_files() {
    const Task& task = request_.task;
    // The default names no file that the task asks for: what is hidden of it is not read.
    const std::vector<std::string> usual = TaskWorkspace{}.project_docs;
    for (const auto& name : task.workspace.project_docs)
      if (task.workspace.project_docs != usual)
        ask("workspace.project_docs",
            "'" + one_line(name, 80) + "':", gate_.file_of_workspace(name));
    for (const auto& name : task.output.include)
      ask("output.diff.include", "'" + one_line(name, 80) + "':", gate_.file_of_workspace(name));
    for (const auto& name : task.output.submodules)
      ask("output.diff.submodules", "'" + one_line(name, 80) + "':", gate_.file_of_workspace(name));
    if (!task.context.carry_over.empty())
      ask("context.carry_over", "'" + one_line(task.context.carry_over, 80) + "':",
          gate_.notes(task.context.carry_over, request_.files));
  }

  void check_models() {
    check_model(request_.task.model, "model.name");
    for (const TaskModel& model : request_.task.model.fallback)
      check_model(model, "model.fallback");
  }

  void check_model(const TaskModel& model, const std::string& key) {
    const std::string asked = model.provider + "/" + model.name;
    if (any_glob(policy_.models, asked)) return;
    add(key, "the model " + one_line(asked, 80) + " is beyond the policy's bounds", "bounds.models",
        entries_text(policy_.models));
  }

  void check_key(const KeyUse& key) {
    const auto hosts = policy_.credentials.find(key.variable);
    const bool known = hosts != policy_.credentials.end();
    const std::string advice =
        key.of_fallback ? "" : "; to use it anyway, name it with --base-url or SORTIE_BASE_URL";
    if (!key.named_by.empty()) {
      messages_.push_back(
          key.named_by + ": " + key.variable + " may not go to " + key.host + " (" +
          policy_place(policy_, "bounds.credentials") + " is " +
          (known ? key.variable + ": " + entries_text(hosts->second) : "without " + key.variable) +
          "); add the host there, name it with --base-url, or unset " + key.named_by);
      return;
    }
    add(key.of_fallback ? "model.fallback"
        : known         ? "model.base_url"
                        : "model.api_key_env",
        key.variable + " may not go to " + key.host, "bounds.credentials",
        known ? key.variable + ": " + entries_text(hosts->second) + advice
              : "without " + key.variable + to_allow_key(policy_, key.variable, key.host));
  }

  void check_variable(const std::string& name, const std::string& variable) {
    ask("vars." + name + ".env", "the variable " + variable, gate_.prompt_variable(variable));
  }

  void check_server(const TaskMcpServer& server) {
    if (server.command.empty()) return;
    const std::string name = "of the MCP server " + server.name;
    ask_of(server.place, "the program " + one_line(server.command.front(), 80) + " " + name,
           gate_.program(server.command));
    for (const auto& [variable, value] : server.environment)
      ask_of(server.place, "the variable " + one_line(variable, 60) + " " + name,
             gate_.server_variable(variable));
  }

  void check_host(const McpHostUse& use) {
    const std::string name = "the MCP server " + use.server;
    const std::string address = one_line(use.address, 80);
    ask_of(use.place, "the address of " + name, gate_.server_address(use.address));
    if (use.token_may_go) return;
    const auto hosts = policy_.credentials.find(use.variable);
    messages_.push_back(
        use.place + ": error: " + use.variable + " may not go to " + address + ", the address of " +
        name + " (" + policy_place(policy_, "bounds.credentials") + " is " +
        (hosts == policy_.credentials.end() ? "without " + use.variable
                                            : use.variable + ": " + entries_text(hosts->second)) +
        ")");
  }

  void check_function(const TaskFunction& function) {
    ask_of(function.place,
           "the program " + one_line(function.run[0], 80) + " of the function " + function.name,
           gate_.program(function.run));
  }

  void check_time() {
    const auto asked = bounded_time(policy_, request_);
    if (asked <= policy_.max_time) return;
    add("budget.time", "a time of " + duration_text(asked) + " is beyond the policy's bounds",
        "bounds.budget.time", duration_text(policy_.max_time));
  }

  void check_tokens() {
    const std::int64_t asked = bounded_tokens(policy_, request_);
    if (asked <= policy_.max_tokens) return;
    add("budget.tokens", std::to_string(asked) + " tokens are beyond the policy's bounds",
        "bounds.budget.tokens", std::to_string(policy_.max_tokens));
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
  TaskGate gate_;
  std::vector<std::string> messages_;
};

}  // namespace

std::vector<std::string> beyond_bounds(const Policy& policy, const BoundsRequest& request) {
  return Check(policy, request).run();
}

double bounded_cost(const Policy& policy, const BoundsRequest& request) {
  const double cost = request.task.budget.cost;
  if (request.task.budget.cost_given || !policy.max_cost) return cost;
  return std::min(cost, *policy.max_cost);
}

std::int64_t bounded_tokens(const Policy& policy, const BoundsRequest& request) {
  const bool asked =
      request.task.places.count("budget.tokens") != 0 || request.flags.count("budget.tokens") != 0;
  return asked ? request.task.budget.tokens
               : std::min(request.task.budget.tokens, policy.max_tokens);
}

std::chrono::milliseconds bounded_time(const Policy& policy, const BoundsRequest& request) {
  const bool asked =
      request.task.places.count("budget.time") != 0 || request.flags.count("budget.time") != 0;
  return asked ? request.task.budget.time : std::min(request.task.budget.time, policy.max_time);
}

}  // namespace sortie
