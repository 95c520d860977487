#include "policies/policy_fields.h"

#include <algorithm>
#include <utility>

#include "policies/policy_rules.h"

namespace sortie {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kAnySize = 1ull << 50;
constexpr TextLimits kEnvironmentName = {.pattern = "[A-Za-z_][A-Za-z0-9_]*",
                                         .meaning = "the name of an environment variable"};
constexpr TextLimits kHost = {
    .pattern =
        R"(((\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?)",
    .meaning = "a host like api.example.com, with a port if need be"};

template <typename Enum>
std::vector<std::string> names_of(const std::vector<Enum>& values) {
  std::vector<std::string> names;
  for (const Enum value : values) names.emplace_back(name_of(value));
  return names;
}

/// One of an enumeration's names, as name_of() spells them.
template <typename Enum>
FieldValue enum_value(Enum& target, std::vector<Enum> values, std::vector<std::string> later = {}) {
  std::vector<std::string> names = names_of(values);
  return choice_value(name_of(target), std::move(names), std::move(later),
                      [&target, values = std::move(values)](const std::string& name) {
                        for (const Enum value : values)
                          if (name == name_of(value)) target = value;
                      });
}

/// A key whose two words stand for a bool.
FieldValue two_words_value(bool& target, const char* when_false, const char* when_true) {
  return choice_value(
      target ? when_true : when_false, {when_false, when_true}, {},
      [&target, when_true](const std::string& name) { target = name == when_true; });
}

/// A list whose default is replaced by the first file that names it.
template <typename Container>
FieldValue first_replaces(PolicyDraft& draft, const std::string& key, Container& target,
                          FieldValue appended) {
  appended.read = [&draft, key, &target, read = std::move(appended.read)](
                      const YamlNode& node, const std::string& name, Diagnostics& findings) {
    if (draft.given.insert(key).second) target.clear();
    read(node, name, findings);
  };
  return appended;
}

FieldValue list_value(PolicyDraft& draft, const std::string& key, std::vector<std::string>& target,
                      TextLimits limits = {}) {
  return first_replaces(draft, key, target, texts_value(target, Lists::appended, limits));
}

/// `protect`: added to the default; an empty list takes all of it away.
FieldValue protect_value(std::vector<std::string>& target) {
  FieldValue value = texts_value(target, Lists::appended);
  value.read = [&target, read = std::move(value.read)](
                   const YamlNode& node, const std::string& name, Diagnostics& findings) {
    if (node.is_list() && node.items.empty()) target.clear();
    read(node, name, findings);
  };
  return value;
}

FieldValue credentials_value(PolicyDraft& draft) {
  auto& target = draft.policy.credentials;
  Json schema = Json::object(
      {{"type", "object"},
       {"additionalProperties",
        Json::object({{"type", "array"}, {"items", Json::object({{"type", "string"}})}})}});
  Json defaults = Json::object();
  for (const auto& [variable, hosts] : target) {
    Json list = Json::array();
    for (const auto& host : hosts) list.push_back(host);
    defaults.set(variable, std::move(list));
  }
  schema.set("default", std::move(defaults));
  FieldValue value = {
      .schema = std::move(schema),
      .read = [&target](const YamlNode& node, const std::string& name, Diagnostics& findings) {
        if (!node.is_mapping()) {
          findings.error(node.place, "'" + name +
                                         "' has to be a mapping of variables to hosts, not " +
                                         kind_in_words(node));
          return;
        }
        for (const auto& member : node.members) {
          const std::string& variable = member.key.text;
          if (!read_text(member.key, "credential", kEnvironmentName, findings)) continue;
          if (member.value.kind == YamlNode::Kind::null)
            findings.error(member.key.place, "'" + variable + "' needs a list of hosts");
          else
            texts_value(target[variable], Lists::appended, kHost)
                .read(member.value, variable, findings);
        }
      }};
  return first_replaces(draft, "bounds.credentials", target, std::move(value));
}

FieldValue guarantee_value(PolicyDraft& draft) {
  static const std::vector<Guarantee> all = {Guarantee::writes, Guarantee::secrets,
                                             Guarantee::network, Guarantee::processes,
                                             Guarantee::kernel};
  auto& target = draft.policy.guarantee;
  Json names = Json::array();
  for (const Guarantee each : all) names.push_back(name_of(each));
  Json defaults = Json::array();
  for (const Guarantee each : target) defaults.push_back(name_of(each));
  FieldValue value = {
      .schema = Json::object({{"type", "array"},
                              {"items", Json::object({{"enum", std::move(names)}})},
                              {"default", std::move(defaults)}}),
      .read = [&target](const YamlNode& node, const std::string& name, Diagnostics& findings) {
        if (!check_list(node, name, "a list", findings)) return;
        const auto add = [&target](const std::string& text) {
          for (const Guarantee each : all)
            if (text == name_of(each) &&
                std::find(target.begin(), target.end(), each) == target.end())
              target.push_back(each);
        };
        for (const auto& item : node.items)
          if (item.kind != YamlNode::Kind::refused)
            choice_value("", names_of(all), {}, add).read(item, name, findings);
      }};
  return first_replaces(draft, "sandbox.guarantee", target, std::move(value));
}

/// A size, or a share of the machine's memory.
FieldValue memory_value(PolicyLimits& limits) {
  return {.schema = Json::object(
              {{"type", "string"},
               {"pattern", "^([1-9][0-9]?%|100%|[0-9]+(B|[kKMGT]B|[KMGT]iB))$"},
               {"default", limits.memory == 0 ? std::to_string(limits.memory_percent) + "%"
                                              : size_text(limits.memory)}}),
          .read = [&limits](const YamlNode& node, const std::string& name, Diagnostics& findings) {
            if (node.is_scalar() && node.text.ends_with('%')) {
              int percent = 0;
              YamlNode number = node;
              number.text.pop_back();
              number.plain = true;
              integer_value(percent, 1, 100).read(number, name, findings);
              if (percent > 0) limits.memory_percent = percent;
              if (percent > 0) limits.memory = 0;
            } else if (node.is_scalar() && parse_size(node.text)) {
              size_value(limits.memory, 1u << 20, kAnySize).read(node, name, findings);
            } else {
              findings.error(node.place,
                             "'" + name + "' has to be a size like 2GiB or a share like 80%, not " +
                                 kind_in_words(node));
            }
          }};
}

Fields limits_fields(PolicyLimits& limits) {
  return Fields("limits")
      .add("command_timeout", duration_value(limits.command_timeout, 1ms, 24h), "Of one command.")
      .add("output", size_value(limits.output, 1, kAnySize),
           "Of one command: past it the command is stopped.")
      .add("memory", memory_value(limits),
           "Of the whole tree of processes: a size, or a share of the machine's or container's.")
      .add("processes", integer_value(limits.processes, 1, 4'000'000), "Of the run's own tree.")
      .add("file_size", size_value(limits.file_size, 1, kAnySize), "Of one file written.")
      .add("open_files", integer_value(limits.open_files, 16, 1'000'000), "Of one process.")
      .add("disk", size_value(limits.disk, 1, kAnySize), "Of what one run writes.")
      .add("diff_file_size", size_value(limits.diff_file_size, 1, kAnySize),
           "Of one file in the diff.")
      .add("transcript", size_value(limits.transcript, 1, kAnySize), "Records and blobs.");
}

Fields bounds_fields(PolicyDraft& draft) {
  Policy& policy = draft.policy;
  Fields budget("budget");
  budget.add("cost", real_value(policy.max_cost, 0, 1e6), "USD.")
      .add("time", duration_value(policy.max_time, 1ms, 24h * 30), "Wall clock of a run.");
  return Fields("bounds")
      .add("credentials", credentials_value(draft),
           "The only variables that leave, each with the hosts that may get it.")
      .add("models", list_value(draft, "bounds.models", policy.models),
           "Globs over provider/name that a task may ask for; a recording asks no model.")
      .add("vars_env", list_value(draft, "bounds.vars_env", policy.vars_env),
           "Globs over environment variables that a task may read into its prompt.")
      .add("mcp", list_value(draft, "bounds.mcp", policy.mcp),
           "Hosts and commands of MCP servers, and function programs, that a task may name.")
      .add("budget", mapping_value(std::move(budget)), "The most that a task may ask for.");
}

Fields paths_fields(PolicyDraft& draft) {
  Policy& policy = draft.policy;
  return Fields("paths")
      .add("write", list_value(draft, "paths.write", policy.write),
           "Writable, beyond the private HOME and /tmp.")
      .add("read", list_value(draft, "paths.read", policy.read), "Added to what can be read.")
      .add("hide", texts_value(policy.hide, Lists::appended),
           "Not readable, for tools and commands alike; added to the default.")
      .add("protect", protect_value(policy.protect),
           "Readable, not writable; added to the default, and [] leaves none of it.")
      .add("toolchains", two_words_value(policy.toolchains, "none", "auto"),
           "Whether known tool folders under HOME are readable; writes to them are thrown away.");
}

Fields environment_fields(PolicyDraft& draft) {
  static constexpr TextLimits kValue = {.may_be_empty = true};
  Policy& policy = draft.policy;
  return Fields("environment")
      .add("inherit", choice_value(policy.environment_inherit, {"none", "core", "all"}),
           "What commands get of sortie's own environment.")
      .add("include", list_value(draft, "environment.include", policy.environment_include),
           "Variables passed on besides, whatever exclude says.")
      .add("exclude", texts_value(policy.environment_exclude, Lists::appended),
           "Globs over variables that are never passed on; added to the default.")
      .add("set", text_map_value(policy.environment_set, kEnvironmentName, kValue),
           "Variables set for every command.");
}

Fields approver_fields(PolicyApprover& approver) {
  return Fields("approver")
      .require("command", texts_value(approver.command),
               "argv: gets the call as JSON on stdin, answers with JSON on stdout.")
      .add("timeout", duration_value(approver.timeout, 1ms, 24h), "No answer by then is a deny.");
}

/// The program that is asked; a later file's takes the place of an earlier one's.
FieldValue approver_value(std::optional<PolicyApprover>& target,
                          const std::filesystem::path& folder) {
  PolicyApprover defaults;
  return {
      .schema = approver_fields(defaults).schema(),
      .read = [&target, folder](const YamlNode& node, const std::string&, Diagnostics& findings) {
        PolicyApprover approver;
        approver.folder = folder;
        approver_fields(approver).read(node, findings);
        if (approver.command.empty() && node.find("command") != nullptr)
          findings.error(node.place, "'command' of the approver is empty");
        target = std::move(approver);
      }};
}

/// Checked here; the loader reads what it names before the rest of the file.
FieldValue extends_value() {
  Json name = Json::object({{"type", "string"}, {"minLength", 1}});
  Json schema = Json::object(
      {{"anyOf",
        Json::array({name, Json::object({{"type", "array"}, {"items", std::move(name)}})})}});
  return {.schema = std::move(schema),
          .read = [](const YamlNode& node, const std::string& key, Diagnostics& findings) {
            if (!node.is_list()) read_text(node, key, {}, findings);
            for (const auto& item : node.items) read_text(item, key, {}, findings);
          }};
}

}  // namespace

