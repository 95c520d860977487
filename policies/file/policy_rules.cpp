#include "policies/file/policy_fields.h"

#include <algorithm>
#include <utility>

#include "core/text/pattern.h"
#include "core/text/text.h"
#include "policies/file/policy_values.h"
#include "policies/file/rule_examples.h"

namespace sortie {
namespace {

/// The one key of a rule that is allow, deny or forbid; null after a finding.
const YamlMember* effect_of(const YamlNode& rule, Diagnostics& findings) {
  const YamlMember* found = nullptr;
  for (const auto& member : rule.members) {
    if (!value_named<Effect>(member.key.text)) continue;
    if (found != nullptr) {
      findings.error(member.key.place, "a rule has one of allow, deny and forbid, not two");
      return nullptr;
    }
    found = &member;
  }
  if (found == nullptr) findings.error(rule.place, "a rule needs one of allow, deny or forbid");
  return found;
}

RulePlace place_of(const YamlNode& rule, const YamlMember& effect, const std::string& file) {
  return {.file = file,
          .line = rule.place.line,
          .text = one_line(effect.key.text + ": " + flow_text(effect.value))};
}

/// One position of a prefix: a word, or a list of alternatives.
std::vector<std::string> read_place(const YamlNode& node, Diagnostics& findings) {
  std::vector<std::string> words;
  if (!node.is_list()) {
    if (auto word = read_text(node, "a word", {}, findings)) words.push_back(std::move(*word));
    return words;
  }
  if (node.items.empty()) findings.error(node.place, "the list of words is empty");
  for (const auto& item : node.items)
    if (auto word = read_text(item, "a word", {}, findings)) words.push_back(std::move(*word));
  return words;
}

Json word_schema() { return Json::object({{"type", "string"}, {"minLength", 1}}); }

Json prefix_schema() {
  Json alternatives = Json::object({{"type", "array"}, {"items", word_schema()}, {"minItems", 1}});
  Json place = Json::object({{"anyOf", Json::array({word_schema(), std::move(alternatives)})}});
  return Json::object({{"type", "array"}, {"items", std::move(place)}, {"minItems", 1}});
}

void read_prefix(CommandRule& rule, const YamlNode& node, Diagnostics& findings) {
  if (!node.is_list()) {
    std::string message =
        "command rule: expected a list of words such as [git, push], got " + kind_in_words(node);
    if (node.find("script") != nullptr || node.find("class") != nullptr)
      message += ": scripts and classes can only be allowed";
    findings.error(node.place, std::move(message));
    return;
  }
  if (node.items.empty()) findings.error(node.place, "the list of words is empty");
  for (const auto& item : node.items) rule.prefix.push_back(read_place(item, findings));
}

/// Why a glob can't name scripts of the workspace, or "".
std::string script_problem(const std::string& glob) {
  if (glob.front() == '/' || glob.front() == '~') return "it must be relative to the workspace";
  for (const auto& part : std::filesystem::path(glob))
    if (part == "..") return "it must not lead out of the workspace";
  try {
    Pattern::path_glob(glob);
    return "";
  } catch (const PatternError& error) {
    return error.what();
  }
}

FieldValue script_value(CommandRule& rule) {
  FieldValue value = text_value(rule.script);
  value.read = [read = std::move(value.read)](const YamlNode& node, const std::string& name,
                                              Diagnostics& findings) {
    read(node, name, findings);
    if (!node.is_scalar() || node.text.empty()) return;
    const std::string problem = script_problem(node.text);
    if (!problem.empty())
      findings.error(node.place, "'script': expected a glob such as ./scripts/*.sh: " + problem);
  };
  return value;
}

Fields what_fields(CommandRule& rule) {
  return Fields("allow")
      .add("class", where_given(choice_value(rule.command_class, {"read-only"})),
           "The built-in class of commands that are known to be safe.")
      .add("script", where_given(script_value(rule)),
           "Glob over executables of the workspace, called by their path and unchanged since the "
           "start.");
}

/// As a file may write it: a single word as a string, alternatives as a list.
Json prefix_json(const std::vector<std::vector<std::string>>& prefix) {
  Json list = Json::array();
  for (const auto& words : prefix)
    list.push_back(words.size() == 1 ? Json(words.front()) : text_list(words));
  return list;
}

void read_what(CommandRule& rule, const YamlNode& node, Diagnostics& findings) {
  what_fields(rule).read(node, findings);
  if (node.members.empty())
    findings.error(node.place, "an allow rule needs a list of words, a class or a script");
  if (!rule.command_class.empty() && !rule.script.empty())
    findings.error(node.place, "an allow rule has one of class and script, not both");
}

FieldValue prefix_value(CommandRule& rule, Effect effect) {
  return {.schema =
              [effect] {
                if (effect != Effect::allow) return prefix_schema();
                CommandRule any;
                return Json::object(
                    {{"anyOf", Json::array({prefix_schema(), with_one_of(what_fields(any).schema(),
                                                                         {"class", "script"})})}});
              },
          .read =
              [&rule, effect](const YamlNode& node, const std::string&, Diagnostics& findings) {
                rule.effect = effect;
                if (effect == Effect::allow && node.is_mapping())
                  read_what(rule, node, findings);
                else
                  read_prefix(rule, node, findings);
              },
          .write = [&rule, effect]() -> std::optional<Json> {
            if (rule.effect != effect) return std::nullopt;
            Json what = what_fields(rule).write();
            return what.members().empty() ? prefix_json(rule.prefix) : std::move(what);
          }};
}

/// What an escalated call gets beyond the policy's sandbox.
Fields rule_sandbox_fields(RuleSandbox& sandbox) {
  FieldValue mode = enum_value(
      sandbox.mode, {name_of(SandboxMode::read_only), name_of(SandboxMode::workspace_write)});
  mode.read = [read = std::move(mode.read)](const YamlNode& node, const std::string& name,
                                            Diagnostics& findings) {
    if (node.is_scalar() && node.text == "none")
      findings.error(node.place, "'mode: none' is not allowed: no command leaves the sandbox");
    else
      read(node, name, findings);
  };
  FieldValue network =
      enum_value(sandbox.network, {name_of(NetworkMode::none), name_of(NetworkMode::full)});
  return Fields("sandbox")
      .add("mode", where_given(std::move(mode)), "What the command may write.")
      .add("network", where_given(std::move(network)), "Whether it reaches the network.");
}

/// Written only if a call may ask for it.
FieldValue of_escalation(FieldValue value, const CommandRule& rule) {
  value.write = [&rule, write = std::move(value.write)] {
    return rule.escalate ? write() : std::nullopt;
  };
  return value;
}

Fields command_rule_fields(CommandRule& rule) {
  Fields but_not("but_not");
  but_not.require("args",
                  where_given(globs_value(rule.but_not_args, Globs::words, Lists::replaced)),
                  "Globs; a command with a word that one of them matches is not allowed.");
  return Fields("command rule")
      .add("allow", prefix_value(rule, Effect::allow), "An argv prefix, or a class of commands.")
      .add("deny", prefix_value(rule, Effect::deny), "An argv prefix.")
      .add("forbid", prefix_value(rule, Effect::forbid),
           "An argv prefix; a deny that ends the run.")
      .add("but_not", where_given(mapping_value(std::move(but_not))),
           "Exceptions of an allow rule.")
      .add("why", where_given(text_value(rule.why)), "Shown with the decision.")
      .add("examples", examples_value(rule.examples),
           "Checked when the policy is loaded: command lines that the rule matches, or does not.")
      .add("escalate", of_escalation(boolean_value(rule.escalate), rule),
           "With `escalation: rules`: a call that asks for escalated permissions runs with this "
           "rule's sandbox.")
      .add("sandbox", of_escalation(mapping_value(rule_sandbox_fields(rule.sandbox)), rule),
           "The sandbox of an escalated call.");
}

/// Finds keys that don't go together.
void check_rule(const CommandRule& rule, const YamlNode& node, Diagnostics& findings) {
  for (const auto& member : node.members) {
    const std::string& key = member.key.text;
    if (key == "but_not" && rule.effect != Effect::allow)
      findings.error(member.key.place, "'but_not' belongs to an allow rule");
    if (key == "escalate" && rule.escalate && rule.effect != Effect::allow)
      findings.error(member.key.place, "'escalate' belongs to an allow rule");
    if (key == "escalate" && rule.escalate && node.find("sandbox") == nullptr)
      findings.error(member.key.place,
                     "'escalate' needs the rule's own sandbox: {mode: …, network: …}");
    if (key == "sandbox" && !rule.escalate)
      findings.error(member.key.place,
                     "'sandbox' of a rule needs 'escalate: true', which lets calls ask "
                     "for it");
  }
}

/// A rule that could not be read is not checked against its examples.
void check_rule_examples(const CommandRule& rule, const YamlNode& node, Diagnostics& findings) {
  const auto empty = [](const auto& words) { return words.empty(); };
  const bool says_something =
      !rule.prefix.empty() || !rule.command_class.empty() || !rule.script.empty();
  if (!says_something || std::any_of(rule.prefix.begin(), rule.prefix.end(), empty)) return;
  for (const auto& example : rule.examples) {
    ExampleResult result;
    try {
      result = check_example(rule, example);
    } catch (const PatternError&) {
      return;  // a finding already
    }
    if (result.problem.empty()) continue;
    TextPlace place = node.place;
    place.line = example.line;
    place.column = example.column;
    place.length = 1;
    findings.error(place, "the example '" + example.command + "' should " +
                              (example.match ? "" : "not ") + "match, but " + result.problem);
  }
}

void read_command_rule(PolicyDraft& draft, const YamlNode& node, const std::string& file,
                       Diagnostics& findings) {
  CommandRule rule;
  command_rule_fields(rule).read(node, findings);
  if (!node.is_mapping()) return;
  const YamlMember* effect = effect_of(node, findings);
  if (effect == nullptr) return;
  check_rule(rule, node, findings);
  rule.place = place_of(node, *effect, file);
  if (draft.examples == Examples::checked) check_rule_examples(rule, node, findings);
  auto& rules = draft.policy.commands;
  // A policy that two others extend is read twice; its rules are kept once.
  if (std::find(rules.begin(), rules.end(), rule) == rules.end()) rules.push_back(std::move(rule));
}

/// A glob, or a list of them.
FieldValue tool_names_value(ToolRule& rule, Effect effect) {
  FieldValue list = globs_value(rule.names, Globs::words, Lists::replaced);
  return {.schema =
              [] {
                Json words =
                    Json::object({{"type", "array"}, {"items", word_schema()}, {"minItems", 1}});
                return Json::object({{"anyOf", Json::array({word_schema(), std::move(words)})}});
              },
          .read =
              [&rule, effect, read = std::move(list.read)](
                  const YamlNode& node, const std::string& name, Diagnostics& findings) {
                rule.effect = effect;
                if (node.is_list()) {
                  if (node.items.empty()) findings.error(node.place, "the list of tools is empty");
                  read(node, name, findings);
                } else if (auto glob = read_text(node, name, {}, findings)) {
                  rule.names = {std::move(*glob)};
                }
              },
          .write = [&rule, effect]() -> std::optional<Json> {
            if (rule.effect != effect) return std::nullopt;
            return text_list(rule.names);
          }};
}

Fields tool_rule_fields(ToolRule& rule) {
  return Fields("tool rule")
      .add("allow", tool_names_value(rule, Effect::allow), "Globs over tool names.")
      .add("deny", tool_names_value(rule, Effect::deny), "Globs over tool names.")
      .add("forbid", tool_names_value(rule, Effect::forbid),
           "Globs over tool names; a deny that ends the run.")
      .add("why", where_given(text_value(rule.why)), "Shown with the decision.");
}

void read_tool_rule(PolicyDraft& draft, const YamlNode& node, const std::string& file,
                    Diagnostics& findings) {
  ToolRule rule;
  tool_rule_fields(rule).read(node, findings);
  if (!node.is_mapping()) return;
  const YamlMember* effect = effect_of(node, findings);
  if (effect == nullptr) return;
  rule.place = place_of(node, *effect, file);
  auto& rules = draft.policy.tools;
  if (std::find(rules.begin(), rules.end(), rule) == rules.end()) rules.push_back(std::move(rule));
}

/// A list of rules, each read by `read` and written by its own table.
template <typename Rule>
FieldValue rules_value(PolicyDraft& draft, const std::string& file, std::vector<Rule>& target,
                       Fields (*fields)(Rule&),
                       void (*read)(PolicyDraft&, const YamlNode&, const std::string&,
                                    Diagnostics&)) {
  return {.schema =
              [fields] {
                Rule any;
                Json rule = with_one_of(fields(any).schema(), {"allow", "deny", "forbid"});
                return Json::object({{"type", "array"}, {"items", std::move(rule)}});
              },
          .read =
              [&draft, file, read](const YamlNode& node, const std::string& name,
                                   Diagnostics& findings) {
                if (!check_list(node, name, "a list of rules", findings)) return;
                for (const auto& item : node.items) read(draft, item, file, findings);
              },
          .write =
              [&target, fields] {
                Json list = Json::array();
                for (Rule& rule : target) list.push_back(fields(rule).write());
                return list;
              }};
}

}  // namespace

FieldValue command_rules_value(PolicyDraft& draft, const std::string& file) {
  return rules_value(draft, file, draft.policy.commands, command_rule_fields, read_command_rule);
}

FieldValue tool_rules_value(PolicyDraft& draft, const std::string& file) {
  return rules_value(draft, file, draft.policy.tools, tool_rule_fields, read_tool_rule);
}

}  // namespace sortie
