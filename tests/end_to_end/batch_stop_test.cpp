// Batches that are stopped by a signal, once or twice: what is left, and how the same command goes on.
#include <signal.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "tests/end_to_end/batch_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// Each run's first turn starts a command that no polite signal ends.
std::string stubborn_words() { return "sleep 98765." + std::to_string(::getpid()); }

ServedResponse stubborn_turn(const ReceivedRequest&) {
  CassetteWriter cassette;
  cassette.shell({"sh", "-c", "trap '' INT TERM; exec " + stubborn_words()}).next();
  return served_stream(cassette.streams().front());
}

/// "sleep" alone, not the shell before it, whose command line has the words too.
std::size_t sleepers() {
  std::size_t count = 0;
  for (const pid_t pid : processes_with("98765." + std::to_string(::getpid()))) {
    const std::string words =
        read_bytes_file("/proc/" + std::to_string(pid) + "/cmdline", 4096).text;
    if (words.starts_with("sleep")) ++count;
  }
  return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_stop)

BOOST_AUTO_TEST_CASE(a_signal_leaves_results_and_nothing_alive_and_the_same_command_goes_on) {
  const struct {
    int signal;
    int times;
    int code;
    const char* last;
  } rows[] = {
      {SIGINT, 1, 130, "sortie: interrupted (130): stopped by SIGINT; 0 of 3 runs succeeded"},
      {SIGTERM, 1, 143, "sortie: interrupted (143): stopped by SIGTERM; 0 of 3 runs succeeded"},
      {SIGINT, 2, 130, "sortie: interrupted (130): stopped by SIGINT; 0 of 3 runs succeeded"},
      {SIGTERM, 2, 143, "sortie: interrupted (143): stopped by SIGTERM; 0 of 3 runs succeeded"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT("signal " << row.signal << " × " << row.times) {
      const BatchFolders folders;
      folders.write_manifest(3);
      {
        LoopbackHttp server(stubborn_turn);
        Program program(folders.batch(server.url("/v1"), {"--jobs", "2"}));
        BOOST_TEST_REQUIRE(wait_until([] { return sleepers() == 2; }));
        program.signal(row.signal);
        BOOST_TEST(program.wait_for_error_text("2 runs are told to end"));
        if (row.times == 2) program.signal(row.signal);

        const ProgramEnd end = program.finish();

        BOOST_TEST(end.status == row.code, end.errors);
        BOOST_TEST(has(end.errors, row.last), end.errors);
        BOOST_TEST(has(end.errors, "next: the same command goes on"), end.errors);
      }
      BOOST_TEST(wait_until([] { return sleepers() == 0; }));
      BOOST_TEST(folders.rows().size() == 3u);
      for (const BatchRow& one : folders.rows()) {
        BOOST_TEST(one.may_be_retried(), one.status);
        BOOST_TEST((one.status == "not-started") == (one.name == "run-3"), one.status);
      }
      for (const char* name : {"summary.md", "report.html"})
        BOOST_TEST(std::filesystem::exists(folders.dir() / name));

      CountingServer server;
      const ProgramEnd on = run_program(folders.batch(server.url(), {"--jobs", "2"}));

      BOOST_TEST(on.status == 0, on.errors);
      // The first turns of two were recorded.
      for (const char* run : {"run-1", "run-2"})
        BOOST_TEST(!server.asked().contains(std::string(run) + " turn 1"));
      for (const auto& [turn, times] : server.asked()) BOOST_TEST(times == 1, turn);
      for (const BatchRow& one : folders.rows()) BOOST_TEST(one.status == "success");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
