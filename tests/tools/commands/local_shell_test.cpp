#include "tools/commands/shell.h"

#include <boost/test/unit_test.hpp>

#include "core/base/error.h"
#include "policies/file/policy_loader.h"
#include "tests/fakes/event_list.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_launcher.h"
#include "tests/fakes/memory_files.h"
#include "tests/tools/runner_bench.h"
#include "tools/plain_tools.h"

using namespace sortie;
using Form = ToolCall::Form;

namespace {

/// Both forms of the shell tool under one policy, so that they can be compared.
struct Fixture {
  explicit Fixture(const std::vector<ToolRule>& rules = {}, const char* preset = "strict") {
    policy = load_policy(preset);
    policy.tools.insert(policy.tools.begin(), rules.begin(), rules.end());
    policy.commands.push_back({.effect = Effect::forbid, .prefix = {{"sudo"}}});
    engine = std::make_unique<Engine>(policy, policy.approval, "/w", "/out",
                                      std::vector<std::filesystem::path>{"/usr/bin", "/bin"});
    const auto make = [this] {
      return std::make_unique<Shell>(ShellParts{launcher, files, redactor},
                                     ShellOptions{.workspace = "/w"});
    };
    std::vector<std::unique_ptr<Tool>> made;
    made.push_back(make());
    made.push_back(std::make_unique<LocalShell>(make()));
    made.push_back(std::make_unique<WebSearch>());
    tools = std::make_unique<ToolRunner>(std::move(made), *engine, events, redactor, clock);
  }
  CallRecord call(const std::string& name, const std::string& arguments) {
    return test::run_call(
        *tools, events,
        {"id", name, arguments, name == "local_shell" ? Form::local_shell : Form::function});
  }
  /// What was decided last, without the tool's name.
  std::string decision() const {
    Json data = events.data_of("approval").back();
    std::erase_if(data.members(), [](const auto& member) { return member.first == "tool"; });
    std::string text = write_json(data);
    for (auto at = text.find("local_shell"); at != std::string::npos; at = text.find("local_shell"))
      text.erase(at, 6);
    return text;
  }

  MemoryFiles files;
  FakeLauncher launcher;
  Redactor redactor;
  test::EventList events;
  test::FakeClock clock;
  Policy policy;
  std::unique_ptr<Engine> engine;
  std::unique_ptr<ToolRunner> tools;
};

std::vector<std::string> shown(const Fixture& fixture) {
  std::vector<std::string> names;
  for (const auto& spec : fixture.tools->specs()) names.push_back(spec.name);
  return names;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(local_shell)

BOOST_AUTO_TEST_CASE(it_is_decided_on_exactly_as_the_shell_tool) {
  const char* calls[] = {
      R"({"command":["ls","-la"]})",
      R"({"command":["curl","http://example.org"]})",
      R"({"command":["sudo","ls"]})",
      R"({"command":["bash","-c","ls && rm -rf x"]})",
      R"({"command":["bash","-c","cat a | wc -l"]})",
      R"({"command":["cat","/etc/shadow"]})",
      R"({"command":["ls"],"timeout_ms":5})",
      R"({"command":["git","status"],"with_escalated_permissions":true})",
  };
  for (const char* preset : {"strict", "review", "auto"}) {
    for (const char* arguments : calls) {
      BOOST_TEST_CONTEXT(preset << " " << arguments) {
        Fixture fixture({}, preset);
        const CallRecord by_shell = fixture.call("shell", arguments);
        const std::string decided = fixture.decision();
        const CallRecord by_local = fixture.call("local_shell", arguments);

        BOOST_TEST(fixture.decision() == decided);
        BOOST_TEST(by_local.record.verdict == by_shell.record.verdict);
        BOOST_TEST((by_local.verdict == by_shell.verdict));
        BOOST_TEST(by_local.output.success == by_shell.output.success);
        BOOST_TEST((by_local.output.form == Form::local_shell));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(rules_on_the_shell_tool_hold_for_it) {
  const ToolRule no_shell{.effect = Effect::deny, .names = {"shell"}};
  const ToolRule no_local{.effect = Effect::deny, .names = {"local_shell"}};

  BOOST_TEST((shown(Fixture()) == std::vector<std::string>{"shell", "local_shell"}));
  BOOST_TEST((shown(Fixture({no_shell})).empty()));
  BOOST_TEST((shown(Fixture({no_local})) == std::vector<std::string>{"shell"}));
  Fixture fixture({no_shell});
  BOOST_TEST(test::is_denied(fixture.call("local_shell", R"({"command":["ls"]})")));
  BOOST_TEST(fixture.launcher.started.empty());
}

BOOST_AUTO_TEST_CASE(web_search_is_shown_where_a_rule_allows_it_and_never_run) {
  BOOST_TEST((shown(Fixture()) == std::vector<std::string>{"shell", "local_shell"}));
  Fixture fixture({{.effect = Effect::allow, .names = {"web_search"}}});
  BOOST_TEST(shown(fixture).size() == 3u);

  const CallRecord result = fixture.call("web_search", R"({"query":"x"})");

  BOOST_TEST(!result.output.success);
  BOOST_TEST(result.output.text.find("run by the provider") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()
