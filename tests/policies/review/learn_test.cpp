#include "policies/review/learn.h"

#include <boost/test/unit_test.hpp>

#include "policies/file/policy_loader.h"

using namespace sortie;

namespace {

constexpr const char* kWorkspace = "/w";

RecordedCall call(std::vector<std::string> argv) {
  return {.turn = 1,
          .tool = "shell",
          .actions = {CallTool{"shell"}, RunCommand{std::move(argv), kWorkspace}},
          .effect = Effect::allow,
          .rule = {},
          .reason = "full-auto",
          .audited = false,
          .refused = false};
}

RecordedCall refused(std::vector<std::string> argv) {
  RecordedCall one = call(std::move(argv));
  one.effect = Effect::deny;
  one.reason = "publishing is another job's work";
  one.refused = true;
  return one;
}

RecordedRun run_of(std::vector<RecordedCall> calls) {
  return {.name = "out", .workspace = kWorkspace, .out = "/out", .task = {}, .calls = calls};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(learn)

BOOST_AUTO_TEST_CASE(rules_are_as_small_as_they_can_be_and_in_a_fixed_order) {
  RecordedCall tool = call({"ls"});
  tool.tool = "mcp:x/y";
  tool.actions = {CallTool{"mcp:x/y"}};
  RecordedCall path = call({"ls"});
  path.actions = {CallTool{"apply_patch"}, WritePath{"/data/x"}};
  const std::vector<RecordedCall> calls = {
      call({"cargo", "test", "-q"}),
      call({"cargo", "build"}),
      call({"cargo", "test"}),
      call({"bash", "-c", "ls && npm run build | tail -n 3; npm run lint"}),
      call({"rm", "a"}),
      call({"pytest", "-q", "tests"}),
      call({"tool", "x: y", "null"}),
      call({"ls"}),
      tool,
      path,
      refused({"git", "push"}),
      call({"sudo", "ls"}),
      call({"python3", "-c", "print(1)"}),
      call({"bash", "-c", "ls $x"}),
  };
  const std::string text = learned_policy({run_of(calls), run_of({call({"cargo", "test"})})});

  const auto body = text.substr(text.find("version: 1"));
  BOOST_TEST(body.substr(0, body.find("# Not learned")) ==
             "version: 1\nname: learned\nextends: strict\ncommands:\n"
             "  - allow: [pytest]\n    why: 1 call in 1 run\n"
             "    examples: {match: [[pytest, -q, tests]]}\n"
             "  - allow: [cargo, [build, test]]\n    why: 4 calls in 2 runs\n"
             "    examples: {match: [[cargo, build], [cargo, test], [cargo, test, -q]]}\n"
             "  - allow: [npm, run, [build, lint]]\n    why: 2 calls in 1 run\n"
             "    examples: {match: [[npm, run, build], [npm, run, lint]]}\n"
             "  - allow: [rm, a]\n    why: 1 call in 1 run\n    examples: {match: [[rm, a]]}\n"
             "  - allow: [tool, \"x: y\", \"null\"]\n    why: 1 call in 1 run\n"
             "    examples: {match: [[tool, \"x: y\", \"null\"]]}\n"
             "tools:\n  - allow: [\"mcp:x/y\"]\n    why: 1 call in 1 run\n"
             "paths:\n  write:\n    - \".\"\n    - /data/x  # 1 call in 1 run\n");
  for (const char* line : {"#   git push: publishing is another job's work\n",
                           "#   sudo ls: ", "#   python3 -c print(1): ", "#   bash -c ls $x: "})
    BOOST_TEST(text.find(line) != std::string::npos, line << " in " << text);

  std::vector<RecordedCall> reversed(calls.rbegin(), calls.rend());
  BOOST_TEST(learned_policy({run_of(reversed), run_of({call({"cargo", "test"})})}) == text);

  // It loads with its examples, and what was learned is allowed by it.
  const Policy learned = parse_policy(text, "learned.yaml", "/");
  const std::vector<RecordedRun> runs = {
      run_of(std::vector<RecordedCall>(calls.begin(), calls.begin() + 10))};
  BOOST_TEST(backtest(learned, runs).newly_denied == 0, backtest(learned, runs).text());
}

BOOST_AUTO_TEST_CASE(hosts_that_the_list_lacked_are_learned_and_others_told) {
  RecordedRun run = run_of({call({"ls"})});
  const DeniedConnection npm{
      .place = "registry.example:443", .entry = "registry.example:443", .reason = "not listed"};
  run.denied_connections = {
      npm, npm, {.place = "10.0.0.1:443", .entry = "", .reason = "a private address"}};

  const std::string text = learned_policy({run, run});

  BOOST_TEST(
      text.find("\nnetwork:\n  mode: allow-list\n  allow:\n    - \"registry.example:443\"  # 4 "
                "connections in 2 runs\n") != text.npos,
      text);
  BOOST_TEST(
      text.find("#   a connection to 10.0.0.1:443: a private address (2 times)\n") != text.npos,
      text);
  const Policy learned = parse_policy(text, "learned.yaml", "/");
  BOOST_TEST((learned.network == NetworkMode::allow_list));
  BOOST_TEST((learned.network_allow == std::vector<std::string>{"registry.example:443"}));
}

BOOST_AUTO_TEST_CASE(nothing_to_learn_is_a_policy_too) {
  const Policy learned = parse_policy(learned_policy({run_of({call({"ls"})})}), "p.yaml", "/");
  BOOST_TEST(learned.name == "learned");
}

BOOST_AUTO_TEST_CASE(a_backtest_tells_what_would_change) {
  RecordedCall denied = call({"cargo", "test"});
  denied.effect = Effect::deny;
  const std::vector<RecordedRun> runs = {
      run_of({call({"ls"}), call({"rm", "x"}), denied, refused({"mkfs", "x"})})};
  const Policy policy = parse_policy(
      "version: 1\nextends: strict\ncommands:\n  - allow: [cargo, test]\n  - forbid: [mkfs]\n",
      "p.yaml", "/");

  const Backtest result = backtest(policy, runs);

  BOOST_TEST(result.calls == 4);
  BOOST_TEST(result.newly_allowed == 1);
  BOOST_TEST(result.newly_denied == 1);
  BOOST_TEST(result.otherwise == 1);
  const std::string text = result.text();
  for (const char* part :
       {"out: turn 1: shell rm x\n  then: allow, no rule: full-auto\n  now:  deny, no rule: ",
        "  now:  allow, p.yaml:4: allow: [cargo, test]", "  now:  forbid, p.yaml:5: forbid: [mkfs]",
        "4 calls in 1 run: 1 as before, 1 newly allowed, 1 newly denied, 1 denied otherwise\n"})
    BOOST_TEST(text.find(part) != std::string::npos, part << " in " << text);
  Policy asking = policy;
  asking.approver = PolicyApprover{.command = {"./x"}, .folder = "/"};
  BOOST_TEST(backtest(asking, runs).newly_denied == 0);
  BOOST_TEST(backtest(asking, runs).newly_asked == 1);
}

BOOST_AUTO_TEST_SUITE_END()
