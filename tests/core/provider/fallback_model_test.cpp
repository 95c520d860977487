#include "core/provider/fallback_model.h"

#include <boost/test/unit_test.hpp>

#include "tests/fakes/scripted_model.h"
#include "tests/support/stream_list.h"

using namespace sortie;
using namespace sortie::test;
using namespace std::chrono_literals;

namespace {

/// Two models by script under one FallbackModel; the second has settings of its own.
struct Bench {
  explicit Bench(int models = 2) {
    std::vector<FallbackModel::Candidate> candidates;
    for (int i = 0; i < models; ++i) {
      auto script = std::make_unique<ScriptedModel>();
      scripts.push_back(script.get());
      candidates.push_back(
          {.name = "provider model-" + std::to_string(i), .model = std::move(script), .source = i});
      if (i > 0)
        candidates.back().settings = [this, i](const ModelSettings& first) {
          ModelSettings own = first;
          own.model = "model-" + std::to_string(i);
          seen = own.model;
          return own;
        };
    }
    model = std::make_unique<FallbackModel>(std::move(candidates));
  }

  Response ask() {
    return model->ask({settings, items, epoch}, stream, std::chrono::steady_clock::now() + 1h, {});
  }
  /// What the request ends in, where it fails.
  std::optional<ModelError> failure() {
    try {
      ask();
      return std::nullopt;
    } catch (const ModelError& error) {
      return error;
    }
  }
  void fail(std::size_t script, ExitCode code, const std::string& kind) {
    scripts[script]->answers.push_back(
        [=]() -> Response { throw ModelError(kind + " happened", code, kind); });
  }

  std::vector<ScriptedModel*> scripts;
  std::unique_ptr<FallbackModel> model;
  StreamList stream;
  ModelSettings settings{.model = "model-0"};
  std::vector<Item> items = {user("hi")};
  int epoch = 0;
  std::string seen;  ///< the model's name in the settings that a fallback got
};

}  // namespace

BOOST_AUTO_TEST_SUITE(fallback_model)

BOOST_AUTO_TEST_CASE(the_next_model_takes_over_where_it_may_do_better_and_nowhere_else) {
  const struct {
    ExitCode code;
    const char* kind;
    bool hands_over;
  } rows[] = {
      {ExitCode::unavailable, "server_error", true},
      {ExitCode::unavailable, "connect", true},
      {ExitCode::limited, "rate_limit", true},
      {ExitCode::limited, "quota", true},
      {ExitCode::auth, "auth", true},
      {ExitCode::refused, "unknown_model", true},
      {ExitCode::refused, "invalid_request", false},
      {ExitCode::refused, "context_length", false},
      {ExitCode::refused, "content_filter", false},
      {ExitCode::refused, "redirect", false},
      {ExitCode::refused, "pin", false},
      {ExitCode::budget, "time", false},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.kind) {
      Bench bench;
      bench.fail(0, row.code, row.kind);
      bench.scripts[1]->add(response({assistant("hello")}));

      const auto failure = bench.failure();

      BOOST_TEST(failure.has_value() != row.hands_over);
      BOOST_TEST(bench.scripts[1]->requests.size() == (row.hands_over ? 1u : 0u));
      BOOST_REQUIRE(bench.stream.fallbacks.size() == (row.hands_over ? 1u : 0u));
      if (!row.hands_over) {
        BOOST_TEST((failure->code() == row.code));
        BOOST_TEST(failure->kind() == row.kind);
        continue;
      }
      BOOST_TEST(bench.stream.fallbacks[0].from == "provider model-0");
      BOOST_TEST(bench.stream.fallbacks[0].to == "provider model-1");
      BOOST_TEST(bench.stream.fallbacks[0].reason == std::string(row.kind) + " happened");
      BOOST_TEST(bench.seen == "model-1");
    }
  }
}

BOOST_AUTO_TEST_CASE(a_stop_request_is_no_failure_of_the_model) {
  Bench bench;
  bench.scripts[0]->answers.push_back([]() -> Response { throw Stopped(); });

  BOOST_CHECK_THROW(bench.ask(), Stopped);
  BOOST_TEST(bench.scripts[1]->requests.empty());
}

