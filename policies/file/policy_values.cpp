#include "policies/file/policy_values.h"

#include <algorithm>
#include <utility>

#include "core/host/host.h"
#include "core/text/pattern.h"
#include "core/text/text.h"
#include "policies/bounds/mcp_bounds.h"

namespace sortie {
namespace {

using namespace std::chrono_literals;

constexpr TextLimits kHost = {
    .pattern = R"((\*|(\*\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\]))"
               R"((:[1-9][0-9]{0,4})?)",
    .meaning = "a host such as api.example.com, with a port if need be"};

enum class AnyHost { accepted, refused, refused_or_plain };

/// Adds the hosts of a list, each read strictly.
void read_hosts(std::vector<std::string>& target, const YamlNode& node, const std::string& name,
                AnyHost any, Diagnostics& findings) {
  if (!check_list(node, name, "a list", findings)) return;
  for (const auto& item : node.items) {
    const auto text = read_text(item, name, {}, findings);
    if (!text) continue;
    std::string problem;
    // Who names a host with http:// means that host alone, and that a key may go there unencrypted.
    constexpr std::string_view kPlain = "http://";
    const bool plain = any == AnyHost::refused_or_plain && text->starts_with(kPlain);
    const auto host = parse_host_pattern(text->substr(plain ? kPlain.size() : 0), problem);
    if (host && host->any && any != AnyHost::accepted) problem = "'*' would be every host";
    if (host && plain && host->subdomains) problem = "http:// needs one host, without '*'";
    if (!problem.empty()) {
      findings.error(item.place, "'" + name + "': expected " + kHost.meaning + ", got '" +
                                     one_line(*text, 60) + "': " + problem);
    } else if (std::find(target.begin(), target.end(), *text) == target.end()) {
      target.push_back(*text);
    }
  }
}

FieldValue listed_hosts(PolicyDraft& draft, const std::string& key,
                        std::vector<std::string>& target, AnyHost any) {
  FieldValue value = texts_value(target, Lists::appended, kHost);
  value.read = [&target, any](const YamlNode& node, const std::string& name,
                              Diagnostics& findings) {
    read_hosts(target, node, name, any, findings);
  };
  return first_replaces(draft, key, target, std::move(value));
}

std::string glob_problem(const std::string& glob, Globs kind) {
  try {
    kind == Globs::words ? Pattern::word_glob(glob) : Pattern::path_glob(glob);
    return "";
  } catch (const PatternError& error) {
    return error.what();
  }
}

/// Why an expression is invalid, or ""
std::string expression_problem(const std::string& expression) {
  try {
    return Pattern::expression(expression).matches("") ? "it matches the empty text" : "";
  } catch (const PatternError& error) {
    return error.what();
  }
}

void read_memory(const YamlNode& node, const std::string& name, PolicyLimits& limits,
                 Diagnostics& findings) {
  if (node.is_scalar() && node.text.ends_with('%')) {
    int percent = 0;
    YamlNode number = node;
    number.text.pop_back();
    number.plain = true;
    integer_value(percent, 1, 100).read(number, name, findings);
    if (percent > 0) limits.memory_percent = percent;
    if (percent > 0) limits.memory = 0;
  } else if (node.is_scalar() && parse_size(node.text)) {
    size_value(limits.memory, 1u << 20, kLargestSize).read(node, name, findings);
  } else {
    findings.error(node.place, "'" + name +
                                   "': expected a size such as 2GiB or a share such as 80%, got " +
                                   kind_in_words(node));
  }
}

Fields approver_fields(PolicyApprover& approver) {
  FieldValue command = with_keyword(texts_value(approver.command), "minItems", 1);
  return Fields("approver")
      .require(
          "command", std::move(command),
          "argv of a program that gets the call as JSON on stdin and answers with JSON on stdout.")
      .add("timeout", duration_value(approver.timeout, 1ms, 24h), "No answer by then is a deny.");
}

}  // namespace

FieldValue two_words_value(bool& target, const char* when_false, const char* when_true) {
  return choice_value(
      {when_false, when_true}, {},
      [&target, when_false, when_true] { return target ? when_true : when_false; },
      [&target, when_true](const std::string& name) { target = name == when_true; });
}

FieldValue globs_value(std::vector<std::string>& target, Globs kind, Lists lists) {
  FieldValue value = texts_value(target, lists);
  value.read = [kind, read = std::move(value.read)](const YamlNode& node, const std::string& name,
                                                    Diagnostics& findings) {
    for (const auto& item : node.items) {
      if (!item.is_scalar()) continue;
      const std::string problem = glob_problem(item.text, kind);
      if (!problem.empty()) findings.error(item.place, "'" + name + "': invalid glob: " + problem);
    }
    read(node, name, findings);
  };
  return value;
}

FieldValue protect_value(PolicyDraft& draft) {
  auto& target = draft.policy.protect;
  FieldValue value = globs_value(target, Globs::paths);
  value.read = [&draft, &target, read = std::move(value.read)](
                   const YamlNode& node, const std::string& name, Diagnostics& findings) {
    const bool gives_up = node.is_list() && node.items.empty();
    if (gives_up && !draft.protecting.empty()) {
      findings.error(node.place,
                     "'protect: []' can't take back what " + draft.protecting + " protects");
    } else if (gives_up) {
      target.clear();
    } else {
      // A policy that names paths wants to protect more than the default, not less.
      if (target.empty()) target = Policy().protect;
      draft.protecting = draft.shown + ":" + std::to_string(node.place.line);
      read(node, name, findings);
    }
  };
  return value;
}

FieldValue credentials_value(PolicyDraft& draft) {
  auto& target = draft.policy.credentials;
  const auto write = [&target] {
    Json json = Json::object();
    for (const auto& [variable, hosts] : target) json.set(variable, text_list(hosts));
    return json;
  };
  FieldValue value = {
      .schema =
          [preset = write()] {
            Json hosts =
                Json::object({{"type", "array"},
                              {"items", Json::object({{"type", "string"}, {"minLength", 1}})}});
            return Json::object({{"type", "object"},
                                 {"additionalProperties", std::move(hosts)},
                                 {"default", preset}});
          },
      .read =
          [&target](const YamlNode& node, const std::string& name, Diagnostics& findings) {
            if (!node.is_mapping())
              findings.error(node.place, "'" + name +
                                             "': expected a mapping of variables to hosts, got " +
                                             kind_in_words(node));
            for (const auto& member : node.members) {
              const std::string& variable = member.key.text;
              if (!read_text(member.key, "credential", kEnvironmentName, findings)) continue;
              if (member.value.kind == YamlNode::Kind::null)
                findings.error(member.key.place, "'" + variable + "' needs a list of hosts");
              else
                read_hosts(target[variable], member.value, variable, AnyHost::refused_or_plain,
                           findings);
            }
          },
      .write = write};
  return first_replaces(draft, "bounds.credentials", target, std::move(value));
}

FieldValue mcp_bounds_value(PolicyDraft& draft) {
  auto& target = draft.policy.mcp;
  FieldValue value = globs_value(target, Globs::words);
  const auto pattern = [](const std::string& text) { return Json::object({{"pattern", text}}); };
  value = with_keyword(
      std::move(value), "items",
      Json::object({{"type", "string"},
                    {"minLength", 1},
                    {"anyOf", Json::array({pattern(std::string("^https?://") + kHost.pattern + "$"),
                                           Json::object({{"not", pattern("^[^ ]*://")}})})}}));
  value.read = [read = std::move(value.read)](const YamlNode& node, const std::string& name,
                                              Diagnostics& findings) {
    for (const auto& item : node.items) {
      if (!item.is_scalar() || !is_mcp_address(item.text)) continue;
      std::string problem;
      if (!parse_mcp_address(item.text, problem))
        findings.error(item.place, "'" + name + "': invalid address '" + one_line(item.text, 60) +
                                       "': " + problem);
    }
    read(node, name, findings);
  };
  return first_replaces(draft, "bounds.mcp", target, std::move(value));
}

FieldValue bounded_folders_value(PolicyDraft& draft) {
  static constexpr TextLimits kFolder = {.pattern = "(/|~/).*|~",
                                         .meaning = "an absolute path, or one that begins with ~/"};
  auto& target = draft.policy.workspaces;
  return first_replaces(draft, "bounds.workspace", target,
                        texts_value(target, Lists::appended, kFolder));
}

FieldValue model_hosts_value(PolicyDraft& draft) {
  return listed_hosts(draft, "bounds.model_hosts", draft.policy.model_hosts, AnyHost::refused);
}

FieldValue hosts_value(PolicyDraft& draft) {
  return listed_hosts(draft, "network.allow", draft.policy.network_allow, AnyHost::accepted);
}

FieldValue expressions_value(PolicyDraft& draft) {
  auto& target = draft.policy.redact_patterns;
  FieldValue value = texts_value(target, Lists::appended);
  value.read = [read = std::move(value.read)](const YamlNode& node, const std::string& name,
                                              Diagnostics& findings) {
    for (const auto& item : node.items) {
      if (!item.is_scalar()) continue;
      const std::string problem = expression_problem(item.text);
      if (!problem.empty())
        findings.error(item.place, "'" + name + "': invalid expression: " + problem);
    }
    read(node, name, findings);
  };
  return first_replaces(draft, "redact.patterns", target, std::move(value));
}

FieldValue guarantee_value(PolicyDraft& draft) {
  auto& target = draft.policy.guarantee;
  const auto write = [&target] {
    Json json = Json::array();
    for (const Guarantee each : target) json.push_back(name_of(each));
    return json;
  };
  FieldValue value = {
      .schema =
          [preset = write()] {
            Json items = Json::object({{"enum", text_list(names_of<Guarantee>())}});
            return Json::object(
                {{"type", "array"}, {"items", std::move(items)}, {"default", preset}});
          },
      .read =
          [&target](const YamlNode& node, const std::string& name, Diagnostics& findings) {
            if (!check_list(node, name, "a list", findings)) return;
            for (const auto& item : node.items) {
              if (item.kind == YamlNode::Kind::refused) continue;
              std::optional<Guarantee> read;
              enum_value(read).read(item, name, findings);
              if (read && std::find(target.begin(), target.end(), *read) == target.end())
                target.push_back(*read);
            }
          },
      .write = write};
  return first_replaces(draft, "sandbox.guarantee", target, std::move(value));
}

FieldValue memory_value(PolicyLimits& limits) {
  const auto write = [&limits] {
    return Json(limits.memory == 0 ? std::to_string(limits.memory_percent) + "%"
                                   : size_text(limits.memory));
  };
  return {
      .schema =
          [preset = write()] {
            return Json::object({{"type", "string"},
                                 {"pattern", "^([1-9][0-9]?%|100%|[0-9]+(B|[kKMGT]B|[KMGT]iB))$"},
                                 {"default", preset}});
          },
      .read = [&limits](const YamlNode& node, const std::string& name,
                        Diagnostics& findings) { read_memory(node, name, limits, findings); },
      .write = write};
}

FieldValue approver_value(PolicyDraft& draft) {
  auto& target = draft.policy.approver;
  return {.schema =
              [] {
                PolicyApprover defaults;
                return approver_fields(defaults).schema();
              },
          .read =
              [&draft](const YamlNode& node, const std::string&, Diagnostics& findings) {
                PolicyApprover approver;
                approver.folder = draft.folder;
                approver_fields(approver).read(node, findings);
                if (approver.command.empty() && node.find("command") != nullptr)
                  findings.error(node.place, "'command' of the approver is empty");
                draft.policy.approver = std::move(approver);
              },
          .write = [&target]() -> std::optional<Json> {
            if (!target) return std::nullopt;
            return approver_fields(*target).write();
          }};
}

FieldValue extends_value() {
  return {.schema =
              [] {
                const Json name = Json::object({{"type", "string"}, {"minLength", 1}});
                Json names = Json::object({{"type", "array"}, {"items", name}});
                return Json::object({{"anyOf", Json::array({name, std::move(names)})}});
              },
          .read =
              [](const YamlNode& node, const std::string& key, Diagnostics& findings) {
                if (!node.is_list()) read_text(node, key, {}, findings);
                for (const auto& item : node.items) read_text(item, key, {}, findings);
              },
          .write = kNotWritten};
}

}  // namespace sortie
