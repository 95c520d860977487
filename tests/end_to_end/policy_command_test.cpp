#include <boost/test/unit_test.hpp>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

ProgramStart start_policy(const RunFolder& folder, std::vector<std::string> arguments) {
  ProgramStart start;
  start.argv = {sortie_binary(), "policy"};
  start.argv.insert(start.argv.end(), arguments.begin(), arguments.end());
  start.folder = folder.workspace();
  return start;
}

ProgramEnd policy(const RunFolder& folder, std::vector<std::string> arguments,
                  const std::string& input = {}) {
  ProgramStart start = start_policy(folder, std::move(arguments));
  start.input = input;
  return run_program(start);
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr const char* kPolicy =
    "version: 1\nextends: strict\n"
    "commands:\n"
    "  - allow: [cargo, [build, test]]\n"
    "    why: building is the job\n"
    "    examples: {match: [[cargo, test, -q]], not_match: [[cargo, install]]}\n"
    "  - deny: [git, push]\n"
    "    examples: {match: [[env, git, push]]}\n"
    "  - allow: {script: ./scripts/*.sh}\n";

}  // namespace

BOOST_AUTO_TEST_SUITE(policy_command)

BOOST_AUTO_TEST_CASE(check_decides_one_command_and_explains_it) {
  const RunFolder folder;
  folder.write("p.yaml", kPolicy);
  const std::string file = folder.path("p.yaml").string();
  const struct {
    std::vector<std::string> command;
    int status;
    std::vector<std::string> says;
  } rows[] = {
      {{"cargo", "test"},
       0,
       {"allow: cargo test", "p.yaml:4: allow: [cargo", "building is the job"}},
      {{"git", "push"}, 3, {"deny: git push", "p.yaml:7: deny: [git, push]"}},
      {{"git", "status"}, 0, {"strict:"}},
      {{"./scripts/not-there.sh", "x"}, 0, {"p.yaml:9: "}},  // by words alone
      {{"rm", "x"},
       3,
       {"rule: none matched", "to allow it: put into ", "p.yaml: commands: [{allow: "}},
      {{"git status | head"}, 3, {"deny: ", "hint: ", "bash -c"}},
      {{""}, 3, {"deny: "}},
  };
  for (const auto& row : rows) {
    std::vector<std::string> arguments = {"check", file, "--"};
    arguments.insert(arguments.end(), row.command.begin(), row.command.end());
    const ProgramEnd end = policy(folder, arguments);
    BOOST_TEST(end.status == row.status, row.command[0] << end.output << end.errors);
    for (const auto& text : row.says) BOOST_TEST(holds(end.output, text), end.output);
  }
}

BOOST_AUTO_TEST_CASE(a_host_that_is_none_is_the_same_finding_to_each_command) {
  const RunFolder folder;
  folder.write("task.yaml", "version: 1\nprompt: x\n");
  folder.write("p.yaml",
               "version: 1\nnetwork: {mode: allow-list, allow: ['[::ffff:127.0.0.1]:8080']}\n");
  const std::string file = folder.path("p.yaml").string();
  const std::vector<std::vector<std::string>> commands = {
      {"policy", "check", file},
      {"run", folder.path("task.yaml").string(), "--policy", file},
      {"sandbox", "--policy", file, "--", "true"}};
  for (const auto& command : commands) {
    ProgramStart start;
    start.argv = {sortie_binary()};
    start.argv.insert(start.argv.end(), command.begin(), command.end());
    start.folder = folder.workspace();
    const ProgramEnd end = run_program(start);
    BOOST_TEST(end.status == 2, end.errors);
    BOOST_TEST(end.errors.starts_with(
                   file + ":2:37: error: 'allow': expected a host such as api.example.com, with a "
                          "port if need be, got '[::ffff:127.0.0.1]:8080': an IPv4 address must "
                          "be written in IPv4 form\n"),
               end.errors);
  }
}

