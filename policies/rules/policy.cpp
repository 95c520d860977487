#include "policies/rules/policy.h"

#include "core/base/hash.h"
#include "core/config/fields.h"

namespace sortie {
namespace {

Json strings(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const auto& text : texts) list.push_back(text);
  return list;
}

/// A place of one word as the word, one of several as a list: as the file may write it.
Json prefix_json(const std::vector<std::vector<std::string>>& prefix) {
  Json list = Json::array();
  for (const auto& words : prefix)
    list.push_back(words.size() == 1 ? Json(words.front()) : strings(words));
  return list;
}

Json command_rule_json(const CommandRule& rule) {
  Json what = !rule.command_class.empty() ? Json::object({{"class", rule.command_class}})
              : !rule.script.empty()      ? Json::object({{"script", rule.script}})
                                          : prefix_json(rule.prefix);
  Json json = Json::object({{name_of(rule.effect), std::move(what)}});
  if (!rule.but_not_args.empty())
    json.set("but_not", Json::object({{"args", strings(rule.but_not_args)}}));
  if (!rule.why.empty()) json.set("why", rule.why);
  if (rule.escalate) {
    Json sandbox = Json::object();
    if (rule.sandbox.mode) sandbox.set("mode", name_of(*rule.sandbox.mode));
    if (rule.sandbox.network) sandbox.set("network", name_of(*rule.sandbox.network));
    json.set("escalate", true);
    json.set("sandbox", std::move(sandbox));
  }
  return json;
}

Json tool_rule_json(const ToolRule& rule) {
  Json json = Json::object({{name_of(rule.effect), strings(rule.names)}});
  if (!rule.why.empty()) json.set("why", rule.why);
  return json;
}

Json bounds_json(const Policy& policy) {
  Json credentials = Json::object();
  for (const auto& [variable, hosts] : policy.credentials)
    credentials.set(variable, strings(hosts));
  Json budget =
      Json::object({{"time", duration_text(policy.max_time)}, {"tokens", policy.max_tokens}});
  if (policy.max_cost) budget.set("cost", *policy.max_cost);
  return Json::object({{"credentials", std::move(credentials)},
                       {"models", strings(policy.models)},
                       {"vars_env", strings(policy.vars_env)},
                       {"mcp", strings(policy.mcp)},
                       {"workspace", strings(policy.workspaces)},
                       {"model_hosts", strings(policy.model_hosts)},
                       {"mcp_env", strings(policy.mcp_env)},
                       {"carry_over", strings(policy.carry_over)},
                       {"verify", policy.verify_by_rules ? "rules" : "any"},
                       {"prices", policy.prices_of_task},
                       {"budget", std::move(budget)}});
}

Json approver_json(const PolicyApprover& approver) {
  return Json::object(
      {{"command", strings(approver.command)}, {"timeout", duration_text(approver.timeout)}});
}

Json environment_json(const Policy& policy) {
  Json set = Json::object();
  for (const auto& [name, value] : policy.environment_set) set.set(name, value);
  return Json::object({{"inherit", policy.environment_inherit},
                       {"include", strings(policy.environment_include)},
                       {"exclude", strings(policy.environment_exclude)},
                       {"set", std::move(set)}});
}

Json limits_json(const PolicyLimits& limits) {
  const std::string memory =
      limits.memory == 0 ? std::to_string(limits.memory_percent) + "%" : size_text(limits.memory);
  return Json::object({{"command_timeout", duration_text(limits.command_timeout)},
                       {"output", size_text(limits.output)},
                       {"memory", memory},
                       {"processes", limits.processes},
                       {"file_size", size_text(limits.file_size)},
                       {"open_files", limits.open_files},
                       {"disk", size_text(limits.disk)},
                       {"diff_file_size", size_text(limits.diff_file_size)},
                       {"transcript", size_text(limits.transcript)}});
}

}  // namespace

Json policy_json(const Policy& policy) {
  Json commands = Json::array();
  for (const auto& rule : policy.commands) commands.push_back(command_rule_json(rule));
  Json tools = Json::array();
  for (const auto& rule : policy.tools) tools.push_back(tool_rule_json(rule));
  Json guarantee = Json::array();
  for (const Guarantee each : policy.guarantee) guarantee.push_back(name_of(each));
  Json json = Json::object(
      {{"version", 1},
       {"name", policy.name},
       {"approval", name_of(policy.approval)},
       {"approval_override", policy.approval_override},
       {"on_denied", policy.abort_on_denied ? "abort" : "continue"},
       {"max_denials", policy.max_denials},
       {"unreadable", policy.unreadable_allow ? "allow" : "deny"},
       {"bounds", bounds_json(policy)},
       {"commands", std::move(commands)},
       {"tools", std::move(tools)},
       {"paths", Json::object({{"write", strings(policy.write)},
                               {"read", strings(policy.read)},
                               {"toolchains", policy.toolchains ? "auto" : "none"},
                               {"hide", strings(policy.hide)},
                               {"protect", strings(policy.protect)}})},
       {"network", Json::object({{"mode", name_of(policy.network)},
                                 {"allow", strings(policy.network_allow)}})},
       {"environment", environment_json(policy)},
       {"limits", limits_json(policy.limits)},
       {"sandbox",
        Json::object({{"mode", name_of(policy.sandbox)}, {"guarantee", std::move(guarantee)}})},
       {"escalation", policy.escalation ? "rules" : "deny"},
       {"trust", Json::object({{"input", policy.input_untrusted ? "untrusted" : "trusted"},
                               {"allow_all_three", policy.allow_all_three}})},
       {"redact", Json::object({{"patterns", strings(policy.redact_patterns)},
                                {"on_leak", name_of(policy.on_leak)}})}});
  if (policy.approver) json.set("approver", approver_json(*policy.approver));
  return json;
}

std::string policy_digest(const Policy& policy) {
  return "sha256:" + sha256_hex(write_json(policy_json(policy)));
}

const char* name_of(Approval value) noexcept {
  switch (value) {
    case Approval::full_auto:
      return "full-auto";
    case Approval::audit:
      return "audit";
    case Approval::deny_by_default:
      break;
  }
  return "deny-by-default";
}

const char* name_of(Effect value) noexcept {
  switch (value) {
    case Effect::allow:
      return "allow";
    case Effect::deny:
      return "deny";
    case Effect::forbid:
      break;
  }
  return "forbid";
}

const char* name_of(SandboxMode value) noexcept {
  switch (value) {
    case SandboxMode::workspace_write:
      return "workspace-write";
    case SandboxMode::none:
      return "none";
    case SandboxMode::read_only:
      break;
  }
  return "read-only";
}

const char* name_of(NetworkMode value) noexcept {
  switch (value) {
    case NetworkMode::allow_list:
      return "allow-list";
    case NetworkMode::full:
      return "full";
    case NetworkMode::none:
      break;
  }
  return "none";
}

const char* name_of(OnLeak value) noexcept { return value == OnLeak::report ? "report" : "fail"; }

const char* name_of(Guarantee value) noexcept {
  switch (value) {
    case Guarantee::writes:
      return "writes";
    case Guarantee::secrets:
      return "secrets";
    case Guarantee::network:
      return "network";
    case Guarantee::processes:
      return "processes";
    case Guarantee::kernel:
      break;
  }
  return "kernel";
}

}  // namespace sortie
