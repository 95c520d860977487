// One budget for all runs of a batch: what is set aside, what is given back, and where it ends.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "core/text/text.h"
#include "tests/end_to_end/batch_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// How many runs were at work at the same time, at the most.
int most_at_once(const std::string& events) {
  int now = 0;
  int most = 0;
  for (const std::string_view line : split_lines(events)) {
    const std::string type = parse_json(line).string_at("type");
    if (type == "run.started") most = std::max(most, ++now);
    if (type == "run.ended") --now;
  }
  return most;
}

/// Four runs, each with a budget of its own. One uses 220 tokens and 0.00045 USD.
class LimitedBatch : public BatchFolders {
 public:
  explicit LimitedBatch(const std::string& budget_of_task, const std::string& manifest = {}) {
    write_manifest(4, manifest);
    std::string text = read_file(task());
    text.replace(text.find("retries: 0"), 10, "retries: 0, max_output_tokens: 100");
    write("task.yaml", text + "budget: " + budget_of_task + "\n");
  }
  ProgramEnd run(const CountingServer& server, std::vector<std::string> flags) const {
    flags.insert(flags.end(), {"--jobs", "4", "--json"});
    return run_program(batch(server.url(), flags));
  }
  /// How many tokens have to be left before the first request.
  std::int64_t tokens_of_request(const CountingServer& server) const {
    const ProgramEnd end = run(server, {"--max-tokens", "10"});
    constexpr std::string_view kBefore = "the next request may take ";
    const std::size_t at = end.errors.find(kBefore);
    BOOST_TEST_REQUIRE(at != std::string::npos, end.errors);
    return std::stoll(end.errors.substr(at + kBefore.size()));
  }
  std::int64_t tokens() const {
    std::int64_t sum = 0;
    for (const BatchRow& one : rows()) sum += one.tokens;
    return sum;
  }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(batch_budget)

BOOST_AUTO_TEST_CASE(as_many_runs_are_at_work_as_can_set_their_budgets_aside) {
  const struct {
    const char* task;
    std::vector<std::string> flags;
    int at_once;  ///< at the most
  } rows[] = {
      {"{cost: 0.01}", {"--max-cost", "0.015"}, 1},
      {"{cost: 0.01}", {"--max-cost", "0.0219"}, 2},
      {"{tokens: 5000}", {"--max-tokens", "7500"}, 1},
      {"{tokens: 5000}", {"--max-tokens", "13000"}, 2},
      {"{tokens: 5000, cost: 0.01}", {"--max-tokens", "1000000", "--max-cost", "0.015"}, 1},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.task << " " << row.flags.back()) {
      CountingServer server;
      const LimitedBatch batch(row.task);

      const ProgramEnd end = batch.run(server, row.flags);

      // What a run did not use is there for the next one, so all of them come to their end.
      BOOST_TEST(end.status == 0, end.errors);
      BOOST_TEST(most_at_once(end.output) <= row.at_once, end.output);
      check_paid_once(server, 4);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_flag_wins_over_the_manifest_and_no_more_than_all_is_spent) {
  CountingServer server;
  const LimitedBatch batch("{tokens: 5000}", "budget: {tokens: 5000000}\n");

  const std::int64_t all = batch.tokens_of_request(server) + 300;

  const ProgramEnd end = batch.run(server, {"--max-tokens", std::to_string(all)});

  BOOST_TEST(end.status == 4, end.errors);
  BOOST_TEST(batch.tokens() <= all);
  int passed = 0;
  for (const BatchRow& row : batch.rows()) {
    passed += row.passed() ? 1 : 0;
    if (!row.passed()) BOOST_TEST(row.status == "budget");
  }
  // The first one has all of it, the next ones what it did not use, which is too little in the end.
  BOOST_TEST(passed >= 1);
  BOOST_TEST(passed <= 3);

  const ProgramEnd more = batch.run(server, {});

  BOOST_TEST(more.status == 0, more.errors);
  check_paid_once(server, 4);
}

BOOST_AUTO_TEST_CASE(earlier_starts_of_a_batch_count) {
  CountingServer server;
  const LimitedBatch batch("{tokens: 5000}");
  const std::int64_t all = batch.tokens_of_request(server) + 300;
  const ProgramEnd first = batch.run(server, {"--max-tokens", std::to_string(all)});
  BOOST_TEST(first.status == 4, first.errors);

  const int requests = server.requests();

  const ProgramEnd again = batch.run(server, {"--max-tokens", std::to_string(all)});

  BOOST_TEST(again.status == 4, again.errors);
  BOOST_TEST(server.requests() == requests);
  BOOST_TEST(batch.tokens() <= all);
}

BOOST_AUTO_TEST_SUITE_END()