Fields policy_fields(PolicyDraft& draft, const std::string& file) {
  Policy& policy = draft.policy;
  Fields network("network");
  network
      .add("mode",
           enum_value(policy.network,
                      {NetworkMode::none, NetworkMode::allow_list, NetworkMode::full}),
           "Whether commands reach the network.")
      .add(
          "allow", list_value(draft, "network.allow", policy.network_allow, kHost),
          "Hosts of mode allow-list, with a port if it is not 443: example.org, *.example.org:80.");
  Fields sandbox("sandbox");
  sandbox
      .add("mode",
           enum_value(policy.sandbox,
                      {SandboxMode::read_only, SandboxMode::workspace_write, SandboxMode::none}),
           "What the kernel lets commands write.")
      .add("guarantee", guarantee_value(draft), "What must be proved before the run starts.");
  Fields trust("trust");
  trust
      .add("input", two_words_value(policy.input_untrusted, "trusted", "untrusted"),
           "Whether prompt and workspace may have been written by a stranger.")
      .add("allow_all_three", boolean_value(policy.allow_all_three),
           "Takes the rule back: for those who know what they do.");
  Fields redact("redact");
  redact
      .add("patterns", list_value(draft, "redact.patterns", policy.redact_patterns),
           "RE2 expressions; what they match is a secret.")
      .add("on_leak", enum_value(policy.on_leak, {OnLeak::fail, OnLeak::report}),
           "What a known secret in the diff or the final message does.");
  return Fields("policy")
      .require("version", version_value(1), "The version of the format.")
      .add("name",
           text_value(policy.name,
                      {.pattern = "[a-z0-9-]{1,64}", .meaning = "1 to 64 of a-z, 0-9 and '-'"}),
           "A name for people; without it the file's.")
      .add("extends", extends_value(),
           "Presets or files that this one adds to: lists are appended, scalars replaced.")
      .add("approval",
           enum_value(policy.approval,
                      {Approval::deny_by_default, Approval::full_auto, Approval::audit}),
           "What happens where no rule matches.")
      .add("approval_override", boolean_value(policy.approval_override),
           "Whether --approval may loosen it.")
      .add("on_denied", two_words_value(policy.abort_on_denied, "continue", "abort"),
           "Whether a denied call ends the run.")
      .add("max_denials", integer_value(policy.max_denials, 1, 1'000'000),
           "Denied calls in a row that end the run.")
      .add("unreadable", two_words_value(policy.unreadable_allow, "deny", "allow"),
           "In full-auto: what to do with scripts that can't be read with certainty.")
      .add("bounds", mapping_value(bounds_fields(draft)), "What a task may ask for.")
      .add("commands", command_rules_value(policy.commands, file),
           "Rules over commands: forbid over deny over allow.")
      .add("tools", tool_rules_value(policy.tools, file), "Rules over tools.")
      .add("paths", mapping_value(paths_fields(draft)), "What can be read and written.")
      .add("network", mapping_value(std::move(network)), "What commands can reach.")
      .add("environment", mapping_value(environment_fields(draft)), "What commands find there.")
      .add("limits", mapping_value(limits_fields(policy.limits)), "What a run may use.")
      .add("sandbox", mapping_value(std::move(sandbox)), "What the kernel enforces.")
      .add("escalation", two_words_value(policy.escalation, "deny", "rules"),
           "Whether calls that ask for escalated permissions may get a rule's own sandbox.")
      .add("approver", approver_value(policy.approver, draft.folder),
           "A program that is asked where no rule matched.")
      .add("trust", mapping_value(std::move(trust)),
           "Of untrusted input, secrets in the environment and open network a run may have two.")
      .add("redact", mapping_value(std::move(redact)), "What is replaced in all that leaves.");
}

}  // namespace sortie
