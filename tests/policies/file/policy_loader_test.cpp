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
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace std::chrono_literals;

namespace {

Policy parse(const std::string& text) { return parse_policy(text, "p.yaml", "."); }

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

/// Every key that a policy may have.
constexpr const char* kFullPolicy = R"(version: 1
name: own
extends: [strict]
approval: full-auto
approval_override: true
on_denied: abort
max_denials: 3
unreadable: allow
bounds:
  credentials: {MY_KEY: [api.example.com, "*.example.org:8443"]}
  models: ["openai/*"]
  vars_env: ["X_*"]
  mcp: [npx -y server, "https://*.example.com:8443"]
  budget: {cost: 1.5, time: 2h}
commands:
  - allow: [cargo, [build, test]]
    but_not: {args: ["--config*"]}
    why: building is the job
    examples: {match: [[cargo, test]], not_match: [[cargo, test, --config=x]]}
  - deny: [git, push]
  - forbid: [sudo]
    escalate: false
  - allow: {script: "./scripts/*.sh"}
    escalate: true
    sandbox: {mode: workspace-write, network: full}
tools:
  - deny: "mcp__*"
    why: no
  - forbid: [a, b]
paths:
  write: [src]
  read: [/opt/data]
  hide: [secrets, "~/.ssh"]
  protect: [Makefile]
network:
  mode: full
  allow: ["*", "[2001:db8::1]:8080", "*.example.org:443"]
environment:
  inherit: none
  include: [CARGO_HOME]
  exclude: ["X_*"]
  set: {CI: "true"}
limits:
  command_timeout: 1m
  output: 1MiB
  memory: 50%
  processes: 10
  file_size: 2MiB
  open_files: 64
  disk: 3MiB
  diff_file_size: 4MiB
  transcript: 5MiB
sandbox:
  mode: none
  ptrace: own
  guarantee: [processes]
escalation: rules
approver:
  command: [./approve.sh]
  timeout: 5s
trust:
  input: trusted
  allow_all_three: true
redact:
  patterns: ["ACME-[0-9]{8}"]
  on_leak: report
)";

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

