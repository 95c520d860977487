#include "tests/core/agent/long_run.h"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "tests/support/openai_schema.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

constexpr const char* kValgrind = "/usr/bin/valgrind";

bool can_count() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return false;  // they and valgrind exclude each other
#else
  return ::access(kValgrind, X_OK) == 0;
#endif
}

/// What turn_cost had counted by callgrind, in its order.
std::vector<std::int64_t> counted_instructions() {
  const TemporaryFolder folder;
  const std::string file = folder.path() / "counted";
  Program program(
      {.argv = {kValgrind, "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=" + file,
                "--read-inline-info=no", SORTIE_BINARY_DIR "/tests/core/turn_cost"}});
  const ProgramEnd end = program.finish(std::chrono::minutes(10));
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  std::vector<std::int64_t> counts;
  for (int part = 1;; ++part) {  // the end of the program writes one without a number
    const std::filesystem::path dump = file + "." + std::to_string(part);
    if (!std::filesystem::exists(dump)) return counts;
    const std::string text = read_file(dump);
    const std::size_t at = text.find("totals: ");  // "totals: 1234567"
    BOOST_REQUIRE(at != std::string::npos);
    counts.push_back(std::stoll(text.substr(at + 8)));
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(long_run)

BOOST_AUTO_TEST_CASE(each_request_of_200_turns_begins_with_the_history_of_the_one_before) {
  for (const std::string& form : kForms) {
    BOOST_TEST_CONTEXT(form) {
      FormModel model(form, 200);
      std::string before;
      int requests = 0;
      model.on_body = [&](std::string_view body, std::uint64_t prefix_bytes) {
        BOOST_REQUIRE(body.starts_with(before.substr(0, prefix_bytes)));
        BOOST_REQUIRE(body.size() > before.size());
        BOOST_REQUIRE(requests == 0 || prefix_bytes + 64 > before.size());  // all but the tail
        before = body;
        if (requests++ % 100 != 0) return;
        const Json json = parse_json(body);
        if (form == "responses") BOOST_TEST(check_responses_request(json) == "");
        if (form == "chat" || form == "functions") BOOST_TEST(check_chat_request(json) == "");
      };

      BOOST_TEST(run_long(model) == 201);
      BOOST_TEST(requests == 201);
    }
  }
}

// Sending aside: that grows with the history whatever one does.
BOOST_AUTO_TEST_CASE(turn_200_costs_little_more_than_turn_20) {
  if (!can_count()) {
    BOOST_TEST_MESSAGE("left out: valgrind is not here, or a sanitizer is");
    return;
  }
  const std::vector<std::int64_t> counts = counted_instructions();
  if (counts.empty()) {
    BOOST_TEST_MESSAGE("left out: valgrind's headers were not here");
    return;
  }
  BOOST_REQUIRE(counts.size() == 2 * kForms.size());
  for (std::size_t i = 0; i < kForms.size(); ++i) {
    BOOST_TEST_CONTEXT(kForms[i]) {
      const std::int64_t early = counts[2 * i];
      const std::int64_t late = counts[2 * i + 1];
      BOOST_TEST_MESSAGE(kForms[i] << ": " << early / 10 << " instructions a turn at turn 20, "
                                   << late / 10 << " at turn 200");
      BOOST_REQUIRE(early > 0);
      BOOST_TEST(late * 10 <= early * 13);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
