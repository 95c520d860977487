#include <boost/test/unit_test.hpp>

#include "tests/tools/runner_bench.h"

using namespace sortie;
using namespace sortie::test;
using Types = std::vector<std::string>;

BOOST_AUTO_TEST_SUITE(path_watch)

namespace {

/// Another program's.
class OfAServer : public Tool {
 public:
  OfAServer() {
    spec_.name = "mcp__docs__search";
    spec_.parameters = parse_json(R"({"type":"object","properties":{}})");
  }
  std::vector<Action> actions(const Json&) const override { return {}; }
  Json origin() const override { return Json::object({{"server", "docs"}}); }
  ToolResult run(const Json&, std::stop_token) override { throw Error("was run"); }
};

struct Watching : RunnerBench {
  Watching() : RunnerBench({.paths = {.protected_changes = [] { return Types{".git/config"}; }}}) {}
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(a_changed_protected_path_ends_the_run, Watching) {
  const auto result = call("shell", R"({"command":["ls"]})");

  BOOST_TEST((result.verdict == CallVerdict::protected_path_changed));
  BOOST_TEST(result.reason == "a command changed protected paths: .git/config");
}

BOOST_FIXTURE_TEST_CASE(what_has_wider_rights_does_not_start_over_a_changed_protected_path,
                        RunnerBench) {
  CommandRule rule{.effect = Effect::allow, .prefix = {{"ls"}}, .escalate = true};
  rule.sandbox.network = NetworkMode::full;
  policy.escalation = true;
  policy.commands = {rule};
  const Engine escalating(policy, Approval::full_auto, "/w", "/out", {"/bin"});
  std::vector<std::unique_ptr<Tool>> made;
  made.push_back(
      std::make_unique<Shell>(ShellParts{launcher, files, redactor, nullptr, &escalating},
                              ShellOptions{.workspace = "/w"}));
  made.push_back(std::make_unique<OfAServer>());
  ToolRunner runner(std::move(made), escalating, events, redactor, clock,
                    {.paths = {.protected_changes = [] { return Types{".git/config"}; }}});
  const ToolCall calls[] = {
      {"1", "shell", R"({"command":["ls"],"with_escalated_permissions":true})"},
      {"2", "mcp__docs__search", "{}"},
  };
  for (const ToolCall& one : calls) {
    BOOST_TEST_CONTEXT(one.name) {
      const auto result = run_call(runner, events, one);

      BOOST_TEST((result.verdict == CallVerdict::protected_path_changed));
      BOOST_TEST(result.reason == "a command changed protected paths: .git/config");
      BOOST_TEST(result.output.text == "Not run: a command changed protected paths: .git/config");
    }
  }
  BOOST_TEST(launcher.started.empty());
}

BOOST_AUTO_TEST_CASE(names_in_lists_of_paths_are_quoted_as_git_quotes_them) {
  const Types odd{"a b",
                  "new\nline",
                  "tab\t",
                  "gr\xc3\xbc\xc3\x9f"
                  "e",
                  "\"",
                  "\x1b[31m"};
  const std::string shown =
      "a b, \"new\\nline\", \"tab\\t\", gr\xc3\xbc\xc3\x9f"
      "e, \"\\\"\", \"\\033[31m\"";
  const auto names = [&] { return odd; };
  RunnerBench bench({.paths = {.protected_changes = names,
                               .touched_paths = names,
                               .files_at_limit = names,
                               .made_paths = names,
                               .led_elsewhere = names}});
  const auto result = bench.call("shell", R"({"command":["ls"]})");

  BOOST_TEST(result.reason == "a command changed protected paths: " + shown);
  for (const char* words :
       {"nothing may create them: ", "than at the start: ", "(limits.file_size): "})
    BOOST_TEST(result.output.text.find(words + shown) != std::string::npos, result.output.text);
}

BOOST_AUTO_TEST_CASE(very_many_names_are_counted) {
  RunnerBench bench({.paths = {.protected_changes = [] {
                       Types paths;
                       for (int i = 0; i < 1000; ++i) paths.push_back("d" + std::to_string(i));
                       return paths;
                     }}});
  BOOST_TEST(bench.call("shell", R"({"command":["ls"]})").reason.ends_with(", d49 and 950 more"));
}

BOOST_AUTO_TEST_SUITE_END()
