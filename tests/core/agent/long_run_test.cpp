#include "tests/core/agent/long_run.h"

#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <map>

#include "core/base/text.h"
#include "tests/support/openai_schema.h"
#include "tests/support/program.h"

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

/// Instructions of a run of so many turns; 0 where valgrind does not say.
std::int64_t instructions_of(const std::string& form, int turns) {
  const ProgramEnd end = run_program(
      {.argv = {kValgrind, "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null",
                "--read-inline-info=no", SORTIE_BINARY_DIR "/tests/core/agent/turn_cost", form,
                std::to_string(turns)}});
  BOOST_REQUIRE_MESSAGE(end.status == 0, end.errors);
  // "==17== I   refs:      1,234,567"
  const std::size_t at = end.errors.find("refs:");
  std::int64_t count = 0;
  for (std::size_t i = at; i < end.errors.size() && end.errors[i] != '\n'; ++i)
    if (end.errors[i] >= '0' && end.errors[i] <= '9') count = count * 10 + (end.errors[i] - '0');
  return count;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(long_run)

BOOST_AUTO_TEST_CASE(each_request_of_200_turns_begins_with_the_history_of_the_one_before) {
  for (const std::string& form : kForms) {
    BOOST_TEST_CONTEXT(form) {
      FormModel model(form, 200);
      std::string before;  // without what closes it
      int requests = 0;
      model.on_body = [&](std::string_view body, std::size_t tail) {
        BOOST_REQUIRE(body.starts_with(before));
        BOOST_REQUIRE(body.size() - tail > before.size());
        before = body.substr(0, body.size() - tail);
        if (requests++ % 25 != 0) return;
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
  const struct {
    std::string form;
    std::int64_t most_percent;
  } rows[] = {
      {"responses", 130},
      {"chat", 130},
      // One look at each item before: many instructions where nothing is inlined, as here.
      {"messages", 160},
  };
  for (const auto& [form, most_percent] : rows) {
    BOOST_TEST_CONTEXT(form) {
      const std::int64_t early = instructions_of(form, 25) - instructions_of(form, 15);
      const std::int64_t late = instructions_of(form, 205) - instructions_of(form, 195);
      BOOST_TEST_MESSAGE(form << ": " << early / 10 << " instructions a turn at turn 20, "
                              << late / 10 << " at turn 200");
      BOOST_REQUIRE(early > 0);
      BOOST_TEST(late * 100 <= early * most_percent);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