BOOST_AUTO_TEST_CASE(check_validates_and_warns_of_what_was_hardly_meant) {
  const RunFolder folder;
  folder.write("p.yaml",
               "version: 1\nextends: strict\ncommands:\n"
               "  - allow: [git, push, [origin, fork]]\n"
               "  - deny: [git, push]\n"
               "  - allow: [[bash, python3]]\n"
               "  - allow: [./run.sh]\n"
               "  - {allow: [git, fetch], escalate: true, sandbox: {network: full}}\n"
               "  - allow: [env, FOO=1, make]\n"
               "network: {mode: allow-list, allow: ['*', a.b]}\n");
  const std::string file = folder.path("p.yaml").string();

  const ProgramEnd end = policy(folder, {"check", file});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output.starts_with(file + ": valid, sha256:"), end.output);
  const std::string warning = file + ":";
  BOOST_TEST(end.errors ==
             file + ":4: warning: can never match: " + file +
                 ":5 (deny: [git, push]) denies all that it allows\n" + file +
                 ":6: warning: allows all that bash can run: name its arguments too\n" + file +
                 ":6: warning: allows all that python3 can run: name its arguments "
                 "too\n" +
                 file +
                 ":7: warning: './run.sh' is a path: no command of the workspace is "
                 "allowed by its words; use allow: {script: …}\n" +
                 file + ":8: warning: 'escalate' has no effect: 'escalation' is deny\n" + file +
                 ":10: warning: '*' lets commands reach nearly every host\n");
  folder.write("open.yaml", "version: 1\nextends: auto\nnetwork: {mode: full}\n");
  const ProgramEnd open = policy(folder, {"check", folder.path("open.yaml").string()});
  BOOST_TEST(holds(open.errors, "open.yaml:3: warning: the network is open"), open.errors);
  folder.write("none.yaml", "version: 1\nextends: strict\nsandbox: {mode: none}\n");
  const ProgramEnd none = policy(folder, {"check", folder.path("none.yaml").string()});
  BOOST_TEST(holds(none.errors, "none.yaml:3: warning: without a sandbox nothing of"), none.errors);
  for (const char* preset :
       {"strict", "review", "auto", "edit", "python", "node", "rust", "go", "jvm", "cpp"})
    BOOST_TEST(policy(folder, {"check", preset}).errors == "", preset);
  folder.write("bad.yaml", "version: 1\ncommands: [{allow: [a], examples: {match: [[b]]}}]\n");
  const ProgramEnd bad = policy(folder, {"check", folder.path("bad.yaml").string(), "--", "a"});
  BOOST_TEST(bad.status == 2);
  BOOST_TEST(holds(bad.errors, "bad.yaml:2:44: error: the example '[b]' should match"), bad.errors);
}

BOOST_AUTO_TEST_CASE(test_runs_the_examples_of_what_is_extended_too) {
  const RunFolder folder;
  folder.write("base.yaml", kPolicy);
  folder.write("top.yaml",
               "version: 1\nextends: base.yaml\ncommands:\n"
               "  - allow: [npm, test]\n"
               "    examples: {match: [[npm, test], [npm, install]]}\n");

  const ProgramEnd end = policy(folder, {"test", folder.path("top.yaml").string()});

  const std::string base = folder.path("base.yaml").string();
  const std::string top = folder.path("top.yaml").string();
  BOOST_TEST(end.status == 2, end.errors);
  BOOST_TEST(end.output ==
             base + ":6:24: ok: match '[cargo, test, -q]' of allow: [cargo, [build, test]]\n" +
                 base +
                 ":6:56: ok: not_match '[cargo, install]' of allow: [cargo, [build, test]]\n" +
                 base + ":8:24: ok: match '[env, git, push]' of deny: [git, push]\n" + top +
                 ":5:24: ok: match '[npm, test]' of allow: [npm, test]\n" + top +
                 ":5:37: FAILED: match '[npm, install]' of allow: [npm, test]: the rule does not "
                 "match it: word 2 is 'install', not 'test'\n4 passed, 1 failed\n");
  const ProgramEnd good = policy(folder, {"test", base});
  BOOST_TEST(good.status == 0);
  BOOST_TEST(good.output.ends_with("3 passed, 0 failed\n"), good.output);
  BOOST_TEST(policy(folder, {"test", "none.yaml"}).status == 2);
}

