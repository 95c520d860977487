#include "core/agent/history.h"

#include <boost/test/unit_test.hpp>

#include "tests/fakes/scripted_model.h"

using namespace sortie;
using namespace sortie::test;

BOOST_AUTO_TEST_SUITE(history)

BOOST_AUTO_TEST_CASE(the_estimate_follows_what_was_measured) {
  History history;
  Item item = user("x");
  item.received = std::string(4000, 'x');
  history.add(item);

  BOOST_TEST(history.estimated_tokens() == 1000);
  BOOST_TEST(history.estimated_tokens(400) == 1100);
  history.measured(2200, 400);
  BOOST_TEST(history.estimated_tokens(400) == 2200);
  history.measured(1100, 400);
  BOOST_TEST(history.estimated_tokens(400) == 1100);
  history.measured(0, 400);
  BOOST_TEST(history.estimated_tokens(400) == 1100);
  history.measured(1'000'000, 400);
  BOOST_TEST(history.estimated_tokens(400) == 4400);
}

BOOST_AUTO_TEST_CASE(a_history_restored_from_its_items_is_shortened_alike) {
  const auto call = [](const char* id) { return Item{ToolCall{id, "shell", "{}"}}; };
  const auto output = [](const char* id) { return Item{ToolOutput{id, "out"}}; };
  History history;
  history.begin_prompt();
  for (const char* text : {"context", "prompt"}) history.add(user(text));
  for (const char* id : {"c1", "c2"}) {
    history.begin_turn();
    history.add(call(id));
    history.add(output(id));
  }
  history.begin_turn();
  history.add(assistant("in part"));
  history.add(user("a correction"));
  history.begin_turn();
  history.add(assistant("done"));
  history.begin_prompt();
  history.add(user("feedback"));
  history.begin_turn();
  history.add(call("c3"));
  history.add(output("c3"));

  History restored;
  restored.restore(history.items(), {"a correction"});

  BOOST_TEST(restored.turns() == history.turns());
  BOOST_TEST(restored.estimated_tokens() == history.estimated_tokens());
  const auto texts = [](const History& one) {
    std::string all;
    for (const Item& item : one.items()) {
      if (const auto* message = std::get_if<Message>(&item.content)) all += message->text + "|";
      if (const auto* made = std::get_if<ToolCall>(&item.content)) all += made->call_id + "|";
    }
    return all;
  };
  for (const int keep : {0, 1, 2, 3}) {
    History shorter = history;
    History other = restored;
    for (History* one : {&shorter, &other}) one->replace_by(user("<summary>\nS\n</summary>"), keep);
    BOOST_TEST(texts(other) == texts(shorter), keep);
    // And once more, with the summary in it.
    History again;
    again.restore(shorter.items(), {"a correction"});
    for (History* one : {&shorter, &again}) one->replace_by(user("<summary>\nT\n</summary>"), 1);
    BOOST_TEST(texts(again) == texts(shorter), keep);
  }
}

BOOST_AUTO_TEST_SUITE_END()
