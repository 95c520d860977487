#include "policies/rules/deny_search.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "policies/engine/engine.h"
#include "tests/policies/policies.h"

using namespace sortie;

namespace {

Policy script_policy(const std::string& glob) {
  CommandRule rule = tests::command_rule(Effect::allow, {});
  rule.script = glob;
  return tests::strict_policy({rule});
}

Decision decide(const Policy& policy, const std::vector<std::string>& argv,
                const std::string& workdir = "/w", ScriptFiles files = {}) {
  Engine engine(policy, policy.approval, "/w", {}, {"/usr/bin"});
  engine.judge_scripts_by(std::move(files));
  return engine.decide(RunCommand{.argv = argv, .workdir = workdir});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(script_rule)

BOOST_AUTO_TEST_CASE(a_script_is_called_by_its_path_in_the_workspace) {
  const Policy policy = script_policy("./scripts/*.sh");
  const struct {
    std::vector<std::string> argv;
    const char* workdir;
    bool allowed;
  } rows[] = {
      {{"./scripts/a.sh"}, "/w", true},
      {{"scripts/a.sh", "--any", "../argument"}, "/w", true},
      {{"/w/scripts/a.sh"}, "/w", true},
      {{"./a.sh"}, "/w/scripts", true},
      {{"../scripts/a.sh"}, "/w/src", true},
      {{"./x/../scripts/a.sh"}, "/w", true},
      {{"a.sh"}, "/w/scripts", false},  // a bare name is looked up on PATH
      {{"scripts"}, "/w", false},
      {{"./scripts/"}, "/w", false},
      {{"./scripts/a.sh/"}, "/w", false},
      {{"./scripts/a.py"}, "/w", false},
      {{"./scripts/deep/a.sh"}, "/w", false},
      {{"./other/a.sh"}, "/w", false},
      {{"./scripts/a.sh"}, "/w/src", false},
      {{"/scripts/a.sh"}, "/w", false},
      {{"/tmp/scripts/a.sh"}, "/w", false},
      {{"/wx/scripts/a.sh"}, "/w", false},
      {{"../scripts/a.sh"}, "/w", false},
      {{"./scripts/../../scripts/a.sh"}, "/w", false},
      {{"/w/../w2/scripts/a.sh"}, "/w", false},
      {{"bash", "./scripts/a.sh"}, "/w", false},
      {{"env", "./scripts/a.sh"}, "/w", true},
      {{"./scripts/a.sh"}, "/tmp", false},
  };
  for (const auto& row : rows) BOOST_TEST_CONTEXT(row.argv[0] << " in " << row.workdir) {
      BOOST_TEST((decide(policy, row.argv, row.workdir).effect == Effect::allow) == row.allowed);
    }
}

BOOST_AUTO_TEST_CASE(a_script_that_was_changed_is_denied_with_that_reason) {
  const Policy policy = script_policy("./scripts/*.sh");
  std::filesystem::path asked;
  const auto changed = [&](const std::filesystem::path& path) {
    asked = path;
    return ScriptFile{.path = "scripts/a.sh", .problem = "scripts/a.sh was changed in this run"};
  };

  const Decision decision = decide(policy, {"./x/../scripts/a.sh"}, "/w", changed);

  BOOST_TEST((decision.effect == Effect::deny));
  BOOST_TEST(decision.reason == "scripts/a.sh was changed in this run");
  BOOST_TEST(decision.part == "./x/../scripts/a.sh");
  BOOST_TEST(decision.rule.line == 7);
  BOOST_TEST(!decision.unmatched);
  BOOST_TEST(asked == "/w/./x/../scripts/a.sh");  // as the kernel is to resolve it
}

BOOST_AUTO_TEST_CASE(a_link_may_not_lead_to_what_no_rule_matches) {
  const Policy policy = script_policy("./scripts/*.sh");
  const auto leads_to = [](const char* path) {
    return [path](const std::filesystem::path&) { return ScriptFile{.path = path, .problem = ""}; };
  };

  const Decision other = decide(policy, {"./scripts/a.sh"}, "/w", leads_to("tools/b"));
  BOOST_TEST((other.effect == Effect::deny));
  BOOST_TEST(other.reason == "a link leads to tools/b, which the rule does not match");
  const Decision same = decide(policy, {"./scripts/a.sh"}, "/w", leads_to("scripts/b.sh"));
  BOOST_TEST((same.effect == Effect::allow));
}

BOOST_AUTO_TEST_CASE(denied_words_and_other_rules_hold_for_scripts_too) {
  Policy policy = script_policy("scripts/**");
  policy.commands.back().but_not_args = {"--force", ""};
  policy.commands.push_back(tests::command_rule(Effect::deny, {{"deploy.sh"}}));

  BOOST_TEST((decide(policy, {"./scripts/a/b"}).effect == Effect::allow));
  BOOST_TEST((decide(policy, {"./scripts/a", "--force"}).effect == Effect::deny));
  BOOST_TEST((decide(policy, {"./scripts/a", ""}).effect == Effect::deny));
  BOOST_TEST((decide(policy, {"./scripts/deploy.sh"}).effect == Effect::deny));
  const Decision outside = decide(policy, {"./other"});
  BOOST_TEST(outside.reason == "./other is a path that no script rule matches");
}

namespace {

/// What is decided of the command while others run.
Decision decide_beside(const Policy& policy, const RunCommand& command,
                       const ConcurrentCommands& beside) {
  Engine engine(policy, policy.approval, "/w", {}, {"/usr/bin"});
  engine.look_beside_by([&beside] { return beside; });
  return engine.decide(command);
}

ConcurrentCommands::Session session(std::vector<std::string> argv, bool may_write = true) {
  return {.name = "session 3",
          .command = {.argv = std::move(argv), .workdir = "/w"},
          .may_write = may_write};
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_script_does_not_start_beside_what_may_write) {
  Policy policy = script_policy("./scripts/*.sh");
  policy.commands.push_back(tests::command_rule(Effect::allow, {{"make"}}));
  const ConcurrentCommands none;
  const ConcurrentCommands build{.sessions = {session({"make"})}};
  const ConcurrentCommands held{.sessions = {session({"make"}, false)}};
  const ConcurrentCommands server{.writers = {"the MCP server docs"}};
  const struct {
    std::vector<std::string> argv;
    const ConcurrentCommands& beside;
    std::string reason;  ///< part of it; "" where it may run
  } rows[] = {
      {{"./scripts/a.sh"}, none, ""},
      {{"./scripts/a.sh"}, held, ""},
      {{"./scripts/a.sh"}, build, "session 3 is running and may write to the workspace"},
      {{"./scripts/a.sh"}, server, "the MCP server docs is running and may write"},
      {{"make", "all"}, build, ""},
      {{"make", "all"}, server, ""},
      {{"ls"}, build, ""},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.argv.back() << " " << row.reason) {
      const Decision decision =
          decide_beside(policy, {.argv = row.argv, .workdir = "/w"}, row.beside);
      BOOST_TEST((decision.effect == Effect::allow) == row.reason.empty());
      BOOST_TEST(decision.reason.find(row.reason) != std::string::npos, decision.reason);
      BOOST_TEST(!decision.unmatched);  // nobody is asked
    }
  }
}

BOOST_AUTO_TEST_CASE(what_may_write_does_not_start_beside_a_script) {
  Policy policy = script_policy("./scripts/*.sh");
  policy.commands.push_back(tests::command_rule(Effect::allow, {{"cp"}}));
  const struct {
    std::vector<std::string> runs;
    std::vector<std::string> argv;
    bool allowed;
  } rows[] = {
      {{"./scripts/a.sh"}, {"cp", "a", "b"}, false},
      {{"./scripts/a.sh"}, {"bash", "-c", "ls; cp a b"}, false},
      {{"./scripts/a.sh"}, {"cat", "a"}, true},
      {{"./scripts/a.sh"}, {"bash", "-c", "cat a | head -3"}, true},
      {{"cp", "a", "b"}, {"cp", "a", "b"}, true},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.runs.back() << " beside " << row.argv.back()) {
      const ConcurrentCommands beside{.sessions = {session(row.runs)}};
      const Decision decision = decide_beside(policy, {.argv = row.argv, .workdir = "/w"}, beside);
      BOOST_TEST((decision.effect == Effect::allow) == row.allowed, decision.reason);
      if (!row.allowed)
        BOOST_TEST(
            decision.reason.find("session 3 runs a program of the workspace") != std::string::npos,
            decision.reason);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_typed_into_a_script_goes_to_what_runs_already) {
  const Policy policy = script_policy("./scripts/*.sh");
  const ConcurrentCommands beside{.sessions = {session({"./scripts/a.sh"})}};
  const RunCommand typed{.argv = {"./scripts/a.sh"}, .workdir = "/w", .input = "yes\n"};
  BOOST_TEST((decide_beside(policy, typed, beside).effect == Effect::allow));
}

BOOST_AUTO_TEST_CASE(a_script_gets_no_wider_rights_beside_what_may_write) {
  Policy policy = tests::auto_policy();
  CommandRule rule = tests::command_rule(Effect::allow, {});
  rule.script = "./scripts/*.sh";
  rule.escalate = true;
  rule.sandbox.network = NetworkMode::full;
  policy.commands = {rule};
  policy.escalation = true;
  ConcurrentCommands beside;
  Engine engine(policy, policy.approval, "/w", {}, {"/usr/bin"});
  engine.look_beside_by([&beside] { return beside; });
  const RunCommand command{.argv = {"./scripts/a.sh"}, .workdir = "/w", .escalated = true};
  BOOST_TEST(engine.find_escalation(command).has_value());
  beside.sessions = {session({"make"})};
  BOOST_TEST(!engine.find_escalation(command).has_value());
}

BOOST_AUTO_TEST_CASE(where_no_mount_guards_protected_paths_nothing_is_escalated_beside_a_writer) {
  const struct {
    const char* name;
    bool unguarded;
    std::vector<ConcurrentCommands::Session> sessions;
    std::vector<std::string> writers;
    bool granted;
  } rows[] = {
      {"nothing runs", true, {}, {}, true},
      {"mounts guard them", false, {session({"make"})}, {}, true},
      {"a session", true, {session({"make"})}, {}, false},
      {"a session that only reads", true, {session({"make"}, false)}, {}, true},
      {"a server", true, {}, {"the MCP server docs"}, false},
  };
  Policy policy;
  policy.escalation = true;
  CommandRule rule = tests::command_rule(Effect::allow, {{"git"}, {"ls-remote"}});
  rule.escalate = true;
  rule.sandbox.network = NetworkMode::full;
  policy.commands = {rule};
  for (const auto& row : rows) {
    Engine engine(policy, policy.approval, "/w", {}, {"/usr/bin"});
    engine.look_beside_by([&row] {
      return ConcurrentCommands{
          .sessions = row.sessions, .writers = row.writers, .unguarded = row.unguarded};
    });
    const RunCommand command{.argv = {"git", "ls-remote"}, .workdir = "/w", .escalated = true};
    BOOST_TEST(engine.find_escalation(command).has_value() == row.granted, row.name);
    // A server with a sandbox of its own that runs already: another server does not run at a call.
    const bool beside_session = !row.granted && !row.sessions.empty();
    BOOST_TEST(engine.refused_beside(CallTool{.name = "t", .escalated = true}).has_value() ==
                   beside_session,
               row.name);
    BOOST_TEST(!engine.refused_beside(CallTool{.name = "t"}).has_value(), row.name);
  }
}

BOOST_AUTO_TEST_SUITE_END()