BOOST_AUTO_TEST_CASE(batch_answers_each_line_with_one_word) {
  const RunFolder folder;
  folder.write("p.yaml", kPolicy);
  const std::string file = folder.path("p.yaml").string();
  const std::vector<std::pair<std::string, const char*>> lines = {
      {R"(["git","status"])", "allow"},
      {R"( [ "ls" , "-l" ] )", "allow"},
      {"[\"ls\"]\r", "allow"},
      {R"(["./scripts/a.sh"])", "allow"},
      {R"(["cargo","test"])", "allow"},
      {R"(["cargo","install"])", "deny"},
      {R"(["git","push"])", "deny"},
      {"", "deny"},
      {" ", "deny"},
      {"[]", "deny"},
      {R"([""])", "deny"},
      {"null", "deny"},
      {R"("ls")", "deny"},
      {R"({"argv":["ls"]})", "deny"},
      {R"(["ls",1])", "deny"},
      {R"(["ls",["-l"]])", "deny"},
      {R"(["ls"] ["ls"])", "deny"},
      {R"(["ls")", "deny"},
      {R"(['ls'])", "deny"},
      {R"(["ls\u0000"])", "deny"},
      {R"(["ls","a\u0000b"])", "deny"},
      {"[\"ls\",\"\xff\"]", "deny"},
      {std::string("[\"ls\",\"a\0b\"]", 12), "deny"},
      {R"(["ls","\ud800"])", "deny"},
      {std::string("[\"ls\"]\0[\"rm\"]", 13), "deny"},
      {"[\"ls\",\"" + std::string(3u << 20, 'a') + "\"]", "allow"},
      {"[\"ls\",\"" + std::string(9u << 20, 'a') + "\"]", "deny"},
      {std::string(20'000, '['), "deny"},
      {R"(["ls"])", "allow"},
  };
  std::string input;
  std::string expected;
  for (const auto& [line, answer] : lines) {
    input += (input.empty() ? "" : "\n") + line;  // the last one has no newline
    expected += std::string(answer) + "\n";
  }

  const ProgramEnd end = policy(folder, {"check", file, "--batch"}, input);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(end.output == expected);
  BOOST_TEST(end.errors == "");
  BOOST_TEST(policy(folder, {"check", file, "--batch"}).output == "");
  BOOST_TEST(policy(folder, {"check", file, "--batch"}, "\n").output == "deny\n");
  BOOST_TEST(policy(folder, {"check", file, "--batch", "--", "ls"}).status == 2);
}

BOOST_AUTO_TEST_CASE(batch_ends_in_silence_when_nobody_reads_its_answers) {
  const RunFolder folder;
  ProgramStart start = start_policy(folder, {"check", "strict", "--batch"});
  start.close_output = true;
  for (int i = 0; i < 1000; ++i) start.input += "[\"ls\"]\n";

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 0);
  BOOST_TEST(end.errors == "");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(rules_in_a_run)

BOOST_AUTO_TEST_CASE(a_script_runs_only_as_it_was_at_the_start) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      for (const char* name : {"a.sh", "b.sh"}) {
        const std::string path = std::string("work/scripts/") + name;
        folder.write(path, "#!/bin/sh\necho ran-$0\n");
        std::filesystem::permissions(folder.path(path), std::filesystem::perms(0755));
      }
      folder.write("work/scripts/plain.sh", "echo not executable\n");
      std::filesystem::create_symlink("../tool", folder.path("work/scripts/link.sh"));
      folder.write("work/tool", "#!/bin/sh\necho linked\n");
      std::filesystem::permissions(folder.path("work/tool"), std::filesystem::perms(0755));
      folder.commit_workspace();
      folder.write("policy.yaml",
                   "version: 1\nextends: strict\ncommands: [allow: {script: ./scripts/*.sh}]\n");
      CassetteWriter cassette;
      cassette.shell({"./scripts/a.sh"}).next();
      cassette
          .patch(
              "*** Begin Patch\n*** Update File: scripts/a.sh\n@@\n-echo ran-$0\n+echo "
              "changed\n*** Add File: scripts/new.sh\n+echo new\n*** End Patch\n")
          .next();
      for (const char* script : {"./scripts/a.sh", "./scripts/new.sh", "./scripts/b.sh",
                                 "./scripts/link.sh", "./scripts/plain.sh", "./tool"})
        cassette.shell({script}).next();
      folder.write_task(cassette.message("done"), "policy: policy.yaml\n");

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(holds(folder.output(0), "ran-./scripts/a.sh"), folder.output(0));
      BOOST_TEST(holds(folder.output(2), "scripts/a.sh was changed in this run"), folder.output(2));
      BOOST_TEST(holds(folder.output(3), "scripts/new.sh was made in this run"), folder.output(3));
      BOOST_TEST(holds(folder.output(4), "ran-./scripts/b.sh"), folder.output(4));
      BOOST_TEST(holds(folder.output(5), "a link leads to tool"), folder.output(5));
      BOOST_TEST(holds(folder.output(6), "is not executable"), folder.output(6));
      BOOST_TEST(holds(folder.output(7), "a path that no script rule matches"), folder.output(7));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_rule_escalates_its_own_command_and_no_other) {
  for (const auto& caller : all_callers()) {
    BOOST_TEST_CONTEXT(caller.name) {
      const RunFolder folder;
      folder.write("work/a.txt", "a\n");
      folder.commit_workspace();
      folder.write("policy.yaml",
                   "version: 1\nextends: review\nescalation: rules\ncommands:\n"
                   "  - allow: [touch]\n    escalate: true\n    sandbox: {mode: workspace-write}\n"
                   "  - allow: [cp]\n");
      CassetteWriter cassette;
      const auto call = [&](const char* arguments) {
        cassette.call("shell", parse_json(arguments)).next();
      };
      call(R"({"command":["touch","plain.txt"]})");
      call(R"({"command":["touch","new.txt"],"with_escalated_permissions":true})");
      call(R"({"command":["cp","a.txt","b.txt"],"with_escalated_permissions":true})");
      folder.write_task(cassette.message("done"), "policy: policy.yaml\nexpect: {changes: any}\n");

      const ProgramEnd end = folder.run_as(caller);

      BOOST_TEST(end.status == 0, end.errors);
      const auto outputs = folder.records("tool.output");
      BOOST_REQUIRE(outputs.size() == 3u);
      const auto shown = [&outputs](std::size_t i) { return outputs[i].string_at("shown"); };
      BOOST_TEST(holds(shown(0), "Exit code: 1"), shown(0));
      BOOST_TEST(holds(shown(1), "Exit code: 0"), shown(1));
      BOOST_TEST(holds(shown(1), "escalated by a rule: may write"), shown(1));
      BOOST_TEST(holds(shown(2), "Exit code: 1"), shown(2));
      BOOST_TEST(holds(shown(2), "with_escalated_permissions had no effect"), shown(2));
      const auto approvals = folder.records("approval");
      BOOST_REQUIRE(approvals.size() == 3u);
      BOOST_TEST(approvals[0].find("escalation") == nullptr);
      BOOST_REQUIRE(approvals[1].find("escalation") != nullptr);
      BOOST_TEST(approvals[1]["escalation"]["writes"].boolean());
      BOOST_TEST(!approvals[1]["escalation"]["network"].boolean());
      BOOST_TEST(approvals[1]["escalation"]["rules"].items().at(0).integer_at("line") == 5);
      BOOST_TEST(approvals[2].find("escalation") == nullptr);
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_beyond_the_bounds_starts_nothing) {
  const struct {
    const char* task;
    const char* policy;
    std::vector<std::string> flags;
    std::vector<std::string> says;
  } rows[] = {
      {"vars: {x: {env: MY_TOKEN, default: d}}\n",
       "bounds: {vars_env: ['*']}\n",
       {},
       {"task.yaml:", "MY_TOKEN never goes into a prompt"}},
      {"vars: {x: {env: HOME, default: d}}\n", "", {}, {"HOME is beyond", "bounds.vars_env"}},
      {"budget: {time: 2h}\n",
       "bounds: {budget: {time: 1h}}\n",
       {},
       {"task.yaml:", "a time of 2h", "policy.yaml:3: bounds.budget.time is 1h"}},
      {"",
       "bounds: {budget: {time: 1h}}\n",
       {"--timeout", "90m"},
       {"--timeout 90m: a time of 90m"}},
      {"",
       "environment: {include: [MY_TOKEN]}\nnetwork: {mode: full}\n",
       {},
       {"may have two of untrusted input", "MY_TOKEN (environment.include)",
        "trust.allow_all_three"}},
      {"",
       "approval: full-auto\n",
       {"--approval", "audit"},
       {"--approval audit is looser than the policy's full-auto"}},
      {"", "", {"--approval", "full-auto"}, {"looser than the policy's deny-by-default"}},
      {"", "", {"--approval", "audt"}, {"did you mean 'audit'"}},
  };
  for (const auto& row : rows) {
    const RunFolder folder;
    folder.write("policy.yaml", std::string("version: 1\nextends: strict\n") + row.policy);
    folder.write_task(CassetteWriter().message("done"),
                      std::string("policy: policy.yaml\nexpect: {changes: any}\n") + row.task);
    ProgramStart start = folder.start(row.flags);
    start.environment["MY_TOKEN"] = "s3cr3t-value";

    const ProgramEnd end = run_program(start);

    BOOST_TEST(end.status == 2, row.task << row.policy << end.errors);
    for (const auto& text : row.says) BOOST_TEST(holds(end.errors, text), end.errors);
    BOOST_TEST(!holds(end.errors, "s3cr3t"), end.errors);
    BOOST_TEST(!std::filesystem::exists(folder.out()));
  }
}

BOOST_AUTO_TEST_CASE(who_takes_the_risk_of_all_three_is_told_loudly) {
  const RunFolder folder;
  folder.write("policy.yaml",
               "version: 1\nextends: auto\nenvironment: {include: [MY_TOKEN]}\n"
               "network: {mode: full}\ntrust: {allow_all_three: true}\n");
  folder.write_task(CassetteWriter().message("done"),
                    "policy: policy.yaml\nexpect: {changes: any}\n");
  ProgramStart start = folder.start();
  start.environment["MY_TOKEN"] = "s3cr3t-value";

  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(holds(end.errors, "warning: network: OPEN"), end.errors);
  BOOST_TEST(!folder.result()["guarantees"]["network"]["proved"].boolean(true));
  BOOST_TEST(holds(end.errors, "warning: ALL THREE of untrusted input, secrets and open network"),
             end.errors);
  const auto started = folder.records("run.started");
  BOOST_REQUIRE(started.size() == 1u);
  BOOST_REQUIRE(started[0]["warnings"].is_array());
  BOOST_TEST(holds(started[0]["warnings"].items().at(0).text(), "ALL THREE"));
  BOOST_TEST(!holds(read_file(folder.out() / "transcript.jsonl"), "s3cr3t-value"));
}

BOOST_AUTO_TEST_SUITE_END()