BOOST_AUTO_TEST_CASE(a_file_goes_over_what_it_extends) {
  const Policy policy = parse(kFullPolicy);

  BOOST_TEST(policy.name == "own");
  BOOST_TEST((policy.approval == Approval::full_auto));
  BOOST_TEST(policy.approval_override);
  BOOST_TEST(policy.abort_on_denied);
  BOOST_TEST(policy.max_denials == 3);
  BOOST_TEST(policy.unreadable_allow);
  BOOST_TEST((policy.credentials == std::map<std::string, std::vector<std::string>>{
                                        {"MY_KEY", {"api.example.com", "*.example.org:8443"}}}));
  BOOST_TEST((policy.models == std::vector<std::string>{"openai/*"}));
  BOOST_TEST((policy.vars_env == std::vector<std::string>{"X_*"}));

  BOOST_REQUIRE(policy.commands.size() == 5u);
  const CommandRule& cargo = policy.commands[1];
  BOOST_TEST((cargo.effect == Effect::allow));
  BOOST_TEST((cargo.prefix == std::vector<std::vector<std::string>>{{"cargo"}, {"build", "test"}}));
  BOOST_TEST((cargo.but_not_args == std::vector<std::string>{"--config*"}));
  BOOST_TEST(cargo.why == "building is the job");
  BOOST_TEST((cargo.place == RulePlace{"p.yaml", 16, "allow: [cargo, [build, test]]"}));
  BOOST_TEST((policy.commands[3].effect == Effect::forbid));
  BOOST_TEST((policy.commands[3].place == RulePlace{"p.yaml", 21, "forbid: [sudo]"}));
  BOOST_TEST(policy.commands[1].examples.size() == 2u);
  BOOST_TEST(policy.commands[4].script == "./scripts/*.sh");
  BOOST_TEST((policy.commands[4].sandbox ==
              RuleSandbox{.mode = SandboxMode::workspace_write, .network = NetworkMode::full}));
  BOOST_TEST(policy.escalation);
  BOOST_TEST(policy.places.at("bounds.models").line == 11);
  BOOST_REQUIRE(policy.tools.size() == 3u);
  BOOST_TEST((policy.tools[1].names == std::vector<std::string>{"mcp__*"}));
  BOOST_TEST((policy.tools[1].place == RulePlace{"p.yaml", 27, "deny: \"mcp__*\""}));
  BOOST_TEST((policy.tools[2].effect == Effect::forbid));

  BOOST_TEST((policy.write == std::vector<std::string>{"src"}));
  BOOST_TEST((policy.read == std::vector<std::string>{"/opt/data"}));
  std::vector<std::string> hide = Policy().hide;
  hide.push_back("secrets");
  BOOST_TEST((policy.hide == hide));
  std::vector<std::string> protect = Policy().protect;
  protect.push_back("Makefile");
  BOOST_TEST((policy.protect == protect));
  std::vector<std::string> exclude = Policy().environment_exclude;
  exclude.push_back("X_*");
  BOOST_TEST((policy.environment_exclude == exclude));
  BOOST_TEST(policy.environment_set.at("CI") == "true");
  BOOST_TEST((policy.network == NetworkMode::full));
  BOOST_TEST((policy.environment_inherit == InheritedVariables::none));
  BOOST_TEST((policy.limits.command_timeout == 1min));
  BOOST_TEST(policy.limits.memory == 0u);
  BOOST_TEST(policy.limits.memory_percent == 50);
  BOOST_TEST(policy.limits.transcript == 5u << 20);
  BOOST_TEST((policy.sandbox == SandboxMode::none));
  BOOST_TEST((policy.tracing == Tracing::own));
  // strict asks for writes, secrets and network: a list is added to.
  BOOST_TEST(
      (policy.guarantee == std::vector<Guarantee>{Guarantee::writes, Guarantee::secrets,
                                                  Guarantee::network, Guarantee::processes}));
}

BOOST_AUTO_TEST_CASE(lists_by_themselves_replace_their_default_or_add_to_it) {
  BOOST_TEST(parse("version: 1\npaths: {protect: []}").protect.empty());
  BOOST_TEST((parse("version: 1\npaths: {hide: []}").hide == Policy().hide));
  BOOST_TEST(parse("version: 1\npaths: {write: []}").write.empty());
  BOOST_TEST(parse("version: 1\nbounds: {credentials: {}}").credentials.empty());
  BOOST_TEST((parse("version: 1\nsandbox: {guarantee: [kernel]}").guarantee ==
              std::vector<Guarantee>{Guarantee::kernel}));
  BOOST_TEST(parse("version: 1\nlimits: {memory: 2GiB}").limits.memory == 2ull << 30);
  BOOST_TEST((parse("version: 1").models == std::vector<std::string>{"*"}));
}

BOOST_AUTO_TEST_CASE(files_extend_files_beside_them) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  std::ofstream(folder / "top.yaml") << "version: 1\nextends: [sub/base.yaml, sub/other.yml]\n"
                                        "commands: [deny: [x]]\nmax_denials: 7\n";
  std::ofstream(folder / "sub/base.yaml")
      << "version: 1\nname: base\nextends: deep.yaml\nmax_denials: 5\n"
         "commands:\n  - forbid: [sudo]\n";
  std::ofstream(folder / "sub/other.yml") << "version: 1\nextends: deep.yaml\n";
  std::ofstream(folder / "sub/deep.yaml")
      << "version: 1\nbounds: {models: [a/*]}\ncommands: [allow: [ls]]\n";

  const Policy policy = load_policy((folder / "top.yaml").string());

  BOOST_TEST(policy.name == "top");
  BOOST_TEST(policy.file == folder / "top.yaml");
  BOOST_TEST((policy.files == std::vector<std::filesystem::path>{
                                  folder / "top.yaml", folder / "sub/base.yaml",
                                  folder / "sub/deep.yaml", folder / "sub/other.yml"}));
  BOOST_TEST(policy.max_denials == 7);
  BOOST_TEST((policy.models == std::vector<std::string>{"a/*"}));
  BOOST_REQUIRE(policy.commands.size() == 3u);  // deep.yaml's rule once, though read twice
  BOOST_TEST(policy.commands[0].place.file == (folder / "sub/deep.yaml").string());
  BOOST_TEST((policy.commands[1].effect == Effect::forbid));
  BOOST_TEST(policy.commands[2].place.text == "deny: [x]");
}

