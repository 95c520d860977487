#include "policies/policy_rules.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/text.h"

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
    findings.error(node.place, "a command rule has to be a list of words like [git, push], not " +
                                   kind_in_words(node));
    return;
  }
  if (node.items.empty()) findings.error(node.place, "the list of words is empty");
  for (const auto& item : node.items) rule.prefix.push_back(read_place(item, findings));
}

Fields class_fields(CommandRule& rule) {
  return Fields("allow")
      .add("class", choice_value(rule.command_class, {"read-only"}),
           "The shipped class of commands that are known to be safe.")
      .later({"script"});
}

FieldValue prefix_value(CommandRule& rule, Effect effect) {
  Json schema = prefix_schema();
  if (effect == Effect::allow)
    schema =
        Json::object({{"anyOf", Json::array({std::move(schema), class_fields(rule).schema()})}});
  return {.schema = std::move(schema),
          .read = [&rule, effect](const YamlNode& node, const std::string&, Diagnostics& findings) {
            rule.effect = effect;
            if (effect != Effect::allow || !node.is_mapping()) {
              read_prefix(rule, node, findings);
              return;
            }
            class_fields(rule).read(node, findings);
            if (node.members.empty())
              findings.error(node.place, "an allow rule needs a list of words or a class");
          }};
}

Fields command_rule_fields(CommandRule& rule) {
  Fields but_not("but_not");
  but_not.require("args", texts_value(rule.but_not_args),
                  "Globs; a command with a word that one of them matches is not allowed.");
  return Fields("command rule")
      .add("allow", prefix_value(rule, Effect::allow), "An argv prefix, or a class of commands.")
      .add("deny", prefix_value(rule, Effect::deny), "An argv prefix.")
      .add("forbid", prefix_value(rule, Effect::forbid),
           "An argv prefix; a deny that ends the run.")
      .add("but_not", mapping_value(std::move(but_not)), "Exceptions of an allow rule.")
      .add("why", text_value(rule.why), "Shown with the decision.")
      .later({"examples", "escalate", "sandbox", "script"});
}

void read_command_rule(std::vector<CommandRule>& target, const YamlNode& node,
                       const std::string& file, Diagnostics& findings) {
  CommandRule rule;
  command_rule_fields(rule).read(node, findings);
  if (!node.is_mapping()) return;
  const YamlMember* effect = effect_of(node, findings);
  if (effect == nullptr) return;
  for (const auto& member : node.members)
    if (member.key.text == "but_not" && rule.effect != Effect::allow)
      findings.error(member.key.place, "'but_not' belongs to an allow rule");
  rule.place = place_of(node, *effect, file);
  const auto same = [&](const CommandRule& each) { return each.place == rule.place; };
  // What two policies extend is read twice and stands once.
  if (std::none_of(target.begin(), target.end(), same)) target.push_back(std::move(rule));
}

/// A glob, or a list of them.
FieldValue names_value(ToolRule& rule, Effect effect) {
  FieldValue list = texts_value(rule.names);
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
      .add("allow", names_value(rule, Effect::allow), "Globs over tool names.")
      .add("deny", names_value(rule, Effect::deny), "Globs over tool names.")
      .add("forbid", names_value(rule, Effect::forbid),
           "Globs over tool names; a deny that ends the run.")
      .add("why", text_value(rule.why), "Shown with the decision.");
}

void read_tool_rule(std::vector<ToolRule>& target, const YamlNode& node, const std::string& file,
                    Diagnostics& findings) {
  ToolRule rule;
  tool_rule_fields(rule).read(node, findings);
  if (!node.is_mapping()) return;
  const YamlMember* effect = effect_of(node, findings);
  if (effect == nullptr) return;
  rule.place = place_of(node, *effect, file);
  const auto same = [&](const ToolRule& each) { return each.place == rule.place; };
  if (std::none_of(target.begin(), target.end(), same)) target.push_back(std::move(rule));
}

template <typename Rule>
FieldValue rules_value(std::vector<Rule>& target, const std::string& file, Json item_schema,
                       void (*read)(std::vector<Rule>&, const YamlNode&, const std::string&,
                                    Diagnostics&)) {
  return {.schema = Json::object({{"type", "array"}, {"items", std::move(item_schema)}}),
          .read = [&target, file, read](const YamlNode& node, const std::string& name,
                                        Diagnostics& findings) {
            if (!check_list(node, name, "a list of rules", findings)) return;
            for (const auto& item : node.items) read(target, item, file, findings);
          }};
}

}  // namespace

FieldValue command_rules_value(std::vector<CommandRule>& target, const std::string& file) {
  CommandRule any;
  return rules_value(target, file, command_rule_fields(any).schema(), read_command_rule);
}

FieldValue tool_rules_value(std::vector<ToolRule>& target, const std::string& file) {
  ToolRule any;
  return rules_value(target, file, tool_rule_fields(any).schema(), read_tool_rule);
}

}  // namespace sortie
