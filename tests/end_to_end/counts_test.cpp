// What a run costs, in counts that the load of a machine does not change: bench/counts, against the
// record in bench/counts.json.
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <string>

#include "core/files/files.h"
#include "core/json/json.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;
namespace fs = std::filesystem;

namespace {

/// Why this build's counts say nothing; "" if they do.
std::string why_not_counted() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return "a sanitizer is compiled in";
#elif !defined(NDEBUG)
  return "the program is not optimized";
#elif !defined(__x86_64__)
  return "system calls are counted on x86-64 only";
#else
  return ::access("/usr/bin/valgrind", X_OK) == 0 ? "" : "valgrind is not here";
#endif
}

ProgramEnd counts(std::vector<std::string> flags) {
  std::vector<std::string> argv = {"python3", SORTIE_SOURCE_DIR "/bench/counts", "--sortie",
                                   sortie_binary()};
  argv.insert(argv.end(), flags.begin(), flags.end());
  return Program({.argv = argv}).finish(std::chrono::minutes(14));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(counts_of_a_run)

// If more is meant: bench/counts --record.
BOOST_AUTO_TEST_CASE(no_count_is_more_than_2_percent_above_the_recorded_one) {
  if (const std::string why = why_not_counted(); !why.empty()) {
    BOOST_TEST_MESSAGE("left out: " << why);
    return;
  }
  const ProgramEnd end = counts({});
  BOOST_TEST_MESSAGE(end.output);
  BOOST_TEST(end.status == 0, end.printed());
}

BOOST_AUTO_TEST_CASE(a_count_that_grew_is_named) {
  if (const std::string why = why_not_counted(); !why.empty()) {
    BOOST_TEST_MESSAGE("left out: " << why);
    return;
  }
  const TemporaryFolder folder;
  const std::string file = folder.path() / "counts.json";
  BOOST_REQUIRE(counts({"--only", "calls", "--file", file, "--record"}).status == 0);
  Json record = parse_json(read_file(file));
  for (auto& [name, section] : record.members())
    if (name == "counts")
      for (auto& [row, count] : section.members())
        // The others may grow as they like: on a busy machine a wait is asked for more often.
        count = Json(row == "calls: a turn" ? std::int64_t{40} : std::int64_t{1'000'000});
  write_file(file, write_json(record));

  const ProgramEnd end = counts({"--only", "calls", "--file", file});
  BOOST_TEST(end.status == 1);
  BOOST_TEST(end.output.find("MORE than 2 % above") != std::string::npos, end.printed());
  BOOST_TEST(end.errors.find("1 counts grew") != std::string::npos, end.printed());
}

BOOST_AUTO_TEST_SUITE_END()