BOOST_AUTO_TEST_CASE(a_model_that_took_over_stays_and_marks_what_it_answers) {
  Bench bench;
  bench.fail(0, ExitCode::unavailable, "server_error");
  bench.scripts[1]->add(response({assistant("one")}));
  bench.scripts[1]->add(response({assistant("two")}));

  const Response first = bench.ask();
  const Response second = bench.ask();

  BOOST_TEST(bench.scripts[0]->requests.size() == 1u);
  BOOST_TEST(bench.stream.fallbacks.size() == 1u);
  BOOST_TEST(first.source == 1);
  BOOST_TEST(second.items[0].source == 1);
}

BOOST_AUTO_TEST_CASE(what_came_from_another_model_loses_what_only_that_one_can_read) {
  Bench bench;
  Item thought{Reasoning{"hm"}, "{\"encrypted\":1}"};
  Item search{ProviderItem{"web_search_call", "searched"}, "{}"};
  Item called = call("c1");
  called.received = "{\"id\":\"fc_1\"}";
  bench.items = {user("hi"), thought, search, called, {ToolOutput{"c1", "ok"}}};
  bench.fail(0, ExitCode::limited, "quota");
  Item own{Reasoning{"mine"}, "{\"signature\":1}"};
  bench.scripts[1]->add(response({own}));
  bench.scripts[1]->add(response({assistant("done")}));

  const Response first = bench.ask();
  for (const Item& item : first.items) bench.items.push_back(item);
  bench.items.push_back(user("go on"));
  bench.ask();

  const auto& sent = bench.scripts[1]->requests;
  BOOST_REQUIRE(sent.size() == 2);
  BOOST_REQUIRE(sent[0].size() == 3);
  BOOST_TEST(std::get<ToolCall>(sent[0][1].content).call_id == "c1");
  BOOST_TEST(sent[0][1].received.empty());
  BOOST_TEST(bench.stream.fallbacks[0].dropped == 2);
  BOOST_REQUIRE(sent[1].size() == 5);
  BOOST_TEST(sent[1][3].received == "{\"signature\":1}");
  // On record the new items are those of the whole history: the scripted model knew three.
  BOOST_TEST(bench.stream.requests.back().first_new_item == 5u);
}

BOOST_AUTO_TEST_CASE(a_new_epoch_is_carried_over_anew) {
  Bench bench;
  bench.items = {user("long"), {Reasoning{"hm"}, "{}"}, user("longer")};
  bench.fail(0, ExitCode::unavailable, "cut");
  bench.scripts[1]->add(response({assistant("one")}));
  bench.scripts[1]->add(response({assistant("two")}));
  bench.ask();

  bench.items = {user("summary"), user("more"), user("and more")};
  bench.epoch = 1;
  bench.ask();

  const auto& last = bench.scripts[1]->requests.back();
  BOOST_REQUIRE(last.size() == 3);
  BOOST_TEST(std::get<Message>(last[0].content).text == "summary");
}

BOOST_AUTO_TEST_CASE(when_all_have_failed_the_last_ones_end_names_each) {
  Bench bench(3);
  bench.fail(0, ExitCode::unavailable, "server_error");
  bench.fail(1, ExitCode::auth, "auth");
  bench.scripts[2]->answers.push_back([]() -> Response {
    throw ModelError("come back tomorrow", ExitCode::limited, "quota", 24h);
  });

  const auto failure = bench.failure();

  BOOST_REQUIRE(failure);
  BOOST_TEST((failure->code() == ExitCode::limited));
  BOOST_TEST(failure->kind() == "quota");
  BOOST_TEST((failure->retry_after() == std::optional<std::chrono::milliseconds>(24h)));
  BOOST_TEST(failure->what() ==
             std::string("all models of the run have failed; provider model-0: server_error "
                         "happened; provider model-1: auth happened; provider model-2: come back "
                         "tomorrow"));
  BOOST_TEST(bench.stream.fallbacks.size() == 2u);
}

BOOST_AUTO_TEST_SUITE_END()
