#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "policies/engine/engine.h"
#include "policies/file/policy_loader.h"
#include "policies/rules/policy.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;

namespace {

/// A chain of files, each extending the one before; the last is loaded.
class Chain {
 public:
  Policy load(const std::vector<std::string>& texts) const {
    std::string extends;
    std::string name;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      name = "p" + std::to_string(i) + ".yaml";
      std::ofstream(folder_ / name) << "version: 1\n" << extends << texts[i];
      extends = "extends: " + name + "\n";
    }
    return load_policy((folder_ / name).string());
  }
  std::string findings(const std::vector<std::string>& texts) const {
    try {
      load(texts);
      return "";
    } catch (const InputError& error) {
      return error.what();
    }
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }

 private:
  test::TemporaryFolder folder_;
};

Effect decide(const Policy& policy, const Action& action, Approval approval) {
  const Engine engine(policy, approval, "/w", {}, {"/usr/bin"});
  return engine.decide(action).effect;
}

Effect decide(const Policy& policy, const std::vector<std::string>& argv) {
  return decide(policy, RunCommand{.argv = argv, .workdir = "/w"}, policy.approval);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(extends)

BOOST_AUTO_TEST_CASE(nothing_that_extends_takes_a_deny_or_forbid_back) {
  const std::string base =
      "commands: [deny: [git, push], forbid: [sudo]]\n"
      "tools: [deny: 'mcp__*', forbid: web]\n";
  const std::vector<std::string> attempts = {
      "",
      "commands: [allow: [git, push], allow: [sudo]]\n",
      "commands: [allow: [[git, hub], [push, pull]], allow: [[sudo, doas]]]\n",
      "commands: [{allow: [git], but_not: {args: [push]}}, {allow: [git]}, {allow: [sudo]}]\n",
      "commands: []\ntools: []\n",
      "approval: full-auto\nunreadable: allow\n",
      "approval: full-auto\ncommands: [allow: [git], allow: [sudo]]\ntools: [allow: '*']\n",
      "tools: [allow: '*', allow: mcp__x, allow: web]\n",
      "commands: [deny: [sudo], deny: [git, fetch]]\ntools: [deny: web]\n",
      "escalation: rules\ncommands: [{allow: [git, push], escalate: true, sandbox: {network: "
      "full}}]\n",
  };
  for (const auto& first : attempts)
    for (const auto& second : attempts) BOOST_TEST_CONTEXT(first << "then\n" << second) {
        const Policy policy = Chain().load({base, first, second});
        for (const Approval approval : {Approval::deny_by_default, Approval::full_auto}) {
          const auto run = [&](std::vector<std::string> argv) {
            return decide(policy, RunCommand{.argv = std::move(argv), .workdir = "/w"}, approval);
          };
          BOOST_TEST((run({"git", "push"}) == Effect::deny));
          BOOST_TEST((run({"/usr/bin/git", "-C", ".", "push", "-f"}) == Effect::deny));
          BOOST_TEST((run({"env", "git", "push"}) != Effect::allow));
          BOOST_TEST((run({"sudo", "ls"}) == Effect::forbid));
          BOOST_TEST((decide(policy, CallTool{"mcp__x"}, approval) == Effect::deny));
          BOOST_TEST((decide(policy, CallTool{"web"}, approval) == Effect::forbid));
        }
      }
}

BOOST_AUTO_TEST_CASE(a_deny_holds_in_whatever_order_and_file_the_rules_stand) {
  std::mt19937 random(7);  // the same each time
  std::vector<std::string> rules = {"deny: [rm, [-rf, -r]]",
                                    "forbid: [dd]",
                                    "allow: [rm]",
                                    "allow: [[rm, dd, git]]",
                                    "allow: {class: read-only}",
                                    "allow: [dd]",
                                    "allow: [rm, -rf]",
                                    "{allow: [rm], but_not: {args: [x]}}",
                                    "deny: [git, push]"};
  for (int round = 0; round < 60; ++round) {
    std::shuffle(rules.begin(), rules.end(), random);
    const std::size_t cut = random() % (rules.size() + 1);
    std::vector<std::string> files(2, "commands: [");
    for (std::size_t i = 0; i < rules.size(); ++i)
      files[i < cut ? 0 : 1] += (rules[i].front() == '{' ? rules[i] : "{" + rules[i] + "}") + ", ";
    for (auto& file : files) file += "]\n";
    BOOST_TEST_CONTEXT(files[0] << files[1]) {
      const Policy policy = Chain().load(files);
      BOOST_TEST((decide(policy, {"rm", "-rf", "x"}) == Effect::deny));
      BOOST_TEST((decide(policy, {"rm", "-r"}) == Effect::deny));
      BOOST_TEST((decide(policy, {"dd", "if=a"}) == Effect::forbid));
      BOOST_TEST((decide(policy, {"git", "push"}) == Effect::deny));
      BOOST_TEST((decide(policy, {"rm", "a"}) == Effect::allow));
    }
  }
}

BOOST_AUTO_TEST_CASE(two_rules_on_one_line_that_look_alike_both_stand) {
  // Longer than what a rule's place shows of it.
  const std::string many = std::string(300, 'x');
  const Policy policy =
      Chain().load({"commands: [{deny: [a, [" + many + ", b]]}, {deny: [a, [" + many +
                    ", c]]}]\n"
                    "tools: [{deny: [" +
                    many + ", b]}, {deny: [" + many + ", c]}]\napproval: full-auto\n"});

  BOOST_TEST((decide(policy, {"a", "b"}) == Effect::deny));
  BOOST_TEST((decide(policy, {"a", "c"}) == Effect::deny));
  BOOST_TEST((decide(policy, CallTool{"c"}, Approval::full_auto) == Effect::deny));
}

BOOST_AUTO_TEST_CASE(lists_of_what_is_kept_away_never_shrink) {
  const std::string base =
      "paths: {hide: [secrets], protect: [Makefile]}\nenvironment: {exclude: ['X_*']}\n"
      "sandbox: {guarantee: [processes]}\n";
  const Policy policy = Chain().load(
      {base, "paths: {hide: []}\nenvironment: {exclude: []}\nsandbox: {guarantee: []}\n",
       "paths: {hide: [other], protect: [other]}\nenvironment: {exclude: [Y]}\n"});

  const auto holds = [](const auto& list, const auto& value) {
    return std::find(list.begin(), list.end(), value) != list.end();
  };
  for (const char* path : {"secrets", "other", "~/.ssh"})
    BOOST_TEST(holds(policy.hide, path), path);
  for (const char* path : {"Makefile", "other", ".git", "AGENTS.md"})
    BOOST_TEST(holds(policy.protect, path), path);
  for (const char* name : {"X_*", "Y", "*KEY*"})
    BOOST_TEST(holds(policy.environment_exclude, name), name);
  BOOST_TEST(holds(policy.guarantee, Guarantee::processes));
}

BOOST_AUTO_TEST_CASE(what_an_extended_file_protects_can_not_be_given_up) {
  const Chain chain;
  const std::string findings =
      chain.findings({"paths: {protect: [Makefile]}\n", "paths: {protect: []}\n"});

  BOOST_TEST(findings == chain.path("p1.yaml") +
                             ":3:18: error: 'protect: []' can't take back what " +
                             chain.path("p0.yaml") + ":2 protects\n    3 | paths: {protect: []}\n" +
                             "      |                  ^");
  BOOST_TEST(chain.load({"", "paths: {protect: []}\n"}).protect.empty());
  // Who names a path wants more than the default, not less.
  std::vector<std::string> with_default = Policy().protect;
  with_default.push_back("Makefile");
  BOOST_TEST((chain.load({"paths: {protect: []}\n", "paths: {protect: [Makefile]}\n"}).protect ==
              with_default));
}

BOOST_AUTO_TEST_CASE(scalars_are_replaced_wherever_extends_stands_in_the_file) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "base.yaml") << "version: 1\nmax_denials: 5\napproval: full-auto\n"
                                         "limits: {disk: 1MiB, processes: 7}\n";
  std::ofstream(folder / "top.yaml") << "max_denials: 6\nlimits: {disk: 2MiB}\n"
                                        "extends: base.yaml\nversion: 1\n";

  const Policy policy = load_policy((folder / "top.yaml").string());

  BOOST_TEST(policy.max_denials == 6);
  BOOST_TEST(policy.limits.disk == 2u << 20);
  BOOST_TEST(policy.limits.processes == 7);
  BOOST_TEST((policy.approval == Approval::full_auto));
  BOOST_TEST(policy.places.at("limits.disk").file == (folder / "top.yaml").string());
  BOOST_TEST(policy.places.at("limits.processes").file == (folder / "base.yaml").string());
}

