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

BOOST_AUTO_TEST_SUITE(policy_extends)

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

BOOST_AUTO_TEST_SUITE_END()
