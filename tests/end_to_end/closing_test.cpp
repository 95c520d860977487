#include <signal.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "core/json/json.h"
#include "core/record/transcript_reader.h"
#include "tests/support/run_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace fs = std::filesystem;

BOOST_AUTO_TEST_SUITE(closing)

BOOST_AUTO_TEST_CASE(a_flag_file_that_fails_withdraws_the_success_everywhere) {
  const RunFolder folder;
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  folder.write_task(CassetteWriter().shell({"sh", "-c", "echo b > a.txt"}).next().message("done"),
                    "policy: auto\n");

  const ProgramEnd end =
      folder.run({"--output-last-message", folder.path("message").string(), "--diff", "/dev/full"});

  BOOST_TEST(end.status == 7, end.errors);
  BOOST_TEST(end.output.empty());
  BOOST_TEST(!fs::exists(folder.out() / "changes.diff"));
  BOOST_TEST(!fs::exists(folder.path("message")));
  BOOST_TEST(folder.artifact("partial.diff").find("+b\n") != std::string::npos);
  const Json result = folder.result();
  BOOST_TEST(result.integer_at("exit_code") == 7);
  const std::string next = result.string_at("next");
  BOOST_TEST(next.starts_with("make room there, or name another place"), next);
  BOOST_TEST(next.ends_with("partial.diff has the work"), next);
  BOOST_TEST(end.errors.find("; next: " + next) != std::string::npos, end.errors);
  const std::vector<Json> ends = folder.records("run.completed");
  BOOST_REQUIRE(ends.size() == 1u);
  BOOST_TEST(ends[0].integer_at("exit_code") == 7);
  BOOST_TEST((ends[0]["artifacts"] == result["artifacts"]));
  BOOST_TEST((ends[0]["durations"] == result["durations"]));
  const VerifyResult verified = verify_run(folder.out());
  BOOST_TEST(verified.ok, verified.problem);
}

BOOST_AUTO_TEST_CASE(a_result_that_cannot_be_written_is_on_record) {
  const RunFolder folder;
  const std::string marker = "31557600." + std::to_string(::getpid()) + "9";
  folder.write("work/a.txt", "a\n");
  folder.commit_workspace();
  folder.write_task(CassetteWriter()
                        .shell({"sh", "-c", "echo b > a.txt"})
                        .next()
                        .shell({"sleep", marker})
                        .next()
                        .message("done"),
                    "policy: auto\n");
  Program program(folder.start());
  const std::string command = "sleep" + std::string(1, '\0') + marker;
  BOOST_REQUIRE(wait_until([&] { return !processes_with(command).empty(); }));

  fs::remove(folder.out() / "result.json");
  fs::create_directories(folder.out() / "result.json/in the way");
  for (const pid_t pid : processes_with(command)) ::kill(pid, SIGKILL);
  const ProgramEnd end = program.finish();

  BOOST_TEST(end.status == 7, end.errors);
  BOOST_TEST(end.errors.find("sortie: result.json: ") != std::string::npos, end.errors);
  BOOST_TEST(!fs::exists(folder.out() / "changes.diff"));
  BOOST_TEST(fs::exists(folder.out() / "partial.diff"));
  BOOST_TEST(folder.records("run.completed").back().integer_at("exit_code") == 7);
}

BOOST_AUTO_TEST_SUITE_END()
