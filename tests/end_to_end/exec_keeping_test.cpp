// How long `sortie exec` keeps its threads.
#include <signal.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <chrono>

#include "core/files/files.h"
#include "tests/end_to_end/exec_run.h"

using namespace sortie;
using namespace sortie::test;

namespace fs = std::filesystem;

namespace {

/// Runs a turn. @return  its thread
std::string turn(const ExecRun& run, const std::string& limits = "",
                 const std::vector<std::string>& words = {"go"}) {
  CassetteWriter cassette;
  cassette.message("Done.");
  const ModelServer server(served(cassette));
  std::vector<std::string> all = {"--json"};
  all.insert(all.end(), words.begin(), words.end());
  ProgramStart start = run.exec(all, base_url(server));
  start.environment["SORTIE_KEEP_THREADS"] = limits;
  const ProgramEnd end = run_program(start);
  BOOST_TEST_REQUIRE(end.status == 0, end.errors);
  return events_of(end.output).front().string_at("thread_id");
}

fs::path folder_of(const ExecRun& run, const std::string& thread) {
  return run.path("home/threads") / thread;
}

void age(const ExecRun& run, const std::string& thread, int days) {
  fs::last_write_time(folder_of(run, thread),
                      fs::file_time_type::clock::now() - std::chrono::hours(24 * days));
}

bool is_kept(const ExecRun& run, const std::string& thread) {
  return fs::exists(folder_of(run, thread));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(exec_keeping)

BOOST_AUTO_TEST_CASE(a_thread_is_kept_for_days_after_its_last_turn) {
  const ExecRun run;
  const std::string old = turn(run);
  const std::string young = turn(run);
  const std::string again = turn(run);
  age(run, old, 31);
  age(run, young, 29);
  age(run, again, 31);

  turn(run, "all");
  BOOST_TEST(is_kept(run, old));
  turn(run, "40d");
  BOOST_TEST(is_kept(run, old));
  turn(run, "", {"resume", again, "go on"});

  BOOST_TEST(!is_kept(run, old));
  BOOST_TEST(is_kept(run, young));
  BOOST_TEST(is_kept(run, again));
  age(run, young, 29);
  turn(run, "20d");
  BOOST_TEST(!is_kept(run, young));
}

BOOST_AUTO_TEST_CASE(the_oldest_beyond_a_number_go) {
  const ExecRun run;
  std::vector<std::string> threads;
  for (int i = 0; i < 4; ++i) {
    threads.push_back(turn(run));
    age(run, threads.back(), 10 - i);
  }

  const std::string last = turn(run, "3");

  BOOST_TEST(run.threads().size() == 3u);
  BOOST_TEST((is_kept(run, last) && is_kept(run, threads[3]) && is_kept(run, threads[2])));
  BOOST_TEST(!fs::exists(run.path("home/threads") / (".removed-" + threads[0])));
}

BOOST_AUTO_TEST_CASE(a_thread_in_use_and_what_exec_did_not_make_stay) {
  const ExecRun run;
  const std::string notes = turn(run);
  run.write("home/threads/" + notes + "/notes.txt", "mine\n");
  run.write("home/threads/readme", "mine\n");
  fs::create_directories(run.path("home/threads/not-a-thread"));
  fs::create_directories(run.path("elsewhere"));
  const std::string linked = "0199a0a0-0000-7000-8000-000000000000";
  fs::create_directory_symlink(run.path("elsewhere"), folder_of(run, linked));
  // A removal that was cut off.
  fs::create_directories(run.path("home/threads/.removed-" + linked + "/x"));
  CassetteWriter cassette;
  cassette.shell({"sleep", "600"}).next();
  const ModelServer slow(served(cassette));
  Program other(run.exec({"--json", "slow"}, base_url(slow)));
  BOOST_REQUIRE(other.wait_for_output_text("sleep 600"));
  const std::vector<std::string> all = run.threads();
  const auto used = std::find_if(all.begin(), all.end(), [&](const std::string& name) {
    return name.size() == linked.size() && name != notes && name != linked;
  });
  BOOST_TEST_REQUIRE((used != all.end()));
  age(run, *used, 400);
  age(run, notes, 400);

  turn(run, "30d,1");
  other.signal(SIGTERM);
  const ProgramEnd end = other.finish();

  BOOST_TEST(is_kept(run, *used));
  BOOST_TEST(end.status == 143);
  const fs::path record = folder_of(run, *used) / *used;
  BOOST_TEST(run_program({.argv = {sortie_binary(), "verify", record.string()}}).status == 0);
  BOOST_TEST(read_file(folder_of(run, notes) / "notes.txt") == "mine\n");
  BOOST_TEST(is_kept(run, linked));
  BOOST_TEST(fs::exists(run.path("elsewhere")));
  BOOST_TEST(fs::exists(run.path("home/threads/readme")));
  BOOST_TEST(fs::exists(run.path("home/threads/not-a-thread")));
  BOOST_TEST(!fs::exists(run.path("home/threads/.removed-" + linked)));
}

BOOST_AUTO_TEST_CASE(many_turns_at_once_remove_the_same_threads_without_harm) {
  const ExecRun run;
  for (int i = 0; i < 6; ++i) age(run, turn(run), 40);
  CassetteWriter cassette;
  cassette.message("Done.");
  std::vector<std::unique_ptr<ModelServer>> servers;
  std::vector<std::unique_ptr<Program>> programs;
  for (int i = 0; i < 4; ++i) {
    servers.push_back(std::make_unique<ModelServer>(served(cassette)));
    programs.push_back(std::make_unique<Program>(run.exec({"go"}, base_url(*servers.back()))));
  }

  for (const auto& program : programs) {
    const ProgramEnd end = program->finish();
    BOOST_TEST(end.status == 0, end.errors);
    BOOST_TEST(end.errors.find("kept") == std::string::npos, end.errors);
  }

  BOOST_TEST(run.threads().size() == 4u);
}

BOOST_AUTO_TEST_CASE(other_limits_are_refused_before_anything_is_sent) {
  const ExecRun run;
  const ModelServer server({});
  for (const char* limits : {"0", "d", "30d,", "30d,40d", "1000000000", "-1", "30 days"}) {
    ProgramStart start = run.exec({"go"}, base_url(server));
    start.environment["SORTIE_KEEP_THREADS"] = limits;
    const ProgramEnd end = run_program(start);
    BOOST_TEST(end.status == 1, limits);
    BOOST_TEST(holds(end.errors, "SORTIE_KEEP_THREADS: expected"), end.errors);
  }
  BOOST_TEST(server.requests().empty());
}

BOOST_AUTO_TEST_SUITE_END()
