// Runs that were killed, and go on.
#include <signal.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdlib>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/record/run_history.h"
#include "core/record/transcript_reader.h"
#include "tests/end_to_end/provider_run.h"
#include "tests/end_to_end/steady_run.h"
#include "tests/support/loopback_http.h"
#include "tests/support/wire_streams.h"

using namespace sortie;
using namespace sortie::test;

namespace {

namespace fs = std::filesystem;

/// Three turns: thoughts with a command, a patch, and a command that goes on for ever.
std::vector<ServedResponse> wire_script(const std::string& wire) {
  const char* const told[] = {
      R"({"reasoning":"Hm, well.","text":"I look.","calls":[{"id":"c1","tool":"shell","arguments":{"command":["sh","-c","echo one > one.txt"]}}]})",
      R"({"text":"I patch.","calls":[{"id":"c2","tool":"apply_patch","arguments":{"input":"*** Begin Patch\n*** Update File: a.txt\n-a\n+by patch\n*** End Patch"}}]})",
      R"({"calls":[{"id":"c3","tool":"shell","arguments":{"command":["sh","-c","echo three > three.txt; exec sleep 1000"]}}]})",
      R"({"calls":[{"id":"c4","tool":"shell","arguments":{"command":["sh","-c","echo four > four.txt"]}}]})",
      R"({"text":"done"})"};
  std::vector<ServedResponse> responses;
  for (const char* each : told)
    responses.push_back(served_stream(wire_stream(wire, parse_json(each)).text()));
  return responses;
}

int kills_wanted() {
  const char* const wanted = std::getenv("SORTIE_TEST_KILLS");
  return wanted != nullptr ? std::atoi(wanted) : 15;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(resume)

BOOST_AUTO_TEST_CASE(a_run_killed_at_any_instant_ends_with_the_diff_of_one_that_was_not) {
  SteadyModel model;
  SteadyRun whole;
  const auto began = std::chrono::steady_clock::now();
  const ProgramEnd undisturbed = run_program(whole.start(model.url()));
  const auto took = std::chrono::steady_clock::now() - began;
  BOOST_REQUIRE_MESSAGE(undisturbed.status == 0, undisturbed.errors);
  const std::string diff = whole.artifact("changes.diff");
  check_record(whole.out());

  const unsigned seed = std::random_device{}();
  BOOST_TEST_MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> share(0.0, 1.05);
  const int wanted = kills_wanted();
  int kills = 0;
  while (kills < wanted) {
    SteadyRun run;
    for (int starts = 0;; ++starts) {
      BOOST_REQUIRE(starts < 200);
      // Most kills come in the middle; the later starts have less left to do. The machine may have
      // become slower: the more were killed, the longer the next ones get.
      const auto delay = std::chrono::duration_cast<std::chrono::milliseconds>(
          took * (share(random) * (starts < 3 ? 1.0 : 0.5 + starts / 20.0)));
      ProgramStart start = run.start(model.url());
      start.shows_events = false;
      Program program(start);
      ::poll(nullptr, 0, static_cast<int>(delay.count()));
      if (kills < wanted) program.signal(SIGKILL);
      const ProgramEnd end = program.finish();
      if (end.status == 137) {
        ++kills;
        const fs::path transcript = run.out() / "transcript.jsonl";
        if (beginning_of(transcript) == Beginning::record) {
          const VerifyResult chain = verify_run(transcript);
          BOOST_TEST(chain.ok, chain.problem << " (seed " << seed << ")");
        }
        continue;
      }
      BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors << " (seed " << seed << ")");
      break;
    }
    const bool same = run.artifact("changes.diff") == diff;
    BOOST_TEST(same, "seed " << seed << ":\n" << run.artifact("changes.diff"));
    check_record(run.out());
    const ProgramEnd verified =
        run_program({.argv = {sortie_binary(), "verify", run.out().string()}});
    BOOST_TEST(verified.status == 0, verified.errors << verified.output);
    BOOST_TEST(!fs::exists(run.out() / "state"));
  }
}

BOOST_AUTO_TEST_CASE(a_conversation_goes_on_in_the_same_bytes_on_every_wire) {
  const struct {
    const char* wire;
    const char* model;
  } rows[] = {{"responses", "provider: openai, name: house"},
              {"chat", "provider: openai-chat, name: house"},
              {"messages", "provider: anthropic, name: house"}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.wire) {
      ProviderRun run;
      run.write_task(row.model);
      // Each request is checked for its form as it comes.
      const ModelServer server(wire_script(row.wire));
      const std::string url = row.wire == std::string("messages") ? server.url() : base_url(server);
      {
        ProgramStart start = run.start(url);
        start.shows_events = false;
        Program program(start);
        BOOST_REQUIRE(wait_until([&] {
          const fs::path file = run.out() / "state/upper/three.txt";
          return fs::exists(file) && read_file(file) == "three\n";
        }));
        program.signal(SIGKILL);
        program.finish();
      }

      ProgramStart start = run.start(url);
      const ProgramEnd end = run_program(start);

      BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
      const auto requests = server.requests();
      BOOST_REQUIRE(requests.size() == 5u);
      const std::string& before = requests[2].body;
      const std::string& after = requests[3].body;
      const auto differs = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
      BOOST_TEST((before.end() - differs.first < 60), std::string(differs.first, before.end()));
      BOOST_TEST(after.find("Interrupted: ") != std::string::npos);
      const std::string diff = run.artifact("changes.diff");
      for (const char* part : {"+one", "+by patch", "+three", "+four"})
        BOOST_TEST(diff.find(part) != std::string::npos, part);
      BOOST_TEST(verify_run(run.out()).ok, verify_run(run.out()).problem);
    }
  }
}

BOOST_AUTO_TEST_CASE(every_caller_can_go_on_with_a_run) {
  for (const Caller& caller : all_callers()) {
    for (const bool inside : {false, true}) {
      BOOST_TEST_CONTEXT(caller.name << (inside ? ", --out in the workspace" : "")) {
        const RunFolder run;
        run.write("work/a.txt", "a\n");
        run.commit_workspace();
        run.write_task(CassetteWriter()
                           .shell({"sh", "-c", "echo one >> a.txt; mkdir d; echo x > d/x; rm d/x"})
                           .next()
                           .shell({"sh", "-c", "touch here; exec sleep 1000"})
                           .next()
                           .shell({"sh", "-c", "cat a.txt; echo two >> a.txt"})
                           .next()
                           .message("done"),
                       "policy: auto\n");
        const fs::path out = inside ? run.workspace() / "out" : run.out();
        give_to(run.task().parent_path(), caller.uid);
        const ProgramStart start = as_caller(caller, run.plain_start({"--out", out.string()}));
        {
          Program program(start);
          BOOST_REQUIRE(wait_until([&] {
            for (const char* place : {"state/upper/here", "state/tree/here"}) {
              std::error_code error;
              if (fs::exists(out / place, error)) return true;
            }
            return false;
          }));
          program.signal(SIGKILL);
          program.finish();
        }

        const ProgramEnd end = run_program(start);

        BOOST_TEST(end.status == 0, end.errors);
        BOOST_TEST(end.errors.find("resumed after record") != std::string::npos, end.errors);
        if (end.status == 0) {
          const std::string diff = read_file(out / "changes.diff");
          BOOST_TEST(diff.find("+one\n+two\n") != std::string::npos, diff);
          BOOST_TEST(verify_run(out).ok, verify_run(out).problem);
        }
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
