// The responses of a long run, which several threads read.
#include "app/run/resumption.h"

#include <boost/test/unit_test.hpp>
#include <cstddef>
#include <string>
#include <variant>

#include "core/base/error.h"

namespace sortie::test {
namespace {

RunHistory history_of(std::size_t turns) {
  RunHistory history;
  for (std::size_t i = 0; i < turns; ++i) {
    RecordedTurn& turn = history.turns.emplace_back();
    turn.number = static_cast<int>(i) + 1;
    turn.requests.push_back({.wire = "responses"});
    turn.response.emplace();
    turn.response->usage = Json::object();
    turn.response->items.push_back(Json::object(
        {{"type", "message"},
         {"role", "assistant"},
         {"content", Json::array({Json::object(
                         {{"type", "output_text"}, {"text", "answer " + std::to_string(i)}})})}}));
  }
  return history;
}

BOOST_AUTO_TEST_SUITE(resumption)

BOOST_AUTO_TEST_CASE(each_response_stands_at_its_turn_however_many_there_are) {
  for (const std::size_t turns : {0u, 1u, 127u, 128u, 129u, 301u}) {
    const auto responses = responses_of(history_of(turns), {}, {});
    BOOST_REQUIRE(responses.size() == turns);
    for (std::size_t i = 0; i < turns; ++i) {
      BOOST_REQUIRE(responses[i].items.size() == 1u);
      const auto* message = std::get_if<Message>(&responses[i].items.front().content);
      BOOST_REQUIRE(message != nullptr);
      BOOST_TEST(message->text == "answer " + std::to_string(i));
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_no_part_of_the_conversation_has_no_items) {
  RunHistory history = history_of(200);
  history.turns[3].response->aside = true;
  history.turns[150].response.reset();
  const auto responses = responses_of(history, {}, {});
  BOOST_TEST(responses[3].items.empty());
  BOOST_TEST(responses[150].items.empty());
  BOOST_TEST(!responses[199].items.empty());
}

BOOST_AUTO_TEST_CASE(one_that_can_not_be_read_ends_the_run_whichever_thread_met_it) {
  for (const std::size_t wrong : {0u, 10u, 299u}) {
    RunHistory history = history_of(300);
    history.turns[wrong].requests.back().wire = "pigeon";
    BOOST_CHECK_EXCEPTION(responses_of(history, {}, {}), Error, [](const Error& error) {
      return error.code() == ExitCode::integrity &&
             std::string(error.what()).find("pigeon") != std::string::npos;
    });
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace sortie::test
