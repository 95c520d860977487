#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <csignal>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

using Argv = std::vector<std::string>;

CassetteWriter cassette_of(const std::vector<Argv>& commands) {
  CassetteWriter cassette;
  for (const auto& argv : commands) cassette.shell(argv).next();
  cassette.message("done");
  return cassette;
}

void write_approver(const RunFolder& folder, const std::string& body) {
  folder.write("approve.sh", "#!/bin/sh\n" + body + "\n");
  ::chmod(folder.path("approve.sh").c_str(), 0755);
}

/// A run of these commands under strict with an approver.
ProgramEnd run_with_approver(const RunFolder& folder, const std::string& script,
                             const std::vector<Argv>& commands, const std::string& more = {}) {
  folder.write("work/a.txt", "text\n");
  write_approver(folder, script);
  folder.write("policy.yaml",
               "version: 1\nextends: strict\napprover: {command: [./approve.sh]" + more + "}\n");
  folder.write_task(cassette_of(commands), "policy: policy.yaml\nexpect: {changes: any}\n");
  return folder.run();
}

ProgramEnd run_sortie(const RunFolder& folder, const std::vector<std::string>& words) {
  ProgramStart start;
  start.argv = {sortie_binary()};
  start.argv.insert(start.argv.end(), words.begin(), words.end());
  start.folder = folder.path(".");
  return run_program(start);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(approval)

BOOST_AUTO_TEST_CASE(a_denied_call_leaves_its_records_and_a_line_with_which_the_model_goes_on) {
  const RunFolder folder;
  folder.write("work/a.txt", "text\n");
  folder.write_task(cassette_of({{"touch", "b.txt"}, {"touch", "b.txt"}, {"cat", "a.txt"}}),
                    "policy: strict\nexpect: {changes: any}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  const auto outputs = folder.records("tool.output");
  BOOST_REQUIRE(outputs.size() == 3u);
  BOOST_TEST(outputs[0].string_at("status") == "declined");
  BOOST_TEST(outputs[0].string_at("reason") == "no rule allows touch");
  BOOST_TEST(outputs[2].string_at("status") == "completed");
  const std::string line = folder.output(0);
  BOOST_TEST(line.starts_with("Denied: touch b.txt: no rule allows touch"), line);
  BOOST_TEST(line.find("Instead: ") != std::string::npos);
  BOOST_TEST(line.find('\n') == std::string::npos);
  BOOST_TEST(folder.output(2).find("text") != std::string::npos);
  const Json denials = folder.result()["denials"];
  BOOST_REQUIRE(denials.items().size() == 1u);
  BOOST_TEST(denials.items()[0].integer_at("count") == 2);
  BOOST_TEST(denials.items()[0].string_at("would_allow_yaml") == "commands: [{allow: [touch]}]");
  // The line does what it says.
  folder.write("policy.yaml", "version: 1\nextends: strict\n" +
                                  denials.items()[0].string_at("would_allow_yaml") + "\n");
  const ProgramEnd allowed = folder.run({"--policy", folder.path("policy.yaml").string()});
  BOOST_TEST(allowed.status == 0, allowed.errors);
  BOOST_TEST(folder.result()["denials"].items().empty());
  BOOST_TEST(folder.artifact("changes.diff").find("b.txt") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(denials_end_the_run_where_the_policy_says_so) {
  const RunFolder folder;
  folder.write_task(cassette_of({{"touch", "b"}, {"ls"}, {"touch", "b"}, {"touch", "c"}}),
                    "expect: {changes: any}\n");
  folder.write("abort.yaml", "version: 1\nextends: strict\non_denied: abort\n");
  folder.write("two.yaml", "version: 1\nextends: strict\nmax_denials: 2\n");

  const ProgramEnd abort = folder.run({"--policy", folder.path("abort.yaml").string()});
  BOOST_TEST(abort.status == 3, abort.errors);
  BOOST_TEST(folder.records("approval").size() == 1u);

  const ProgramEnd two = folder.run({"--policy", folder.path("two.yaml").string()});
  BOOST_TEST(two.status == 3, two.errors);
  BOOST_TEST(folder.records("approval").size() == 4u);
  BOOST_TEST(folder.result().string_at("reason").find("2 calls in a row") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_approver_is_asked_and_its_word_holds) {
  const RunFolder folder;
  // Says always to touch, yes to mkdir once, no to all else; keeps what it was asked.
  const ProgramEnd end = run_with_approver(
      folder,
      "request=$(cat); echo \"$request\" >> asked.jsonl; echo 'looking' >&2\n"
      "case $request in\n"
      "*'\"argv\":[\"touch\"'*) echo '{\"decision\":\"always\",\"reason\":\"files are fine\"}';;\n"
      "*'\"argv\":[\"mkdir\"'*) echo '{\"decision\":\"allow\"}';;\n"
      "*) echo '{\"decision\":\"deny\",\"reason\":\"not that\"}';;\nesac",
      {{"touch", "b"}, {"touch", "c"}, {"mkdir", "d"}, {"rm", "a.txt"}, {"nohup", "ls"}, {"ls"}});

  BOOST_TEST(end.status == 0, end.errors);
  const auto approvals = folder.records("approval");
  BOOST_REQUIRE(approvals.size() == 6u);
  const char* const decisions[] = {"allow", "allow", "allow", "deny", "deny", "allow"};
  const char* const answers[] = {"always", "always", "allow", "deny", "", ""};
  for (std::size_t i = 0; i < approvals.size(); ++i) {
    BOOST_TEST(approvals[i].string_at("decision") == decisions[i]);
    BOOST_TEST(approvals[i]["approver"].string_at("decision") == answers[i]);
  }
  BOOST_TEST(approvals[1]["approver"]["remembered"].boolean());
  BOOST_TEST(approvals[3].string_at("reason") == "the approver denied it: not that");
  BOOST_TEST(folder.output(3).find("the approver denied it: not that") != std::string::npos);
  BOOST_TEST(end.errors.find("approver: looking") != std::string::npos);
  BOOST_TEST(folder.artifact("changes.diff").find("a.txt") == std::string::npos);
  std::size_t asked = 0;
  const std::string requests = read_file(folder.path("asked.jsonl"), 1u << 20);
  for (const char letter : requests) asked += letter == '\n';
  BOOST_TEST(asked == 3u);
}

BOOST_AUTO_TEST_CASE(an_approver_that_fails_denies_and_one_that_aborts_ends_the_run) {
  const struct {
    const char* script;
    int status;
    const char* says;
  } rows[] = {
      {"exit 1", 0, "exit code 1"},
      {"kill -ABRT $$", 0, "signal 6"},
      {"echo sure", 0, "not one JSON object"},
      {"sleep 1000", 0, "no answer within 500 ms"},
      {"(setsid sleep 10 &); echo '{\"decision\":\"deny\",\"reason\":\"no\"}'", 0, "denied it: no"},
      {"echo '{\"decision\":\"abort\",\"reason\":\"enough\"}'", 3, "ended the run: enough"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.script) {
      const RunFolder folder;
      const bool hangs = std::string(row.script) == "sleep 1000";
      const ProgramEnd end =
          run_with_approver(folder, row.script, {{"touch", "b"}}, hangs ? ", timeout: 500ms" : "");
      BOOST_TEST(end.status == row.status, end.errors);
      const Json approval = folder.records("approval").at(0);
      BOOST_TEST(approval.string_at("reason").find(row.says) != std::string::npos,
                 write_json(approval));
      BOOST_TEST(folder.output(0).find(row.says) != std::string::npos);
      BOOST_TEST(folder.records("tool.output").at(0).string_at("status") == "declined");
    }
  }
}

BOOST_AUTO_TEST_CASE(an_interrupted_run_does_not_wait_for_its_approver) {
  const RunFolder folder;
  write_approver(folder, "echo $$ > pid.new; mv pid.new pid; exec sleep 1000");
  folder.write("policy.yaml",
               "version: 1\nextends: strict\napprover: {command: [./approve.sh], timeout: 10m}\n");
  folder.write_task(cassette_of({{"touch", "b"}}), "policy: policy.yaml\n");
  Program program(folder.start());
  BOOST_REQUIRE(wait_until([&] { return std::filesystem::exists(folder.path("pid")); }));

  program.signal(SIGTERM);
  const ProgramEnd end = program.finish(std::chrono::seconds(60));

  BOOST_TEST(end.status == 143, end.errors);
  const int approver = std::stoi(read_file(folder.path("pid"), 100));
  BOOST_TEST(wait_until([&] { return ::kill(approver, 0) != 0; }));
}

BOOST_AUTO_TEST_CASE(the_time_of_the_approver_is_the_runs_time) {
  const RunFolder folder;
  write_approver(folder, "exec sleep 1000");
  folder.write("policy.yaml",
               "version: 1\nextends: strict\napprover: {command: [./approve.sh], timeout: 10m}\n");
  folder.write_task(cassette_of({{"touch", "b"}}), "policy: policy.yaml\n");

  const ProgramEnd end = folder.run({"--timeout", "3s"});

  BOOST_TEST(end.status == 4, end.errors);
}

BOOST_AUTO_TEST_CASE(the_approver_itself_is_out_of_the_models_reach) {
  const RunFolder folder;
  folder.write("work/policy/approve.sh", "#!/bin/sh\necho '{\"decision\":\"deny\"}'\n");
  ::chmod(folder.path("work/policy/approve.sh").c_str(), 0755);
  folder.write("work/policy/policy.yaml",
               "version: 1\nextends: strict\napprover: {command: [./approve.sh]}\n");
  CassetteWriter cassette;
  cassette
      .patch(
          "*** Begin Patch\n*** Update File: policy/approve.sh\n@@\n-#!/bin/sh\n+#!/bin/true\n"
          "*** End Patch\n")
      .next()
      .message("done");
  folder.write_task(cassette, "policy: work/policy/policy.yaml\nexpect: {changes: any}\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(folder.output(0).find("protected") != std::string::npos, folder.output(0));
}

BOOST_AUTO_TEST_CASE(what_an_audit_run_teaches_lets_the_same_run_through_under_deny_by_default) {
  const RunFolder folder;
  folder.write("work/a.txt", "text\n");
  folder.write("audit.yaml",
               "version: 1\nextends: strict\napproval: audit\ncommands:\n  - deny: [mkdir]\n");
  const std::vector<Argv> good = {{"touch", "b.txt"},
                                  {"touch", "c.txt"},
                                  {"cp", "a.txt", "d.txt"},
                                  {"cp", "a.txt", "e.txt"},
                                  {"ls"},
                                  {"rm", "d.txt"}};
  std::vector<Argv> all = good;
  all.push_back({"mkdir", "x"});
  all.push_back({"nohup", "ls"});
  all.push_back({"python3", "-c", "print(1)"});
  folder.write_task(cassette_of(all), "expect: {changes: any}\n");

  const ProgramEnd audit = folder.run({"--policy", folder.path("audit.yaml").string()});

  BOOST_TEST(audit.status == 0, audit.errors);
  const Json result = folder.result();
  BOOST_TEST(result["denials"].items().empty());
  BOOST_TEST(result["counts"].integer_at("audited") == 8);
  BOOST_TEST(result["audited"].items().size() == 8u);
  BOOST_TEST(audit.errors.find("$ touch b.txt (audit: no rule allows touch, ") != std::string::npos,
             audit.errors);

  const ProgramEnd learned = run_sortie(folder, {"policy", "learn", "out"});
  BOOST_TEST(learned.status == 0, learned.errors);
  folder.write("learned.yaml", learned.output);
  const std::string& text = learned.output;
  BOOST_TEST(text.find("- allow: [touch]") != std::string::npos, text);
  BOOST_TEST(text.find("- allow: [cp, a.txt, [d.txt, e.txt]]") != std::string::npos, text);
  BOOST_TEST(text.find("why: 2 calls in 1 run") != std::string::npos, text);
  BOOST_TEST(text.find("#   mkdir x: ") != std::string::npos, text);
  BOOST_TEST(text.find("#   nohup ls: ") != std::string::npos, text);
  BOOST_TEST(text.find("#   python3 -c print(1): ") != std::string::npos, text);
  BOOST_TEST(run_sortie(folder, {"policy", "learn", "out"}).output == text);

  const ProgramEnd tested = run_sortie(folder, {"policy", "backtest", "learned.yaml", "out"});
  BOOST_TEST(tested.status == 1, tested.output);
  BOOST_TEST(tested.output.find("9 calls in 1 run: 6 as before, 0 newly allowed, 3 newly denied") !=
                 std::string::npos,
             tested.output);
  BOOST_TEST(tested.output.find("shell nohup ls\n  then: allow (audit), no rule") !=
             std::string::npos);

  folder.write_task(cassette_of(good), "expect: {changes: any}\n");
  const ProgramEnd strict = folder.run({"--policy", folder.path("learned.yaml").string()});
  BOOST_TEST(strict.status == 0, strict.errors);
  BOOST_TEST(folder.result()["denials"].items().empty());
  BOOST_TEST(folder.result().string_at("approval") == "deny-by-default");
  const ProgramEnd again = run_sortie(folder, {"policy", "backtest", "learned.yaml", "out"});
  BOOST_TEST(again.status == 0, again.output);
}

BOOST_AUTO_TEST_CASE(learn_and_backtest_say_what_is_wrong_with_a_run) {
  const RunFolder folder;
  folder.write_task(cassette_of({{"ls"}}), "expect: {changes: any}\n");
  BOOST_REQUIRE(folder.run().status == 0);
  for (const auto& words :
       {Argv{"policy", "learn", "nowhere"}, Argv{"policy", "backtest", "strict", "nowhere"},
        Argv{"policy", "backtest", "nowhere.yaml", "out"}}) {
    const ProgramEnd end = run_sortie(folder, words);
    BOOST_TEST(end.status == 2, end.errors);
    BOOST_TEST(end.output.empty());
  }
  std::string transcript = folder.artifact("transcript.jsonl");
  transcript.replace(transcript.find("\"ls\""), 4, "\"rm\"");
  folder.write("out/transcript.jsonl", transcript);
  for (const auto& words :
       {Argv{"policy", "learn", "out"}, Argv{"policy", "backtest", "strict", "out"}}) {
    const ProgramEnd end = run_sortie(folder, words);
    BOOST_TEST(end.status == 8, end.errors);
    BOOST_TEST(end.errors.find("transcript.jsonl:") != std::string::npos, end.errors);
  }
}

BOOST_AUTO_TEST_CASE(audit_needs_a_sandbox) {
  const RunFolder folder;
  folder.write("policy.yaml",
               "version: 1\nextends: strict\napproval: audit\nsandbox: {mode: none, guarantee: "
               "[]}\n");
  folder.write_task(cassette_of({{"ls"}}), "policy: policy.yaml\n");

  const ProgramEnd end = folder.run();

  BOOST_TEST(end.status == 2, end.errors);
  BOOST_TEST(end.errors.find("audit") != std::string::npos, end.errors);
  BOOST_TEST(!std::filesystem::exists(folder.out() / "transcript.jsonl"));
}

BOOST_AUTO_TEST_SUITE_END()
