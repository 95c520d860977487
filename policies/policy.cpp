#include "policies/policy.h"

#include "core/base/fields.h"
#include "core/base/hash.h"

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
  Json what = rule.command_class.empty() ? prefix_json(rule.prefix)
                                         : Json::object({{"class", rule.command_class}});
  Json json = Json::object({{name_of(rule.effect), std::move(what)}});
  if (!rule.but_not_args.empty())
    json.set("but_not", Json::object({{"args", strings(rule.but_not_args)}}));
  if (!rule.why.empty()) json.set("why", rule.why);
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
  return Json::object({{"credentials", std::move(credentials)},
                       {"models", strings(policy.models)},
                       {"vars_env", strings(policy.vars_env)}});
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
  return Json::object({{"version", 1},
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
                                               {"hide", strings(policy.hide)},
                                               {"protect", strings(policy.protect)}})},
                       {"network", Json::object({{"mode", name_of(policy.network)}})},
                       {"environment", environment_json(policy)},
                       {"limits", limits_json(policy.limits)},
                       {"sandbox", Json::object({{"mode", name_of(policy.sandbox)},
                                                 {"guarantee", std::move(guarantee)}})}});
}

std::string policy_digest(const Policy& policy) {
  return "sha256:" + sha256_hex(write_json(policy_json(policy)));
}

const char* name_of(Approval value) noexcept {
  return value == Approval::full_auto ? "full-auto" : "deny-by-default";
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
  return value == NetworkMode::full ? "full" : "none";
}

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
