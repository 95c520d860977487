#include "core/provider/request_body.h"

#include <boost/test/unit_test.hpp>
#include <random>

#include "core/provider/wires.h"

using namespace sortie;

namespace {

struct Form {
  const char* wire;
  bool legacy;
};
constexpr Form kForms[] = {
    {"responses", false}, {"chat", false}, {"chat", true}, {"messages", false}};

std::string received_call(const std::string& wire, const std::string& id) {
  if (wire == "messages")
    return R"({"type":"tool_use","id":")" + id + R"(","name":"shell","input":{}})";
  return R"({"type":"function_call","call_id":")" + id + R"(","name":"shell","arguments":"{}"})";
}

constexpr std::size_t kLongestTail = 64;

/// One more turn; now and then without all of its outputs, or with a call id that was used before.
void add_turn(std::vector<Item>& items, const std::string& wire, std::mt19937& random) {
  const int source = static_cast<int>(random() % 2);
  const auto text = [&random](Message::Role role) {
    return Item{Message{role, random() % 5 == 0 ? " " : "text " + std::to_string(random())}};
  };
  if (random() % 3 == 0) items.push_back(text(Message::Role::user));
  if (random() % 3 == 0)
    items.push_back({Reasoning{"thought"}, R"({"type":"thinking","signature":"s"})", source});
  if (random() % 2 == 0) items.push_back(text(Message::Role::assistant));
  std::vector<std::string> ids;
  for (auto calls = random() % 3; calls > 0; --calls) {
    ids.push_back("call_" + std::to_string(random() % 40));
    items.push_back({ToolCall{ids.back(), "shell", "{}", ToolCall::Form::function},
                     random() % 2 == 0 ? received_call(wire, ids.back()) : "", source});
  }
  for (const std::string& id : ids) {
    if (random() % 8 == 0) continue;
    ToolOutput output{id, "out", true, ToolCall::Form::function};
    if (random() % 4 == 0) output.images = {{"image/png", "iVBORw0KGgo="}};
    items.push_back({std::move(output)});
  }
  items.push_back(text(Message::Role::user));
}

/// What a compaction makes of it, as far as a body can see.
void shorten(std::vector<Item>& items) {
  items.erase(items.begin() + 1, items.begin() + static_cast<long>(items.size() / 2 + 1));
  for (Item& item : items)
    if (auto* output = std::get_if<ToolOutput>(&item.content)) output->text = "[cut]";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(request_body)

BOOST_AUTO_TEST_CASE(a_grown_body_is_that_of_a_first_request_with_the_same_items) {
  std::mt19937 random(7);
  for (const Form& form : kForms) {
    for (int round = 0; round < 40; ++round) {
      BOOST_TEST_CONTEXT(form.wire << (form.legacy ? " (functions)" : "") << " round " << round) {
        const auto wire = make_wire(form.wire, {.legacy_functions = form.legacy});
        RequestBody grown(*wire);
        ModelSettings settings{.model = "m", .instructions = "Stage 0."};
        std::vector<Item> items = {{Message{Message::Role::user, "start"}}};
        PortableItems carried(1);  // what a fallback gets of it
        const bool falls_back = round % 2 == 0;
        int epoch = 0;
        std::string before;
        for (int turn = 0; turn < 30; ++turn) {
          bool same_prefix = turn > 0;
          add_turn(items, form.wire, random);
          if (random() % 10 == 0) {
            shorten(items);
            ++epoch;
            same_prefix = false;
          }
          if (random() % 10 == 0) {
            settings.instructions = "Stage " + std::to_string(turn) + ".";
            same_prefix = false;
          }
          const std::vector<Item>& sent = falls_back ? carried.update(items, epoch) : items;

          const RequestRecord record = grown.update({settings, sent, epoch});

          RequestBody fresh(*wire);
          const RequestRecord first = fresh.update({settings, sent, epoch});
          BOOST_REQUIRE(grown.bytes() == fresh.bytes());
          BOOST_REQUIRE(record.body_sha256 == first.body_sha256);
          if (same_prefix) {
            BOOST_REQUIRE(grown.bytes().starts_with(before.substr(0, record.prefix_bytes)));
            BOOST_REQUIRE(record.prefix_bytes + kLongestTail > before.size());
          }
          before = grown.bytes();
        }
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(a_request_that_is_sent_again_has_the_same_body) {
  for (const Form& form : kForms) {
    const auto wire = make_wire(form.wire, {.legacy_functions = form.legacy});
    RequestBody body(*wire);
    const ModelSettings settings{.model = "m"};
    const std::vector<Item> items = {{Message{Message::Role::user, "start"}}};
    body.update({settings, items, 0});
    const std::string before(body.bytes());

    const RequestRecord record = body.update({settings, items, 0});

    BOOST_TEST(body.bytes() == before);
    BOOST_TEST(record.prefix_bytes == before.size());
  }
}

BOOST_AUTO_TEST_SUITE_END()
