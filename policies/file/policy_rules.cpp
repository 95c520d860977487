#include "policies/file/policy_rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/text/pattern.h"
#include "core/text/text.h"
#include "policies/file/policy_values.h"
#include "policies/file/rule_examples.h"

namespace sortie {
namespace {

constexpr std::array kEffects = {Effect::allow, Effect::deny, Effect::forbid};

/// The one key among allow, deny and forbid that a rule has; else a finding and nothing.
const YamlMember* effect_of(const YamlNode& rule, Diagnostics& findings) {
  const YamlMember* found = nullptr;
  for (const auto& member : rule.members) {
    const auto same = [&](Effect effect) { return member.key.text == name_of(effect); };
    if (std::none_of(kEffects.begin(), kEffects.end(), same)) continue;
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

/// One place of a prefix: a word, or a list of the words it may be.
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
        "a command rule has to be a list of words like [git, push], not " + kind_in_words(node);
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
  if (glob.front() == '/' || glob.front() == '~') return "it is relative to the workspace";
  for (const auto& part : std::filesystem::path(glob))
    if (part == "..") return "it can't lead out of the workspace";
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
      findings.error(node.place, "'script' has to be a glob like ./scripts/*.sh: " + problem);
  };
  return value;
}

Fields what_fields(CommandRule& rule) {
  return Fields("allow")
      .add("class", choice_value(rule.command_class, {"read-only"}),
           "The shipped class of commands that are known to be safe.")
      .add("script", script_value(rule),
           "Glob over executables of the workspace, called by their path, as they were at the "
           "start.");
}

FieldValue prefix_value(CommandRule& rule, Effect effect) {
  Json schema = prefix_schema();
  if (effect == Effect::allow)
    schema =
        Json::object({{"anyOf", Json::array({std::move(schema), what_fields(rule).schema()})}});
  return {.schema = std::move(schema),
          .read = [&rule, effect](const YamlNode& node, const std::string&, Diagnostics& findings) {
            rule.effect = effect;
            if (effect != Effect::allow || !node.is_mapping()) {
              read_prefix(rule, node, findings);
              return;
            }
            what_fields(rule).read(node, findings);
            if (node.members.empty())
              findings.error(node.place,
                             "an allow rule needs a list of words, a class or a script");
            if (!rule.command_class.empty() && !rule.script.empty())
              findings.error(node.place, "an allow rule has one of class and script, not both");
          }};
}

/// What an escalated call gets beyond the policy's sandbox.
Fields rule_sandbox_fields(RuleSandbox& sandbox) {
  FieldValue mode = choice_value(
      "", {name_of(SandboxMode::read_only), name_of(SandboxMode::workspace_write)}, {},
      [&sandbox](const std::string& name) {
        sandbox.mode = name == name_of(SandboxMode::read_only) ? SandboxMode::read_only
                                                               : SandboxMode::workspace_write;
      });
  mode.schema.members().clear();
  mode.schema.set("enum", Json::array({"read-only", "workspace-write"}));
  mode.read = [read = std::move(mode.read)](const YamlNode& node, const std::string& name,
                                            Diagnostics& findings) {
    if (node.is_scalar() && node.text == "none")
      findings.error(node.place, "'mode: none' can't be had: no command leaves the sandbox");
    else
      read(node, name, findings);
  };
  FieldValue network = choice_value("", {name_of(NetworkMode::none), name_of(NetworkMode::full)},
                                    {}, [&sandbox](const std::string& name) {
                                      sandbox.network = name == name_of(NetworkMode::full)
                                                            ? NetworkMode::full
                                                            : NetworkMode::none;
                                    });
  network.schema.members().clear();
  network.schema.set("enum", Json::array({"none", "full"}));
  return Fields("sandbox")
      .add("mode", std::move(mode), "What the command may write.")
      .add("network", std::move(network), "Whether it reaches the network.");
}

Fields command_rule_fields(CommandRule& rule) {
  Fields but_not("but_not");
  but_not.require("args", globs_value(rule.but_not_args, Globs::words, Lists::replaced),
                  "Globs; a command with a word that one of them matches is not allowed.");
  return Fields("command rule")
      .add("allow", prefix_value(rule, Effect::allow), "An argv prefix, or a class of commands.")
      .add("deny", prefix_value(rule, Effect::deny), "An argv prefix.")
      .add("forbid", prefix_value(rule, Effect::forbid),
           "An argv prefix; a deny that ends the run.")
      .add("but_not", mapping_value(std::move(but_not)), "Exceptions of an allow rule.")
      .add("why", text_value(rule.why), "Shown with the decision.")
      .add("examples", examples_value(rule.examples),
           "Checked when the policy is loaded: command lines that the rule matches, or does not.")
      .add("escalate", boolean_value(rule.escalate),
           "With `escalation: rules`: a call that asks for escalated permissions runs with this "
           "rule's sandbox.")
      .add("sandbox", mapping_value(rule_sandbox_fields(rule.sandbox)), "Of an escalated call.");
}

/// Keys that don't go together.
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
                     "'sandbox' of a rule is for calls that 'escalate: true' "
                     "lets ask for it");
  }
}

/// A rule that could not be read is not held against its examples.
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
  // What two policies extend is read twice and stands once.
  if (std::find(rules.begin(), rules.end(), rule) == rules.end()) rules.push_back(std::move(rule));
}

/// A glob, or a list of them.
FieldValue tool_names_value(ToolRule& rule, Effect effect) {
  FieldValue list = globs_value(rule.names, Globs::words, Lists::replaced);
  Json schema =
      Json::object({{"anyOf", Json::array({word_schema(), Json::object({{"type", "array"},
                                                                        {"items", word_schema()},
                                                                        {"minItems", 1}})})}});
  return {.schema = std::move(schema),
          .read = [&rule, effect, read = std::move(list.read)](
                      const YamlNode& node, const std::string& name, Diagnostics& findings) {
            rule.effect = effect;
            if (node.is_list()) {
              if (node.items.empty()) findings.error(node.place, "the list of tools is empty");
              read(node, name, findings);
            } else if (auto glob = read_text(node, name, {}, findings)) {
              rule.names = {std::move(*glob)};
            }
          }};
}

Fields tool_rule_fields(ToolRule& rule) {
  return Fields("tool rule")
      .add("allow", tool_names_value(rule, Effect::allow), "Globs over tool names.")
      .add("deny", tool_names_value(rule, Effect::deny), "Globs over tool names.")
      .add("forbid", tool_names_value(rule, Effect::forbid),
           "Globs over tool names; a deny that ends the run.")
      .add("why", text_value(rule.why), "Shown with the decision.");
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

FieldValue rules_value(PolicyDraft& draft, const std::string& file, Json item_schema,
                       void (*read)(PolicyDraft&, const YamlNode&, const std::string&,
                                    Diagnostics&)) {
  return {.schema = Json::object({{"type", "array"}, {"items", std::move(item_schema)}}),
          .read = [&draft, file, read](const YamlNode& node, const std::string& name,
                                       Diagnostics& findings) {
            if (!check_list(node, name, "a list of rules", findings)) return;
            for (const auto& item : node.items) read(draft, item, file, findings);
          }};
}

}  // namespace

FieldValue command_rules_value(PolicyDraft& draft, const std::string& file) {
  CommandRule any;
  return rules_value(draft, file, command_rule_fields(any).schema(), read_command_rule);
}

FieldValue tool_rules_value(PolicyDraft& draft, const std::string& file) {
  ToolRule any;
  return rules_value(draft, file, tool_rule_fields(any).schema(), read_tool_rule);
}

}  // namespace sortie