BOOST_AUTO_TEST_CASE(a_diamond_is_read_without_doubling_its_rules) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "base.yaml") << "version: 1\ncommands: [deny: [x], allow: [ls]]\n";
  std::ofstream(folder / "left.yaml") << "version: 1\nextends: base.yaml\ncommands: [allow: [a]]\n";
  std::ofstream(folder / "right.yaml")
      << "version: 1\nextends: [base.yaml, strict]\ncommands: [allow: [b]]\n";
  std::ofstream(folder / "top.yaml") << "version: 1\nextends: [left.yaml, right.yaml, strict]\n";

  const Policy policy = load_policy((folder / "top.yaml").string());

  std::vector<std::string> rules;
  for (const auto& rule : policy.commands) rules.push_back(rule.place.text);
  BOOST_TEST((rules == std::vector<std::string>{"deny: [x]", "allow: [ls]", "allow: [a]",
                                                "allow: {class: read-only}", "allow: [b]"}));
}

BOOST_AUTO_TEST_CASE(the_approvers_program_and_its_files_belong_to_the_policys_files) {
  const test::TemporaryFolder folder;
  std::filesystem::create_directory(folder / "sub");
  for (const char* file : {"sub/approve.sh", "sub/rules.json"}) std::ofstream(folder / file) << "x";
  std::ofstream(folder / "sub/base.yaml")
      << "version: 1\napprover: {command: [./approve.sh, rules.json, --flag, missing]}\n";
  std::ofstream(folder / "top.yaml") << "version: 1\nextends: sub/base.yaml\n";

  const Policy policy = load_policy((folder / "top.yaml").string());

  BOOST_TEST((policy.files == std::vector<std::filesystem::path>{
                                  folder / "top.yaml", folder / "sub/base.yaml",
                                  folder / "sub/approve.sh", folder / "sub/rules.json"}));
  BOOST_TEST(policy.approver.value().folder == folder / "sub");
}

BOOST_AUTO_TEST_SUITE_END()
