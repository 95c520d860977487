// Budgets and context of whole runs, against a server on loopback.

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "core/files/files.h"
#include "core/json/json_schema.h"
#include "tests/end_to_end/provider_run.h"

using namespace sortie;
using namespace sortie::test;

namespace {

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

std::string message_item(const std::string& text) {
  return R"({"type":"message","id":"m","status":"completed","role":"assistant","content":[)"
         R"({"type":"output_text","annotations":[],"logprobs":[],"text":")" +
         text + R"("}]})";
}

std::string shell_item(int number, const std::string& command) {
  return R"({"type":"function_call","call_id":"c)" + std::to_string(number) +
         R"(","name":"shell","arguments":"{\"command\":[\"sh\",\"-c\",\")" + command + R"(\"]}"})";
}

ServedResponse answer(const std::string& items, const std::string& usage) {
  return served_stream(
      R"(data: {"type":"response.completed","response":{"id":"r","model":"served","output":[)" +
      items + "]" + (usage.empty() ? "" : ",\"usage\":" + usage) + "}}\n\n");
}

constexpr const char* kSmallUsage =
    R"({"input_tokens":2000,"input_tokens_details":{"cached_tokens":1000},"output_tokens":100})";

/// Turns that each say something and call the shell: also where the text alone is asked for, the
/// answer does.
std::vector<ServedResponse> talking_turns(int count, const std::string& usage = {}) {
  std::vector<ServedResponse> turns;
  for (int i = 0; i < count; ++i)
    turns.push_back(answer(message_item("note " + std::to_string(i)) + "," +
                               shell_item(i, "head -c 8000 /dev/zero | tr '\\\\\\\\0' x"),
                           usage));
  turns.push_back(answer(message_item("done"), usage));
  return turns;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(budget_and_context)

BOOST_AUTO_TEST_CASE(what_a_run_did_cost_is_in_its_result) {
  const ProviderRun run;
  const ModelServer server(
      {answer(shell_item(1, "true"), kSmallUsage), answer(message_item("done"), kSmallUsage)});

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  // 1,000 tokens at 1.25 and 1,000 cached at 0.125 and 100 of output at 10 USD per million.
  const Json usage = run.result()["usage"];
  BOOST_TEST(usage["cost_usd"].text() == "0.00475");
  BOOST_TEST(usage["by_model"]["served"]["cost_usd"].text() == "0.00475");
  BOOST_TEST(run.records("model.response").at(0)["cost_usd"].text() == "0.002375");
  BOOST_TEST(run.records("run.completed").at(0)["usage"]["cost_usd"].text() == "0.00475");
  const Json model = run.records("run.started").at(0)["model"];
  BOOST_TEST(model.integer_at("context_window") == 272'000);
  BOOST_TEST(model.string_at("price_from") == "table");
  BOOST_TEST(model["price"]["cached_input"].text() == "0.125");
  BOOST_TEST(model["table"].integer_at("version") == 1);
  BOOST_TEST(model["table"].string_at("date").size() == 10u);
}

BOOST_AUTO_TEST_CASE(a_budget_of_cost_ends_the_run_in_order) {
  const ProviderRun run;
  run.write_task("max_output_tokens: 1000");
  const ModelServer server(talking_turns(20, kSmallUsage));

  const ProgramEnd end = run.run(server, {"--max-cost", "0.03"});

  check_end(run, end, 4, "budget");
  const Json result = run.result();
  BOOST_TEST(holds(result.string_at("reason"), " of 0.03 USD at turn "),
             result.string_at("reason"));
  BOOST_TEST(result.string_at("next") ==
             "--max-cost 0.048, or a model.max_output_tokens below 1000 in the task");
  BOOST_TEST(result["usage"]["cost_usd"].real().value_or(1) <= 0.03);
  const auto exhausted = run.records("budget.exhausted");
  BOOST_REQUIRE(exhausted.size() == 1u);
  BOOST_TEST(exhausted[0].string_at("which") == "cost");
  BOOST_TEST(exhausted[0].integer_at("limit") == 30'000);
  BOOST_TEST(holds(end.errors, "next: --max-cost 0.048"));
}

BOOST_AUTO_TEST_CASE(a_cost_for_a_model_of_unknown_price_does_not_start) {
  const struct {
    const char* name;
    const char* model;
    const char* more;
    std::vector<std::string> flags;
    int code;
  } rows[] = {
      {"in the task", "name: nobody-knows", "budget: {cost: 1}\n", {}, 2},
      {"by a flag", "name: nobody-knows", "", {"--max-cost", "1"}, 2},
      {"of a fallback", "fallback: [{name: nobody-knows}]", "budget: {cost: 1}\n", {}, 2},
      {"with its price",
       "name: nobody-knows, price: {input: 1, output: 1}",
       "budget: {cost: 1}\n",
       {},
       0},
      {"without a cost", "name: nobody-knows", "", {}, 0},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ProviderRun run;
      run.write_task(row.model, row.more);
      const ModelServer server({answer(message_item("done"), kSmallUsage)});

      const ProgramEnd end = run.run(server, row.flags);

      BOOST_TEST(end.status == row.code, end.errors);
      BOOST_TEST(server.requests().size() == (row.code == 0 ? 1u : 0u));
      if (row.code == 2) {
        BOOST_TEST(holds(end.errors, "nobody-knows"), end.errors);
        BOOST_TEST(holds(end.errors, "model.price"), end.errors);
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_known_of_a_model_is_said) {
  const ProviderRun run;
  run.write_task("name: nobody-knows");
  const ModelServer server({answer(message_item("done"), kSmallUsage)});

  const ProgramEnd end = run.run(server);

  check_end(run, end, 0, "success");
  BOOST_TEST(holds(end.errors, "context window is not known, 128000 tokens are assumed"));
  BOOST_TEST(holds(end.errors, "price is not known"));
  BOOST_TEST(run.result()["usage"]["cost_usd"].is_null());
  BOOST_TEST(run.result()["warnings"].items().size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_cost_beyond_the_policys_bounds_does_not_start) {
  const ProviderRun run;
  run.write("bounded.yaml", "version: 1\nextends: [auto]\nbounds: {budget: {cost: 2}}\n");
  const ModelServer server(
      {answer(message_item("done"), kSmallUsage), answer(message_item("done"), kSmallUsage)});

  const ProgramEnd beyond =
      run.run(server, {"--policy", run.path("bounded.yaml"), "--max-cost", "2.5"});
  BOOST_TEST(beyond.status == 2);
  BOOST_TEST(holds(beyond.errors, "--max-cost: a cost of 2.5 USD"), beyond.errors);
  BOOST_TEST(holds(beyond.errors, "bounds.budget.cost is 2 USD"), beyond.errors);

  // What the task does not ask for is held to the ceiling.
  const ProgramEnd within = run.run(server, {"--policy", run.path("bounded.yaml")});
  check_end(run, within, 0, "success");
  BOOST_TEST(run.records("run.started").at(0)["budget"]["cost_usd"].text() == "2");
}

BOOST_AUTO_TEST_CASE(a_replay_costs_nothing_unless_the_task_names_a_price) {
  for (const bool priced : {false, true}) {
    const RunFolder run;
    run.write("work/a.txt", "a\n");
    run.write_task(CassetteWriter().message("done"), "expect: {changes: any}\n");
    if (priced) {
      std::string task = read_file(run.task());
      const std::size_t at = task.find("provider: replay");
      BOOST_REQUIRE(at != std::string::npos);
      task.insert(at, "price: {input: 1, output: 1}, ");
      run.write("task.yaml", task);
    }

    const ProgramEnd end = run.run();

    BOOST_TEST(end.status == 0, end.errors);
    BOOST_TEST(run.result()["usage"]["cost_usd"].text() == (priced ? "0.00011" : "0"));
  }
}

BOOST_AUTO_TEST_CASE(a_task_check_shows_what_is_in_force) {
  const ProviderRun run;
  run.write_task("name: gpt-4o-2024-08-06");

  ProgramStart start = run.start("http://127.0.0.1:9/v1");
  start.argv = {start.argv.front(), "task", "check", run.task(), "-C", run.workspace()};
  const ProgramEnd end = run_program(start);

  BOOST_TEST(end.status == 0, end.errors);
  const Json model = parse_json(end.output)["model"];
  BOOST_TEST(model.integer_at("context_window") == 128'000);
  BOOST_TEST(model.integer_at("max_output_tokens") == 16'384);
  BOOST_TEST(model["price"]["output"].text() == "10");
}

BOOST_AUTO_TEST_SUITE_END()
