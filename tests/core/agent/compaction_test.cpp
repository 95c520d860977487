#include "core/agent/history.h"

#include <boost/test/unit_test.hpp>

#include <map>

#include "core/text/output_buffer.h"
#include "tests/fakes/scripted_model.h"

using namespace sortie;
using namespace sortie::test;

namespace {

/// A prompt, then so many turns of reasoning, one call and its output.
History history_of(int turns, std::size_t output_bytes = 400) {
  History history;
  history.begin_prompt();
  history.add(user("docs"));
  history.add(user("prompt"));
  for (int turn = 0; turn < turns; ++turn) {
    const std::string id = "c" + std::to_string(turn);
    history.begin_turn();
    history.add({Reasoning{"hm"}});
    history.add(call(id));
    history.add({ToolOutput{id, std::string(output_bytes, 'x')}});
  }
  return history;
}

std::string text_at(const History& history, std::size_t index) {
  const Item& item = history.items().at(index);
  if (const auto* message = std::get_if<Message>(&item.content)) return message->text;
  if (const auto* output = std::get_if<ToolOutput>(&item.content)) return output->text;
  return {};
}

void check_paired(const History& history) {
  std::map<std::string, int> open;
  for (const Item& item : history.items()) {
    if (const auto* one = std::get_if<ToolCall>(&item.content)) ++open[one->call_id];
    if (const auto* one = std::get_if<ToolOutput>(&item.content)) --open[one->call_id];
  }
  for (const auto& [id, count] : open) BOOST_TEST(count == 0, id);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(compaction)

BOOST_AUTO_TEST_CASE(the_first_items_the_summary_and_the_last_turns_are_left) {
  const History history = history_of(10);

  const History shorter = with_summary(history, "all done", 2, 100'000, 0);

  BOOST_TEST(shorter.turns() == 2);
  BOOST_TEST(shorter.items().size() == 2u + 1u + 2u * 3u);
  BOOST_TEST(text_at(shorter, 0) == "docs");
  BOOST_TEST(text_at(shorter, 1) == "prompt");
  BOOST_TEST(text_at(shorter, 2).find("all done") != std::string::npos);
  BOOST_TEST(std::holds_alternative<Reasoning>(shorter.items()[3].content));
  BOOST_TEST(shorter.epoch() > history.epoch());
  check_paired(shorter);
}

BOOST_AUTO_TEST_CASE(fewer_turns_are_kept_where_they_take_too_much_room) {
  const History history = history_of(10, 4000);  // a thousand tokens each

  const struct {
    std::int64_t limit;
    int turns;
  } rows[] = {{100'000, 4}, {4'300, 3}, {3'000, 2}, {1'600, 1}, {60, 0}};
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.limit) {
      const History shorter = with_summary(history, "s", 4, row.limit, 0);
      BOOST_TEST(shorter.turns() == row.turns);
      check_paired(shorter);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_last_turn_that_is_too_large_alone_is_cut_to_head_and_tail) {
  const History history = history_of(3, 40'000);

  const History shorter = with_summary(history, "s", 2, 4'000, 0);

  BOOST_TEST(shorter.turns() == 1);
  BOOST_TEST(shorter.estimated_tokens() <= 3'000);
  const std::string output = text_at(shorter, 5);
  BOOST_TEST(output.size() > 4'000u);
  BOOST_TEST(output.find("left out") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_prompt_that_is_not_the_first_stays_while_it_is_the_last) {
  History history = history_of(3);
  history.begin_prompt();
  history.add(user("the second stage"));
  for (int turn = 0; turn < 5; ++turn) {
    history.begin_turn();
    history.add(assistant("working " + std::to_string(turn)));
  }

  History shorter = with_summary(history, "one", 2, 100'000, 0);
  BOOST_TEST(text_at(shorter, 3) == "the second stage");
  BOOST_TEST(text_at(shorter, 4) == "working 3");

  shorter.begin_turn();
  shorter.add(assistant("working 5"));
  shorter = with_summary(shorter, "two", 1, 100'000, 0);
  BOOST_TEST(text_at(shorter, 2).find("two") != std::string::npos);
  BOOST_TEST(text_at(shorter, 2).find("one") == std::string::npos);
  BOOST_TEST(text_at(shorter, 3) == "the second stage");
  BOOST_TEST(text_at(shorter, 4) == "working 5");
  BOOST_TEST(shorter.items().size() == 5u);

  shorter.begin_prompt();
  shorter.add(user("the third stage"));
  shorter.begin_turn();
  shorter.add(assistant("working 6"));
  shorter = with_summary(shorter, "three", 1, 100'000, 0);
  BOOST_TEST(text_at(shorter, 3) == "the third stage");
  BOOST_TEST(shorter.items().size() == 5u);
}

BOOST_AUTO_TEST_CASE(the_summary_of_a_summary_takes_its_place) {
  History history = history_of(4);
  for (int round = 0; round < 50; ++round) {
    history = with_summary(history, "round " + std::to_string(round), 0, 100'000, 0);
    BOOST_TEST(history.items().size() == 3u);
    history.begin_turn();
    history.add(assistant("more"));
  }
}

BOOST_AUTO_TEST_CASE(old_outputs_are_cut_to_a_line_each_until_the_rest_fits) {
  History history = history_of(10, 4000);
  const std::int64_t before = history.estimated_tokens();

  BOOST_TEST(history.cut_outputs(before - 2'500, 0));

  BOOST_TEST(text_at(history, 4).starts_with("[output of 3 KiB left out"));
  BOOST_TEST(text_at(history, 7).starts_with("["));
  BOOST_TEST(text_at(history, 10).starts_with("["));
  BOOST_TEST(text_at(history, 13).starts_with("xxx"));
  BOOST_TEST(history.items().size() == 2u + 30u);
  check_paired(history);

  BOOST_TEST(!history.cut_outputs(10, 0));
}

BOOST_AUTO_TEST_CASE(an_output_that_is_cut_again_keeps_the_path_of_the_whole) {
  const std::string path = "/out/state/outputs/output-7.txt";
  const std::string cut = "Exit code: 0\nOutput:\n" + std::string(4'000, 'a') +
                          "\n… 9 lines (1 KiB) left out; the whole output is in " + path + " …\n" +
                          std::string(4'000, 'z');
  History history = history_of(1);
  for (const char* id : {"old", "new"}) {
    history.begin_turn();
    history.add(call(id));
    history.add({ToolOutput{.call_id = id, .text = cut, .whole = path}});
  }

  BOOST_TEST(history.cut_outputs(history.estimated_tokens() - 2'500, 0));

  const auto output = [&](std::size_t from_end) {
    const auto& items = history.items();
    return std::get<ToolOutput>(items[items.size() - from_end].content).text;
  };
  BOOST_TEST(output(3) ==
             "… output of 7 KiB left out to save space; the whole output is in " + path + " …");
  BOOST_TEST(output(1).starts_with("Exit code: 0\n"));
  BOOST_TEST(
      output(1).find("left out; the whole output is in " + path + " …\nzzz") != std::string::npos,
      output(1));

  // However often it is cut.
  const std::string line = output(3);
  history.cut_outputs(10, 0);
  BOOST_TEST(output(3) == line);
  BOOST_TEST(output(1).find(path) != std::string::npos);
}

BOOST_AUTO_TEST_CASE(the_images_of_old_outputs_go_with_them) {
  History history = history_of(1);
  history.begin_turn();
  history.add(call("image"));
  history.add({ToolOutput{.call_id = "image",
                          .text = "",
                          .images = {Image{"image/png", std::string(1 << 20, 'A'), 750, 750}}}});
  history.begin_turn();
  history.add(assistant("a"));
  const std::int64_t with_image = history.estimated_tokens();
  BOOST_TEST(with_image < 1'200);  // its base64 is no text
  BOOST_TEST(with_image > 750);

  BOOST_TEST(history.cut_outputs(300, 0));
  BOOST_TEST(history.estimated_tokens() < 300);
}

BOOST_AUTO_TEST_CASE(room_is_left_for_the_longest_response) {
  const struct {
    std::int64_t window;
    std::int64_t output;
    double compact_at;
    std::int64_t trigger;
  } rows[] = {
      {100'000, 10'000, 0.8, 80'000},
      {100'000, 40'000, 0.8, 60'000},
      {100'000, 10'000, 1, 90'000},
      {1'000, 500, 0.8, 500},
  };
  for (const auto& row : rows) {
    const ModelLimits terms{.context_window = row.window, .max_output_tokens = row.output};
    BOOST_TEST(context_budget(terms, row.compact_at).trigger == row.trigger);
  }
}

BOOST_AUTO_TEST_CASE(the_estimate_of_text_is_corrected_and_that_of_images_is_not) {
  History history;
  history.add({Message{
      Message::Role::user, std::string(3960, 'x'), {Image{"image/png", "AAAA", 750, 750}}}});
  BOOST_TEST(history.estimated_tokens() == 1750);
  history.measured(2750);
  BOOST_TEST(history.estimated_tokens() == 2750);
  history.count_images_by({ImageRule::Kind::tiles, 85, 170});
  BOOST_TEST(history.estimated_tokens() == 2000 + 85 + 4 * 170);
}

BOOST_AUTO_TEST_SUITE_END()
