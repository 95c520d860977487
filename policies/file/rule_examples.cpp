#include "policies/file/rule_examples.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "core/text/text.h"
#include "policies/rules/command_rules.h"
#include "policies/rules/read_only_commands.h"
#include "policies/shell/script.h"

namespace sortie {
namespace {

/// Examples are checked by their words alone, as if in the top folder of a workspace.
constexpr const char* kWorkspace = "/workspace";

/// The words of a command line that is one simple command; otherwise sets `problem`.
std::vector<std::string> example_argv(const std::string& line, std::string& problem) {
  const ScriptReading reading = read_script(line);
  if (reading.refused)
    problem = "can't be read: " + reading.refusal.reason;
  else if (reading.commands.size() != 1)
    problem = "must be one simple command, not " + std::to_string(reading.commands.size());
  std::vector<std::string> argv;
  if (!problem.empty()) return argv;
  for (const ScriptWord& word : reading.commands[0].words) argv.push_back(word.text);
  return argv;
}

void read_example(std::vector<RuleExample>& target, bool match, const YamlNode& node,
                  Diagnostics& findings) {
  RuleExample example{
      .command = one_line(node.is_list() ? flow_text(node) : node.text),
      .argv = {},
      .match = match,
      .line = node.place.line,
      .column = node.place.column,
  };
  if (!node.is_list()) {
    const auto text = read_text(node, "an example", {}, findings);
    if (!text) return;
    std::string problem;
    example.argv = example_argv(*text, problem);
    if (!problem.empty()) {
      findings.error(node.place, "the example " + problem);
      return;
    }
  } else if (node.items.empty()) {
    findings.error(node.place, "the example is empty");
    return;
  }
  for (const auto& item : node.items) {
    const auto word = read_text(item, "a word", {.may_be_empty = true}, findings);
    if (!word) return;
    example.argv.push_back(*word);
  }
  target.push_back(std::move(example));
}

FieldValue example_list(std::vector<RuleExample>& target, bool match) {
  return {
      .schema =
          [] {
            Json words = Json::object({{"type", "array"},
                                       {"items", Json::object({{"type", "string"}})},
                                       {"minItems", 1}});
            Json line = Json::object({{"type", "string"}, {"minLength", 1}});
            Json either =
                Json::object({{"anyOf", Json::array({std::move(line), std::move(words)})}});
            return Json::object({{"type", "array"}, {"items", std::move(either)}});
          },
      .read =
          [&target, match](const YamlNode& node, const std::string& name, Diagnostics& findings) {
            if (!check_list(node, name, "a list of examples", findings)) return;
            for (const auto& item : node.items)
              if (item.kind != YamlNode::Kind::refused) read_example(target, match, item, findings);
          },
      .write = kNotWritten};
}

std::string or_list(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text +=
        (i == 0 ? "'" : (i + 1 == words.size() ? " or '" : ", '")) + one_line(words[i], 40) + "'";
  return text;
}

/// What keeps an allow rule from matching the argv.
std::string why_no_match(const CommandRule& rule, const std::vector<std::string>& argv,
                         const RuleMatch& match) {
  if (match.excepted != nullptr) return "but_not excepts '" + one_line(match.part, 60) + "'";
  if (!rule.script.empty()) return "no script of the workspace that " + rule.script + " matches";
  if (!rule.command_class.empty()) {
    const auto reason = why_not_read_only(argv, kWorkspace, kWorkspace);
    return reason ? "not " + rule.command_class + ": " + reason->reason : "not of the class";
  }
  if (argv.size() < rule.prefix.size())
    return "it has " + std::to_string(argv.size()) + " words, the rule " +
           std::to_string(rule.prefix.size());
  for (std::size_t i = 0; i < rule.prefix.size(); ++i) {
    const auto& words = rule.prefix[i];
    if (std::find(words.begin(), words.end(), argv[i]) == words.end())
      return "word " + std::to_string(i + 1) + " is '" + one_line(argv[i], 60) + "', not " +
             or_list(words);
  }
  return "the words fit, but the command's name does not";
}

std::string verb_of(const CommandRule& rule) {
  return rule.effect == Effect::allow ? "matches" : "denies";
}

}  // namespace

FieldValue examples_value(std::vector<RuleExample>& target) {
  Fields fields("examples");
  fields
      .add("match", example_list(target, true),
           "Command lines, or lists of words, that the rule matches.")
      .add("not_match", example_list(target, false), "Command lines that it does not match.");
  FieldValue value = mapping_value(std::move(fields));
  value.write = kNotWritten;  // they don't change the rule's decisions
  return value;
}

ExampleResult check_example(const CommandRule& rule, const RuleExample& example) {
  ExampleResult result{.example = example, .rule = rule.place, .problem = ""};
  static const std::array<std::filesystem::path, 6> kFolders = {
      "/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"};
  const std::vector<CommandRule> rules{rule};
  const CommandRules alone(rules);
  const CommandPlace place{.workspace = kWorkspace, .workdir = kWorkspace, .folders = kFolders};
  const RuleMatch match = rule.effect == Effect::allow ? alone.find_allow(example.argv, place)
                                                       : alone.find_deny(example.argv, place);
  const bool matches = match.rule != nullptr;
  if (matches == example.match) return result;
  const std::string says = verb_of(rule);
  if (matches) {
    result.problem = "the rule " + says + " it";
  } else if (rule.effect == Effect::allow) {
    result.problem = "the rule does not match it: " + why_no_match(rule, example.argv, match);
  } else {
    result.problem = "the rule does not deny it";
  }
  return result;
}

std::vector<ExampleResult> check_examples(const Policy& policy) {
  std::vector<ExampleResult> results;
  for (const auto& rule : policy.commands)
    for (const auto& example : rule.examples) results.push_back(check_example(rule, example));
  return results;
}

std::string result_text(const ExampleResult& result) {
  const RuleExample& example = result.example;
  const std::string place =
      result.rule.file + ":" + std::to_string(example.line) + ":" + std::to_string(example.column);
  const std::string verdict = result.problem.empty() ? "ok" : "FAILED";
  return place + ": " + verdict + ": " + (example.match ? "match" : "not_match") + " '" +
         example.command + "' of " + result.rule.text +
         (result.problem.empty() ? "" : ": " + result.problem);
}

}  // namespace sortie
