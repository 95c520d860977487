#include "core/agent/model_limits.h"

#include <boost/test/unit_test.hpp>

using namespace sortie;

namespace {

TaskModel model(const std::string& provider, const std::string& name) {
  TaskModel made;
  made.provider = provider;
  made.name = name;
  return made;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(model_terms)

BOOST_AUTO_TEST_CASE(terms_come_from_the_task_then_from_the_table) {
  TaskModel own = model("local", "llama");
  own.context_window = 8192;
  own.price = ModelPrice{.input = 1, .output = 2};
  const struct {
    const char* name;
    TaskModel model;
    std::int64_t window;
    std::int64_t output;
    std::optional<double> input_price;
  } rows[] = {
      {"known", model("openai", "gpt-5-codex"), 272'000, 32'768, 1.25},
      {"known by its snapshot", model("openai-chat", "gpt-4o-2024-08-06"), 128'000, 16'384, 2.5},
      {"known of the other vendor", model("anthropic", "claude-opus-4-1"), 200'000, 32'000, 15.0},
      {"under another vendor's name", model("anthropic", "gpt-5"), 128'000, 32'768, {}},
      {"azure's prices are its own", model("azure", "gpt-5"), 272'000, 32'768, {}},
      {"a server of one's own", model("local", "gpt-5"), 128'000, 32'768, {}},
      {"a recording", model("replay", "gpt-5"), 272'000, 32'768, 0.0},
      {"said by the task", own, 8192, 4096, 1.0},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      const ModelLimits terms = model_limits(row.model);
      BOOST_TEST(terms.context_window == row.window);
      BOOST_TEST(terms.max_output_tokens == row.output);
      BOOST_TEST(terms.price.has_value() == row.input_price.has_value());
      if (terms.price && row.input_price) BOOST_TEST(terms.price->input == *row.input_price);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_task_does_not_make_a_model_cheap) {
  TaskModel task = model("openai", "gpt-5-codex");  // 1.25, 0.125 cached, 10
  const ModelPrice known = *model_limits(task).price;
  const struct {
    const char* name;
    ModelPrice said;
    Prices prices;
    double input, output;
    LimitSource from;
  } rows[] = {
      {"nothing", {}, Prices::dearer, known.input, known.output, LimitSource::table},
      {"cheaper in part",
       {.input = 5, .output = 0},
       Prices::dearer,
       5,
       known.output,
       LimitSource::table},
      {"dearer", {.input = 50, .output = 100}, Prices::dearer, 50, 100, LimitSource::task},
      {"by the policy's leave", {}, Prices::of_task, 0, 0, LimitSource::task},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.name) {
      task.price = row.said;
      const ModelLimits terms = model_limits(task, row.prices);
      BOOST_TEST(terms.price->input == row.input);
      BOOST_TEST(terms.price->output == row.output);
      BOOST_TEST((terms.price_from == row.from));
      BOOST_TEST(terms.in_price_list);
    }
  }
  for (const char* provider : {"local", "azure"}) {
    TaskModel unknown = model(provider, "gpt-5-codex");
    unknown.price = ModelPrice{};
    BOOST_TEST(!model_limits(unknown).in_price_list, provider);
  }
}

BOOST_AUTO_TEST_CASE(what_is_not_known_is_said_once_a_model) {
  TaskModel task = model("openai", "gpt-5");
  task.fallback = {model("local", "llama"), model("azure", "gpt-5")};
  const auto terms = all_model_limits(task);

  BOOST_TEST(terms.size() == 3u);
  const auto lines = unknown_limits(terms);
  BOOST_REQUIRE(lines.size() == 2u);
  BOOST_TEST(lines[0].starts_with("model local llama: its context window is not known, 128000"));
  BOOST_TEST(lines[0].find("its price is not known") != std::string::npos);
  BOOST_TEST(lines[1].starts_with("model azure gpt-5: its price is not known"));
  BOOST_TEST(unknown_limits(all_model_limits(model("replay", "anything"))).empty());
  TaskModel replayed = model("replay", "anything");
  replayed.fallback = {model("openai", "gpt-5")};
  BOOST_TEST(all_model_limits(replayed).at(1).price->output == 0);
}

BOOST_AUTO_TEST_CASE(what_is_in_force_can_be_read_from_the_task) {
  TaskModel task = model("openai", "gpt-4o");
  task.fallback = {model("anthropic", "claude-3-5-haiku")};

  apply_limits(all_model_limits(task), task);

  BOOST_TEST((task.context_window == 128'000));
  BOOST_TEST(task.max_output_tokens == 16'384);
  BOOST_TEST(task.fallback[0].max_output_tokens == 8'192);
  BOOST_TEST(task.fallback[0].price->output == 4);
}

BOOST_AUTO_TEST_SUITE_END()