BOOST_AUTO_TEST_CASE(cycles_and_missing_files_are_findings_where_they_are_named) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "a.yaml") << "version: 1\nextends: [./b.yaml, none.yaml, strcit]\n";
  std::ofstream(folder / "b.yaml") << "version: 1\nextends: a.yaml\nmax_denials: 0\n";
  const std::string a = (folder / "a.yaml").string();
  const std::string b = (folder / "b.yaml").string();

  BOOST_CHECK_EXCEPTION(load_policy(a), InputError, [&](const InputError& error) {
    BOOST_TEST(std::string(error.what()) ==
               a + ":2:21: error: policy '" + (folder / "none.yaml").string() +
                   "': no such file\n"
                   "    2 | extends: [./b.yaml, none.yaml, strcit]\n"
                   "      |                     ^~~~~~~~~\n" +
                   a +
                   ":2:32: error: unknown preset 'strcit'; did you mean 'strict'?\n"
                   "    2 | extends: [./b.yaml, none.yaml, strcit]\n"
                   "      |                                ^~~~~~\n" +
                   b + ":2:10: error: a policy can't extend itself: " + a + " → " + b + " → " + a +
                   "\n    2 | extends: a.yaml\n"
                   "      |          ^~~~~~\n" +
                   b +
                   ":3:14: error: 'max_denials': expected a whole number from 1 to 1000000, got 0\n"
                   "    3 | max_denials: 0\n"
                   "      |              ^");
    return true;
  });
}

BOOST_AUTO_TEST_CASE(what_doubles_at_each_level_is_ended) {
  const test::TemporaryFolder folder;
  for (int i = 0; i < 20; ++i) {
    const std::string next = std::to_string(i + 1) + ".yaml";
    std::ofstream(folder / (std::to_string(i) + ".yaml"))
        << "version: 1\n"
        << (i < 19 ? "extends: [" + next + ", " + next + "]\n" : "");
  }

  BOOST_CHECK_EXCEPTION(
      load_policy((folder / "0.yaml").string()), InputError, [](const InputError& error) {
        return std::string(error.what()).find("more than 64 policies are extended") !=
               std::string::npos;
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
      BOOST_TEST(again.digest == policy.digest);
    }
}

BOOST_AUTO_TEST_CASE(the_digest_is_of_the_effect_and_not_of_the_place) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "same.yaml") << "# other lines\n\nversion: 1\ncommands: [deny: [x]]\n";
  const Policy here = parse_policy("version: 1\ncommands: [deny: ['x']]\n", "same.yaml", ".");
  const Policy there = load_policy((folder / "same.yaml").string());

  BOOST_TEST(here.digest == there.digest);
  BOOST_TEST(here.digest.starts_with("sha256:"));
  BOOST_TEST(here.digest !=
             parse_policy("version: 1\ncommands: [forbid: [x]]\n", "same.yaml", ".").digest);
}

BOOST_AUTO_TEST_CASE(the_effective_policy_loads_to_itself) {
  const Policy policy = parse(kFullPolicy);

  const Policy again = parse(write_json(policy_json(policy)));

  BOOST_TEST(write_json(policy_json(again)) == write_json(policy_json(policy)));
}

BOOST_AUTO_TEST_SUITE_END()
