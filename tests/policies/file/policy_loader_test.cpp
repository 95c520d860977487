#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <fstream>
#include <string>

#include "core/base/error.h"
#include "core/config/yaml.h"
#include "core/files/files.h"
#include "core/json/json_schema.h"
#include "policies/file/policy_loader.h"
#include "policies/file/presets.h"
#include "policies/rules/policy.h"
#include "tests/policies/file/full_policy.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace std::chrono_literals;
using test::kFullPolicy;
using test::parse;

namespace {

std::string findings_of(const std::string& text) {
  try {
    parse(text);
    return "";
  } catch (const InputError& error) {
    return error.what();
  }
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// A YAML node as JSON, as an editor that checks a file against the schema would see it.
Json to_json(const YamlNode& node) {
  if (node.is_list()) {
    Json list = Json::array();
    for (const auto& item : node.items) list.push_back(to_json(item));
    return list;
  }
  if (node.is_mapping()) {
    Json object = Json::object();
    for (const auto& member : node.members) object.set(member.key.text, to_json(member.value));
    return object;
  }
  if (node.kind == YamlNode::Kind::null) return {};
  if (!node.plain) return node.text;
  if (node.text == "true" || node.text == "false") return node.text == "true";
  char* end = nullptr;
  std::strtod(node.text.c_str(), &end);
  if (!node.text.empty() && *end == '\0') return Json::number(node.text);
  return node.text;
}

Json as_json(const std::string& text) {
  Diagnostics findings;
  const YamlNode root = read_yaml(findings.add_source("p", text), findings);
  BOOST_TEST(findings.render() == "");
  return to_json(root);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(policy_loader)

BOOST_AUTO_TEST_CASE(the_presets_are_what_the_documentation_says) {
  const std::vector<std::string> strict_tools = {
      "shell",    "apply_patch",  "update_plan", "view_image", "read_file",
      "list_dir", "search_files", "git_status",  "git_diff",   "run_tests"};
  BOOST_TEST(
      (preset_names() == std::vector<std::string>{"strict", "review", "foreign", "auto", "auto-net",
                                                  "unsandboxed", "edit", "python", "node", "rust",
                                                  "go", "jvm", "cpp"}));

  const Policy strict = load_policy("strict");
  BOOST_TEST((strict.approval == Approval::deny_by_default));
  BOOST_TEST((strict.sandbox == SandboxMode::workspace_write));
  BOOST_TEST((strict.network == NetworkMode::none));
  BOOST_TEST(!strict.unreadable_allow);
  BOOST_TEST(strict.file.empty());
  BOOST_TEST(strict.files.empty());
  BOOST_REQUIRE(strict.commands.size() == 1u);
  BOOST_TEST(strict.commands[0].command_class == "read-only");
  BOOST_TEST(strict.commands[0].place.file == "strict");
  BOOST_TEST(strict.commands[0].place.text == "allow: {class: read-only}");
  BOOST_REQUIRE(strict.tools.size() == 1u);
  BOOST_TEST((strict.tools[0].names == strict_tools));

  const Policy review = load_policy("review");
  BOOST_TEST((review.approval == Approval::deny_by_default));
  BOOST_TEST((review.sandbox == SandboxMode::read_only));
  std::vector<std::string> without_writing = strict_tools;
  std::erase(without_writing, "apply_patch");
  BOOST_TEST((review.tools.at(0).names == without_writing));
  BOOST_TEST(review.commands.at(0).command_class == "read-only");

  const Policy automatic = load_policy("auto");
  BOOST_TEST((automatic.approval == Approval::full_auto));
  BOOST_TEST((automatic.sandbox == SandboxMode::workspace_write));
  BOOST_TEST((automatic.network == NetworkMode::none));
  BOOST_TEST(automatic.unreadable_allow);
  BOOST_TEST(automatic.commands.empty());

  for (const auto& name : preset_names()) {
    const Policy preset = load_policy(name);
    BOOST_TEST(preset.name == name);
    BOOST_TEST(preset_text(name).starts_with("# " + name));
    BOOST_TEST((preset.hide == Policy().hide));
    BOOST_TEST((preset.tracing == Tracing::none));
    if (name != "foreign") BOOST_TEST((preset.protect == Policy().protect));
    BOOST_TEST((preset.environment_exclude == Policy().environment_exclude));
    if (name != "unsandboxed") BOOST_TEST((preset.guarantee == Policy().guarantee));
  }

  const Policy net = load_policy("auto-net");
  BOOST_TEST((net.approval == Approval::full_auto));
  BOOST_TEST((net.network == NetworkMode::allow_list));
  BOOST_TEST(net.network_allow.empty());

  const Policy open = load_policy("unsandboxed");
  BOOST_TEST((open.approval == Approval::full_auto));
  BOOST_TEST((open.sandbox == SandboxMode::none));
  BOOST_TEST((open.network == NetworkMode::full));
  BOOST_TEST(open.guarantee.empty());
}

BOOST_AUTO_TEST_CASE(a_preset_of_a_toolchain_adds_rules_with_examples_and_nothing_else) {
  for (const char* name : {"edit", "python", "node", "rust", "go", "jvm", "cpp"}) {
    BOOST_TEST_CONTEXT(name) {
      const Policy both = parse("version: 1\nextends: [strict, " + std::string(name) + "]\n");
      const Policy strict = load_policy("strict");

      BOOST_TEST(both.commands.size() > strict.commands.size() + 3);
      for (std::size_t i = strict.commands.size(); i < both.commands.size(); ++i) {
        BOOST_TEST((both.commands[i].effect == Effect::allow));
        BOOST_TEST((!both.commands[i].prefix.empty() || !both.commands[i].script.empty()));
        BOOST_TEST(!both.commands[i].examples.empty(), both.commands[i].place.text);
        BOOST_TEST(!both.commands[i].escalate);
      }
      Policy without_rules = both;
      without_rules.commands = strict.commands;
      without_rules.name = strict.name;
      BOOST_TEST(policy_digest(without_rules) == policy_digest(strict));
    }
  }
}

BOOST_AUTO_TEST_CASE(an_unknown_preset_names_the_nearest) {
  const struct {
    const char* name;
    const char* message;
  } rows[] = {
      {"strickt", "unknown preset 'strickt'; did you mean 'strict'?"},
      {"nonesuch", "unknown preset 'nonesuch'"},
      {"", "unknown preset ''"},
  };
  for (const auto& row : rows)
    BOOST_CHECK_EXCEPTION(load_policy(row.name), InputError, [&](const InputError& error) {
      BOOST_TEST(error.what() == row.message);
      return error.code() == ExitCode::usage;
    });
}

BOOST_AUTO_TEST_CASE(each_wrong_policy_says_what_is_wrong) {
  const struct {
    const char* text;
    const char* finding;
  } rows[] = {
      {"", "p.yaml: error: the policy is empty; it needs at least 'version: 1'"},
      {"# nothing", "p.yaml: error: the policy is empty; it needs at least 'version: 1'"},
      {"[]", "p.yaml:1:1: error: policy: expected a mapping of keys, got a list"},
      {"name: x", "p.yaml:1:1: error: key 'version' is missing in policy"},
      {"version: 1\napproval: yes",
       "p.yaml:2:11: error: 'approval': expected deny-by-default, full-auto or audit, got 'yes'"},
      {"version: 1\naproval: x",
       "p.yaml:2:1: error: unknown key 'aproval' in policy; did you mean 'approval'?"},
      {"version: 1\nunreadable: yes",
       "p.yaml:2:13: error: 'unreadable': expected deny or allow, got 'yes'"},
      {"version: 1\napproval_override: no",
       "p.yaml:2:20: error: 'approval_override': expected true or false, got 'no'"},
      {"version: 1\nextends: {a: b}",
       "p.yaml:2:10: error: 'extends': expected text, got a mapping"},
      {"version: 1\nextends: rusty",
       "p.yaml:2:10: error: unknown preset 'rusty'; did you mean 'rust'?"},
      {"version: 1\ncommands: {allow: x}",
       "p.yaml:2:11: error: 'commands': expected a list of rules, got a mapping"},
      {"version: 1\ncommands: [ls]",
       "p.yaml:2:12: error: command rule: expected a mapping of keys, got 'ls'"},
      {"version: 1\ncommands: [allow: cargo test]",
       "p.yaml:2:19: error: command rule: expected a list of words such as [git, push], got 'cargo "
       "test'"},
      {"version: 1\ncommands: [{allow: [a], deny: [b]}]",
       "p.yaml:2:25: error: a rule has one of allow, deny and forbid, not two"},
      {"version: 1\ncommands: [{why: a}]",
       "p.yaml:2:12: error: a rule needs one of allow, deny or forbid"},
      {"version: 1\ncommands: [deny: []]", "p.yaml:2:18: error: the list of words is empty"},
      {"version: 1\ncommands: [deny: [a, []]]", "p.yaml:2:22: error: the list of words is empty"},
      {"version: 1\ncommands: [deny: [a, [[b]]]]",
       "p.yaml:2:23: error: 'a word': expected text, got a list"},
      {"version: 1\ncommands: [deny: ['']]", "p.yaml:2:19: error: 'a word' must not be empty"},
      {"version: 1\ncommands: [{deny: [a], but_not: {args: [b]}}]",
       "p.yaml:2:24: error: 'but_not' belongs to an allow rule"},
      {"version: 1\ncommands: [deny: {class: read-only}]",
       "p.yaml:2:18: error: command rule: expected a list of words such as [git, push], got a "
       "mapping: scripts and classes can only be allowed"},
      {"version: 1\ncommands: [allow: {class: writing}]",
       "p.yaml:2:27: error: 'class': expected read-only, got 'writing'"},
      {"version: 1\ncommands: [allow: {}]",
       "p.yaml:2:19: error: an allow rule needs a list of words, a class or a script"},
      {"version: 1\ncommands: [allow: {script: ../a.sh}]",
       "p.yaml:2:28: error: 'script': expected a glob such as ./scripts/*.sh: it must not lead out of "
       "the workspace"},
      {"version: 1\ncommands: [allow: {script: /a.sh}]",
       "p.yaml:2:28: error: 'script': expected a glob such as ./scripts/*.sh: it must be relative to the "
       "workspace"},
      {"version: 1\ncommands: [allow: {script: a, class: read-only}]",
       "p.yaml:2:19: error: an allow rule has one of class and script, not both"},
      {"version: 1\ncommands: [forbid: {script: ./a.sh}]",
       "p.yaml:2:20: error: command rule: expected a list of words such as [git, push], got a "
       "mapping: scripts and classes can only be allowed"},
      {"version: 1\ncommands: [{allow: [a], examples: []}]",
       "p.yaml:2:35: error: examples: expected a mapping of keys, got a list"},
      {"version: 1\ncommands: [{allow: [a], examples: {match: a}}]",
       "p.yaml:2:43: error: 'match': expected a list of examples, got 'a'"},
      {"version: 1\ncommands: [{allow: [a], examples: {match: [[]]}}]",
       "p.yaml:2:44: error: the example is empty"},
      {"version: 1\ncommands: [{allow: [a], examples: {matches: []}}]",
       "p.yaml:2:36: error: unknown key 'matches' in examples; did you mean 'match'?"},
      {"version: 1\ncommands: [{deny: [a], escalate: true, sandbox: {network: full}}]",
       "p.yaml:2:24: error: 'escalate' belongs to an allow rule"},
      {"version: 1\ncommands: [{allow: [a], escalate: true}]",
       "p.yaml:2:25: error: 'escalate' needs the rule's own sandbox: {mode: …, network: …}"},
      {"version: 1\ncommands: [{allow: [a], sandbox: {network: full}}]",
       "p.yaml:2:25: error: 'sandbox' of a rule needs 'escalate: true', which lets calls ask for "
       "it"},
      {"version: 1\ncommands: [{allow: [a], escalate: true, sandbox: {mode: none}}]",
       "p.yaml:2:57: error: 'mode: none' is not allowed: no command leaves the sandbox"},
      {"version: 1\ncommands: [{allow: [a], escalate: true, sandbox: {network: allow-list}}]",
       "p.yaml:2:60: error: 'network': expected none or full, got 'allow-list'"},
      {"version: 1\ntools: [allow: []]", "p.yaml:2:16: error: the list of tools is empty"},
      {"version: 1\nlimits: {memory: 101%}",
       "p.yaml:2:18: error: 'memory': expected a whole number from 1 to 100, got 101"},
      {"version: 1\nlimits: {memory: lots}",
       "p.yaml:2:18: error: 'memory': expected a size such as 2GiB or a share such as 80%, got 'lots'"},
      {"version: 1\nsandbox: {guarantee: [writs]}",
       "p.yaml:2:23: error: 'guarantee': expected writes, secrets, network, processes or kernel, "
       "got 'writs'; did you mean 'writes'?"},
      {"version: 1\nbounds: {credentials: {KEY: api.example.com}}",
       "p.yaml:2:29: error: 'KEY': expected a list, got 'api.example.com'"},
      {"version: 1\nbounds: {credentials: {KEY: ['*']}}",
       "p.yaml:2:30: error: 'KEY': expected a host such as api.example.com, with a port if need be, "
       "got '*': '*' would be every host"},
      {"version: 1\nbounds: {mcp: [npx, 'https://a.b/mcp']}",
       "p.yaml:2:21: error: 'mcp': invalid address 'https://a.b/mcp': expected a host "
       "without a path"},
      {"version: 1\nbounds: {mcp: ['https://*']}",
       "p.yaml:2:16: error: 'mcp': invalid address 'https://*': that would be "
       "nearly every host"},
      {"version: 1\nnetwork: {allow: ['https://a.b']}",
       "p.yaml:2:19: error: 'allow': expected a host such as api.example.com, with a port if need be, "
       "got 'https://a.b': expected a host without a scheme"},
      {"version: 1\nredact: {patterns: ['(a']}",
       "p.yaml:2:21: error: 'patterns': invalid expression: missing ): (a"},
      {"version: 1\nredact: {patterns: ['a*']}",
       "p.yaml:2:21: error: 'patterns': invalid expression: it matches the empty "
       "text"},
      {"version: 1\nescalation: yes",
       "p.yaml:2:13: error: 'escalation': expected deny or rules, got 'yes'"},
      {"version: 1\napprover: {timeout: 1s}",
       "p.yaml:2:11: error: key 'command' is missing in approver"},
      {"version: 1\napprover: {command: []}",
       "p.yaml:2:11: error: 'command' of the approver is empty"},
      {"version: 1\ntrust: {input: maybe}",
       "p.yaml:2:16: error: 'input': expected trusted or untrusted, got 'maybe'"},
      {"version: 1\ntrust: {allow_all_three: yes}",
       "p.yaml:2:26: error: 'allow_all_three': expected true or false, got 'yes'"},
      {"version: 1\nredact: {on_leak: ignore}",
       "p.yaml:2:19: error: 'on_leak': expected fail or report, got 'ignore'"},
      {"version: 1\nbounds: {budget: {time: soon}}",
       "p.yaml:2:25: error: 'time': expected a duration such as 500ms, 30s, 10m or 2h, got 'soon'"},
      {"version: 1\npaths: {toolchains: all}",
       "p.yaml:2:21: error: 'toolchains': expected none or auto, got 'all'"},
      {"version: 1\nenvironment: {set: {A=B: c}}",
       "p.yaml:2:21: error: 'name': expected the name of an environment variable, got 'A=B'"},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.text) {
      BOOST_TEST(first_line(findings_of(row.text)) == row.finding);
    }
}

BOOST_AUTO_TEST_CASE(the_schema_knows_what_the_loader_reads) {
  const JsonSchema schema(policy_schema());

  for (const auto& name : preset_names())
    BOOST_TEST(describe(schema.check(as_json(preset_text(name)))) == "");
  const Json full = as_json(kFullPolicy);
  BOOST_TEST(describe(schema.check(full)) == "");
  for (const auto& [name, value] : full.members())
    BOOST_TEST(policy_schema()["properties"].find(name) != nullptr, name);
  BOOST_TEST(!schema.check(parse_json(R"({"version":1,"aproval":"full-auto"})")).empty());
  BOOST_TEST(!schema.check(parse_json(R"({"version":1,"commands":[{"allow":"ls"}]})")).empty());
}

/// Every key of a schema, by its path from the top.
void collect_keys(const Json& schema, const std::string& prefix, std::vector<std::string>& keys) {
  for (const auto& [name, value] : schema["properties"].members()) {
    keys.push_back(prefix + name);
    collect_keys(value, prefix + name + ".", keys);
    collect_keys(value["items"], prefix + name + ".", keys);
  }
  for (const auto& each : schema["anyOf"].items()) collect_keys(each, prefix, keys);
}

/// The part of the manual below the heading of a top-level key, or its head.
std::string manual_section(const std::string& manual, const std::string& key) {
  const std::size_t heading = manual.find("\n## " + key + "\n");
  if (heading == std::string::npos) return manual.substr(0, manual.find("\n## commands\n"));
  return manual.substr(heading, manual.find("\n## ", heading + 1) - heading);
}

BOOST_AUTO_TEST_CASE(the_manual_names_every_key_in_its_section) {
  const std::string manual = read_file(std::string(SORTIE_SOURCE_DIR) + "/docs/policy.md");
  std::vector<std::string> keys;
  collect_keys(policy_schema(), "", keys);
  BOOST_TEST(keys.size() > 60u);
  for (const auto& key : keys) {
    const std::string top = key.substr(0, key.find('.'));
    const std::string last = key.substr(key.rfind('.') + 1);
    BOOST_TEST(manual_section(manual, top).find(last) != std::string::npos, key);
  }
}

BOOST_AUTO_TEST_CASE(every_preset_and_the_full_policy_load_to_themselves) {
  std::vector<Policy> policies = {parse(kFullPolicy), parse("version: 1\npaths: {protect: []}")};
  for (const auto& name : preset_names()) policies.push_back(load_policy(name));
  for (const Policy& policy : policies) BOOST_TEST_CONTEXT(policy.name) {
      const Policy again = parse(write_json(policy_json(policy)));
      BOOST_TEST(policy_digest(again) == policy_digest(policy));
    }
}

BOOST_AUTO_TEST_CASE(the_digest_is_of_the_effect_and_not_of_the_place) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "same.yaml") << "# other lines\n\nversion: 1\ncommands: [deny: [x]]\n";
  const Policy here = parse_policy("version: 1\ncommands: [deny: ['x']]\n", "same.yaml", ".");
  const Policy there = load_policy((folder / "same.yaml").string());

  BOOST_TEST(policy_digest(here) == policy_digest(there));
  BOOST_TEST(policy_digest(here).starts_with("sha256:"));
  BOOST_TEST(
      policy_digest(here) !=
      policy_digest(parse_policy("version: 1\ncommands: [forbid: [x]]\n", "same.yaml", ".")));
}

BOOST_AUTO_TEST_CASE(the_effective_policy_loads_to_itself) {
  const Policy policy = parse(kFullPolicy);

  const Policy again = parse(write_json(policy_json(policy)));

  BOOST_TEST(write_json(policy_json(again)) == write_json(policy_json(policy)));
}

BOOST_AUTO_TEST_SUITE_END()
