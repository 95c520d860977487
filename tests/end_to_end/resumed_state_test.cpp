// What a run that goes on still knows of its earlier process.
#include <signal.h>

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "core/files/files.h"
#include "core/provider/cassette.h"
#include "tests/end_to_end/steady_run.h"
#include "tests/support/images.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// Starts it, and kills it once its command has made the file `here`.
void kill_when_here(const RunFolder& run, const ProgramStart& start) {
  Program program(start);
  BOOST_REQUIRE(wait_until([&] {
    std::error_code error;
    return std::filesystem::exists(run.out() / "state/upper/here", error) ||
           std::filesystem::exists(run.out() / "state/tree/here", error);
  }));
  program.signal(SIGKILL);
  program.finish();
}

constexpr const char* kWait = "touch here; exec sleep 1000";

}  // namespace

BOOST_AUTO_TEST_SUITE(resumed_state)

BOOST_AUTO_TEST_CASE(rounds_of_failed_expectations_count_on) {
  const RunFolder run;
  run.write("work/a.txt", "a\n");
  run.commit_workspace();
  run.write_task(CassetteWriter()
                     .message("done, without a change")
                     .shell({"sh", "-c", kWait})
                     .next()
                     .shell({"rm", "-f", "here"})
                     .next()
                     .message("done again")
                     .message("and again"),
                 "policy: auto\nverify: {rounds: 1}\nexpect: {changes: required}\n");
  kill_when_here(run, run.plain_start());

  const ProgramEnd end = run_program(run.plain_start());

  BOOST_TEST(end.status == 1, end.errors);
  BOOST_TEST(run.records("model.response").size() == 4u);
}

BOOST_AUTO_TEST_CASE(a_killed_run_goes_on_where_files_have_no_birth_time) {
  const RunFolder run;
  run.write("work/a.txt", "a\n");
  run.commit_workspace();
  run.write_task(CassetteWriter()
                     .shell({"sh", "-c", kWait})
                     .next()
                     .shell({"sh", "-c", "rm -f here; echo b > b.txt"})
                     .next()
                     .message("done"),
                 "policy: auto\n");
  std::filesystem::create_directory(run.path("plain"));
  const ProgramEnd end = run_program(
      {.argv =
           {"unshare", "-rm", "sh", "-c",
            "mount -t ramfs none plain || exit 99; [ $(stat -c %W plain) = 0 ] || exit 99; "
            "\"$0\" run task.yaml --out plain/out 2> first & "
            "until [ -e plain/out/state/upper/here ]; do kill -0 $! || exit 98; sleep 0.02; done; "
            "kill -KILL $!; wait; "
            "timeout 30 \"$0\" run task.yaml --out plain/out; status=$?; "
            "cp -r plain/out out; exit $status",
            sortie_binary()},
       .folder = run.path("")});
  if (end.status == 99 || end.errors.find("unshare:") != std::string::npos) {
    BOOST_TEST_MESSAGE("skipped: no file system can be mounted here: " << end.errors);
    return;
  }

  BOOST_TEST(end.status == 0, end.errors << read_file(run.path("first")));
  BOOST_TEST(end.errors.find("resumed after record") != std::string::npos, end.errors);
  BOOST_TEST(run.records("model.response").size() == 3u);
}

BOOST_AUTO_TEST_CASE(an_image_that_the_model_has_not_seen_yet_is_shown_to_it) {
  const RunFolder run;
  run.write("work/a.png", images::kPng);
  run.commit_workspace();
  run.write_task(CassetteWriter()
                     .call("view_image", Json::object({{"path", "a.png"}}))
                     .shell({"sh", "-c", kWait})
                     .next()
                     .shell({"sh", "-c", "echo b > b.txt"})
                     .next()
                     .message("done"),
                 "policy: auto\n");
  kill_when_here(run, run.plain_start());

  const ProgramEnd end = run_program(run.plain_start());

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  const auto requests = run.records("model.request");
  const std::string sent = write_json(requests.at(1)["items"]);
  BOOST_TEST(sent.find("\"media_type\":\"image/png\"") != std::string::npos, sent);
  BOOST_TEST(sent.find("the image was lost") == std::string::npos, sent);
}

BOOST_AUTO_TEST_CASE(a_recording_is_one_of_the_whole_run) {
  SteadyModel model;
  const SteadyRun run;
  const std::string file = run.path("recording.jsonl").string();
  ProgramStart start = run.start(model.url(), {"--record", file});
  start.shows_events = false;
  {
    Program program(start);
    BOOST_REQUIRE(wait_until([&] {
      std::error_code error;
      return std::filesystem::exists(run.out() / "state/upper/f5.txt", error) ||
             std::filesystem::exists(run.out() / "state/tree/f5.txt", error);
    }));
    program.signal(SIGKILL);
    program.finish();
  }

  const ProgramEnd end = run_program(start);

  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  BOOST_TEST(read_cassette(file).size() == run.records("model.response").size());
}

BOOST_AUTO_TEST_SUITE_END()
