#include <signal.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/loopback_http.h"
#include "tests/support/run_folder.h"

// `sortie replay`: a run again from its own record.

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

ProgramEnd replay(const fs::path& out, const std::vector<std::string>& more = {}) {
  std::vector<std::string> argv = {sortie_binary(), "replay", out.string()};
  argv.insert(argv.end(), more.begin(), more.end());
  return run_program({.argv = argv});
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// A run with commands, patches, a denial, a failed verification and a variable in its prompt.
struct RecordedRun : RunFolder {
  explicit RecordedRun(const std::string& command = "echo two >> a.txt; chmod +x b.sh; date +%N",
                       const std::string& more = {}) {
    write("work/a.txt", "one\n");
    write("work/b.sh", "echo\n");
    commit_workspace();
    CassetteWriter cassette;
    cassette.shell({"sh", "-c", command})
        .shell({"rm", "-rf", "/etc"})
        .next()
        .message("done too early")
        .patch("*** Begin Patch\n*** Add File: dir/new.txt\n+new\n*** End Patch\n")
        .shell({"sh", "-c", "cat " + workspace().string() + "/a.txt; exit 3"})
        .next()
        .message("done");
    write("policy.yaml",
          "version: 1\nextends: auto\ncommands:\n  - deny: [rm]\n    why: not in this job\n");
    write_task(cassette,
               "policy: policy.yaml\nverify: {commands: [test -f dir/new.txt], rounds: 2}\n"
               "vars: {who: {default: 'a {{b}}'}}\n" +
                   more);
  }
};

std::size_t replays() {
  const char* count = std::getenv("SORTIE_TEST_REPLAYS");
  return count != nullptr ? static_cast<std::size_t>(std::atoi(count)) : 3;
}

/// Replaces a text in the transcript in forged/, and makes its chain anew, as somebody would who
/// forges a run.
void forge(const RunFolder& folder, const std::string& from, const std::string& to) {
  folder.write("forge.py", R"py(
import hashlib, json, sys
folder, old, new = sys.argv[1:4]
lines = open(folder + '/transcript.jsonl').read().split('\n')[:-1]
prev = '0' * 64
out = []
for line in lines:
    at = line.index(',"prev":"') + 9
    line = line[:at] + prev + line[at + 64:]
    line = line.replace(old, new)
    prev = hashlib.sha256(line.encode()).hexdigest()
    out.append(line)
open(folder + '/transcript.jsonl', 'w').write('\n'.join(out) + '\n')
)py");
  const ProgramEnd end = run_program({.argv = {"python3", folder.path("forge.py").string(),
                                               folder.path("forged").string(), from, to}});
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(replaying)

BOOST_AUTO_TEST_CASE(a_run_replays_to_the_same_decisions_exit_codes_and_diff) {
  const RecordedRun folder;
  const ProgramEnd end = folder.run();
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  const auto before = read_tree(folder.workspace());

  const ProgramEnd again = replay(folder.out());

  BOOST_TEST(again.status == 0, again.errors);
  BOOST_TEST(
      holds(again.output, "replay: equal: 4 decisions, 4 calls, 2 verifications, the diff ("),
      again.output);
  // The nanoseconds differ, and are shown.
  BOOST_TEST(holds(again.errors, "output of turn 1: the result of shell ("), again.errors);
  BOOST_TEST((read_tree(folder.workspace()) == before));

  const ProgramEnd strict = replay(folder.out(), {"--strict"});
  BOOST_TEST(strict.status == 8);
  BOOST_TEST(holds(strict.errors, "recorded: "), strict.errors);
  BOOST_TEST(holds(strict.errors, "replayed: "), strict.errors);

  const ProgramEnd recorded = replay(folder.out(), {"--tools", "recorded"});
  BOOST_TEST(recorded.status == 0, recorded.errors);
  BOOST_TEST(holds(recorded.output, "all from the record"), recorded.output);
}

BOOST_AUTO_TEST_CASE(replays_elsewhere_give_the_same_bytes) {
  const RecordedRun folder;
  BOOST_REQUIRE(folder.run().status == 0);
  const std::string diff = folder.artifact("changes.diff");
  const ProgramEnd cloned = run_program({.argv = {"git", "clone", "-q", folder.workspace().string(),
                                                  folder.path("elsewhere").string()}});
  BOOST_REQUIRE_MESSAGE(cloned.status == 0, cloned.errors);

  for (std::size_t i = 0; i < replays(); ++i) {
    for (const Caller& caller : all_callers()) {
      BOOST_TEST_CONTEXT(i << " " << caller.name) {
        ProgramStart start;
        start.argv = {sortie_binary(),
                      "replay",
                      folder.out().string(),
                      "-C",
                      folder.path("elsewhere").string(),
                      "--out",
                      folder.path("again").string(),
                      "--isolation",
                      "auto"};

        const ProgramEnd again = folder.run_as(caller, start);

        BOOST_TEST(again.status == 0, again.errors);
        BOOST_TEST(read_file(folder.path("again/changes.diff")) == diff);
        fs::remove_all(folder.path("again"));
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(the_first_difference_is_shown_with_both_sides) {
  const struct {
    const char* name;
    std::string command;
    const char* shown;
    const char* recorded;
    const char* replayed;
  } rows[] = {
      {"an exit code", "test -f $MARK || exit 5", "the result of shell", "exited 5", "exited 0"},
      {"a changed file", "test -f $MARK && touch more.txt; echo x >> a.txt", "the result of shell",
       "changed M a.txt", "A more.txt"},
      {"the diff", "if test -f $MARK; then echo 2; else echo 1; fi > new.txt", "changes.diff, line",
       "+1", "+2"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      RunFolder folder;
      folder.write("work/a.txt", "one\n");
      folder.write("work/.gitignore", "mark\n");
      folder.commit_workspace();
      std::string command = row.command;
      command.replace(command.find("$MARK"), 5, "mark");
      CassetteWriter cassette;
      cassette.shell({"sh", "-c", command})
          .patch("*** Begin Patch\n*** Add File: b.txt\n+b\n*** End Patch\n")
          .next()
          .message("done");
      folder.write_task(cassette, "policy: auto\n");
      BOOST_REQUIRE(folder.run().status == 0);
      folder.write("work/mark", "");  // what no commit knows of

      const ProgramEnd again = replay(folder.out());

      BOOST_TEST(again.status == 8);
      BOOST_TEST(holds(again.errors, std::string("replay: differs: ")), again.errors);
      for (const char* part : {row.shown, row.recorded, row.replayed})
        BOOST_TEST(holds(again.errors, part), part << " in " << again.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_forged_decision_or_output_does_not_replay) {
  const struct {
    const char* name;
    const char* from;
    const char* to;
    const char* shown;
    bool by_record;  ///< the record alone shows it
  } rows[] = {
      {"a decision", "\"decision\":\"deny\"", "\"decision\":\"allow\"", "the decision on shell",
       true},
      {"an exit code", "\"code\":3", "\"code\":0", "exited 3", false},
      {"a file", "\"changed_files\":[\"A dir/new.txt\"]", "\"changed_files\":[]", "A dir/new.txt",
       false},
      {"the diff's digest", "DIGEST", "", "changes.diff", false},
  };
  const RecordedRun folder;
  BOOST_REQUIRE(folder.run().status == 0);
  const std::string whole = folder.artifact("transcript.jsonl");
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      // Only the transcript, its chain made anew: nothing is left that it could be compared with.
      fs::remove_all(folder.path("forged"));
      folder.write("forged/transcript.jsonl", whole);
      std::string from = row.from;
      std::string to = row.to;
      if (from == "DIGEST") {
        from = folder.result()["artifacts"].string_at("changes.diff").substr(7);
        to = std::string(64, 'a');
      }
      forge(folder, from, to);
      const std::string forged = folder.path("forged/transcript.jsonl").string();
      const ProgramEnd verified = run_program({.argv = {sortie_binary(), "verify", forged}});
      BOOST_TEST(verified.status == 0, verified.errors);

      const ProgramEnd again = replay(forged);

      BOOST_TEST(again.status == 8, again.output);
      BOOST_TEST(holds(again.errors, row.shown), again.errors);
      const ProgramEnd recorded = replay(forged, {"--tools", "recorded"});
      BOOST_TEST((recorded.status == 8) == row.by_record, recorded.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_command_that_used_the_network_is_taken_from_the_record) {
  if (::access("/usr/bin/curl", X_OK) != 0) return;
  const RunFolder folder;
  folder.write("work/a.txt", "one\n");
  folder.commit_workspace();
  std::optional<LoopbackHttp> server(std::in_place, [](const ReceivedRequest&) {
    return ServedResponse{.bytes = "HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nfrom the net\n"};
  });
  const std::string place = "127.0.0.1:" + std::to_string(server->port());
  folder.write(
      "policy.yaml",
      "version: 1\nextends: [auto]\nenvironment: {set: {NO_PROXY: '', no_proxy: ''}}\nnetwork: {mode: allow-list, allow: [\"" +
          place + "\"]}\n");
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "curl -sf http://" + place + "/x > got.txt; rm a.txt; cat got.txt"})
      .next()
      .shell({"sh", "-c", "wc -c < got.txt > size.txt"})
      .next()
      .message("done");
  folder.write_task(cassette, "policy: policy.yaml\n");
  const ProgramEnd end = folder.run();
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_REQUIRE_MESSAGE(holds(folder.artifact("changes.diff"), "+from the net"),
                        folder.artifact("changes.diff"));
  server.reset();

  const ProgramEnd again = replay(folder.out(), {"--strict", "--trust-policy"});

  BOOST_TEST(again.status == 0, again.errors);
}

BOOST_AUTO_TEST_CASE(a_recorded_policy_does_not_open_the_machine_of_the_replay) {
  const char* const rows[] = {"approval: full-auto\nsandbox: {mode: none, guarantee: []}\n",
                              "network: {mode: full}\n",
                              "escalation: rules\n",
                              "paths: {write: ['.', /srv]}\n",
                              "paths: {read: [/var/lib]}\n",
                              "environment: {include: [SOME_SETTING]}\n",
                              "environment: {inherit: all}\n"};
  for (const char* policy : rows) {
    BOOST_TEST_CONTEXT(policy) {
      const RunFolder folder;
      folder.write("work/a.txt", "one\n");
      folder.commit_workspace();
      CassetteWriter cassette;
      cassette.patch("*** Begin Patch\n*** Add File: b.txt\n+b\n*** End Patch\n")
          .next()
          .message("done");
      folder.write("policy.yaml",
                   std::string("version: 1\n") +
                       (std::string(policy).starts_with("approval") ? "" : "extends: [auto]\n") +
                       policy);
      folder.write_task(cassette, "policy: policy.yaml\n");
      const ProgramEnd end = folder.run();
      BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);

      const ProgramEnd again = replay(folder.out());

      BOOST_TEST(again.status == 2);
      BOOST_TEST(holds(again.errors, "--trust-policy"), again.errors);
      const ProgramEnd mine = replay(folder.out(), {"--policy", "auto"});
      BOOST_TEST(mine.status == 0, mine.errors);
      const ProgramEnd trusted = replay(folder.out(), {"--trust-policy"});
      BOOST_TEST(trusted.status == 0, trusted.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_run_that_was_gone_on_with_replays_as_one) {
  const RunFolder folder;
  folder.write("work/a.txt", "one\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "echo two >> a.txt"}).next();
  cassette.shell({"sh", "-c", "echo three >> a.txt"}).next().message("done");
  folder.write_task(cassette, "policy: auto\nverify: [grep three a.txt]\n");
  BOOST_REQUIRE(folder.run({"--max-turns", "1"}).status == 4);
  const ProgramEnd more = folder.run({"--max-turns", "9"});
  BOOST_REQUIRE_MESSAGE(more.status == 0, more.errors);
  BOOST_REQUIRE(folder.records("run.started").size() == 2u);

  const ProgramEnd again = replay(folder.out());

  BOOST_TEST(again.status == 0, again.errors);
  BOOST_TEST(again.errors == "");
  BOOST_TEST(holds(again.output, "replay: equal: 2 decisions, 2 calls, 1 verification, the diff ("),
             again.output);
  BOOST_TEST(replay(folder.out(), {"--tools", "recorded"}).status == 0);

  // Returned as it was, it has another result.json and still is evidence.
  const ProgramEnd cached =
      run_program(folder.plain_start({"--max-turns", "9", "--reuse", "success"}));
  BOOST_REQUIRE_MESSAGE(cached.status == 0, cached.errors);
  BOOST_REQUIRE(folder.result()["cached"].boolean());
  const ProgramEnd verified =
      run_program({.argv = {sortie_binary(), "verify", folder.out().string()}});
  BOOST_TEST(verified.status == 0, verified.errors);
  BOOST_TEST(replay(folder.out()).status == 0);
}

BOOST_AUTO_TEST_CASE(a_run_whose_history_was_shortened_replays_too) {
  const RunFolder folder;
  folder.write("work/a.txt", "one\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  for (int turn = 0; turn < 4; ++turn) {
    for (int call = 0; call < 17; ++call)
      cassette.shell({"sh", "-c", "head -c 4000 /dev/zero | tr '\\0' x"});
    cassette.next();
  }
  cassette.message("What was done so far.");
  cassette.shell({"sh", "-c", "echo two >> a.txt"}).next().message("done").message("done");
  cassette.save(folder.path("cassette.jsonl"));
  folder.write("task.yaml",
               "version: 1\nprompt: x\npolicy: auto\nworkspace: {path: work}\n"
               "context: {keep_last_turns: 1}\nmodel: {provider: replay, name: gpt-5-codex, "
               "cassette: cassette.jsonl, context_window: 20000, max_output_tokens: 1000}\n");
  const ProgramEnd end = folder.run();
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_REQUIRE(!folder.records("context.compacted").empty());

  const ProgramEnd again = replay(folder.out(), {"--out", folder.path("again").string()});

  BOOST_TEST(again.status == 0, again.errors);
  BOOST_TEST(read_file(folder.path("again/changes.diff")) == folder.artifact("changes.diff"));
  BOOST_TEST(replay(folder.out(), {"--tools", "recorded"}).status == 0);
}

BOOST_AUTO_TEST_CASE(long_lines_are_shown_from_shortly_before_their_difference) {
  const RunFolder folder;
  folder.write("work/a.txt", "one\n");
  folder.write("work/.gitignore", "mark\n");
  folder.commit_workspace();
  CassetteWriter cassette;
  cassette
      .shell({"sh", "-c",
              "echo x >> a.txt; seq -s, 300; printf '%0600d' 0; ls mark || echo none; exit 0"})
      .next()
      .message("done");
  folder.write_task(cassette, "policy: auto\n");
  BOOST_REQUIRE(folder.run().status == 0);
  folder.write("work/mark", "");

  const ProgramEnd again = replay(folder.out(), {"--strict"});

  BOOST_TEST(again.status == 8);
  BOOST_TEST(holds(again.errors, "  call:     shell echo x >> a.txt; seq"), again.errors);
  BOOST_TEST(holds(again.errors, "  recorded: …0000000000000000"), again.errors);
  BOOST_TEST(holds(again.errors, "0mark\n"), again.errors);
}

BOOST_AUTO_TEST_CASE(another_base_an_unfinished_run_and_a_missing_one_are_refused) {
  const RecordedRun folder;
  BOOST_REQUIRE(folder.run().status == 0);
  folder.write("other/a.txt", "a\n");
  const ProgramEnd other = replay(folder.out(), {"-C", folder.path("other").string()});
  BOOST_TEST(other.status == 2);
  BOOST_TEST(holds(other.errors, "the run began at "), other.errors);
  BOOST_TEST(replay(folder.path("none")).status == 2);
  BOOST_TEST(replay(folder.out(), {"--tools", "other"}).status == 2);

  const std::string text = folder.artifact("transcript.jsonl");
  fs::create_directory(folder.path("cut"));
  folder.write("cut/transcript.jsonl", text.substr(0, text.find('\n') + 1));
  BOOST_TEST(replay(folder.path("cut")).status == 2);
}

BOOST_AUTO_TEST_CASE(failed_runs_and_those_with_stages_functions_and_schemas_replay_too) {
  const struct {
    const char* name;
    const char* task;
    int status;
  } rows[] = {
      {"failed", "prompt: x\nverify: {commands: ['false'], rounds: 0}\n", 1},
      {"out of turns", "prompt: x\nbudget: {turns: 1}\n", 4},
      {"stages",
       "stages: [{name: one, prompt: x, sandbox: read-only, save: one.md}, {name: two, prompt: y}]\n",
       0},
      {"a function", "prompt: x\ntools: {functions: functions.json}\n", 0},
      {"a schema", "prompt: x\noutput: {schema: schema.json}\n", 0},
      {"a rule for its changes", "prompt: x\nexpect: {diff: {max_files: 1}}\n", 0},
      {"no cost known", "prompt: x\nbudget: {cost: 3}\n", 0},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const RunFolder folder;
      folder.write("work/a.txt", "one\n");
      folder.commit_workspace();
      folder.write(
          "functions.json",
          R"([{"name": "count_lines", "description": "Counts.", "run": ["wc", "-l", "a.txt"]}])");
      folder.write("schema.json", R"({"type": "object", "properties": {"n": {"type": "integer"}},)"
                                  R"( "required": ["n"], "additionalProperties": false})");
      folder.write("policy.yaml", "version: 1\nextends: auto\nbounds: {mcp: [wc]}\n");
      CassetteWriter cassette;
      if (std::string(row.name) == "stages") cassette.shell({"cat", "a.txt"}).next().message("one");
      if (std::string(row.name) == "a function") cassette.call("count_lines", Json::object());
      cassette.shell({"sh", "-c", "echo two >> a.txt"}).next().message("{\"n\": 1}");
      cassette.save(folder.path("cassette.jsonl"));
      folder.write("task.yaml",
                   "version: 1\npolicy: policy.yaml\nworkspace: {path: work}\n"
                   "model: {provider: replay, name: gpt-5-codex, "
                   "cassette: cassette.jsonl, price: {input: 1, output: 1}}\n" +
                       std::string(row.task));
      const ProgramEnd end = folder.run();
      BOOST_REQUIRE_MESSAGE(end.status == row.status, end.errors);
      // Nothing but the record and the base is left.
      for (const char* name :
           {"task.yaml", "policy.yaml", "functions.json", "schema.json", "cassette.jsonl"})
        fs::remove(folder.path(name));

      const ProgramEnd again = replay(folder.out());

      BOOST_TEST(again.status == 0, again.errors);
      const ProgramEnd recorded = replay(folder.out(), {"--tools", "recorded"});
      BOOST_TEST(recorded.status == 0, recorded.errors);
    }
  }
}

BOOST_AUTO_TEST_CASE(run_takes_the_responses_of_a_runs_folder_too) {
  const RecordedRun folder;
  BOOST_REQUIRE(folder.run().status == 0);
  const std::string diff = folder.artifact("changes.diff");

  const ProgramEnd end =
      folder.run({"--replay", folder.out().string(), "--out", folder.path("second").string()});

  BOOST_TEST(end.status == 0, end.errors);
  BOOST_TEST(read_file(folder.path("second/changes.diff")) == diff);
}

BOOST_AUTO_TEST_SUITE_END()
