#include "tests/support/event_check.h"

#include <boost/test/unit_test.hpp>
#include <map>
#include <string_view>

#include "core/json/json_schema.h"
#include "core/text/text.h"
#include "tests/support/program.h"

namespace sortie::test {
namespace {

const JsonSchema& event_schema() {
  static const JsonSchema schema(
      parse_json(run_program({.argv = {sortie_binary(), "schema", "event"}}).output));
  return schema;
}

std::vector<Json> parsed(const std::string& stream) {
  std::vector<Json> events;
  BOOST_TEST((stream.empty() || stream.ends_with('\n')), "the last line is torn");
  for (const auto line : split_lines(stream)) {
    const std::string shown(utf8_prefix(line, 2000));
    try {
      events.push_back(parse_json(line));
    } catch (const JsonError& error) {
      BOOST_ERROR("no JSON: " << error.what() << ": " << shown);
      continue;
    }
    const std::string findings = describe(event_schema().check(events.back()));
    BOOST_TEST(findings == "", shown);
  }
  return events;
}

/// One line of each of these, at the beginning and at the end.
void check_frame(const std::vector<Json>& events, int exit_code) {
  std::map<std::string, int> count;
  for (const Json& event : events) ++count[event.string_at("type")];
  BOOST_REQUIRE(events.size() >= 4);
  const std::string end = exit_code == 0 ? "turn.completed" : "turn.failed";
  BOOST_TEST(events[0].string_at("type") == "thread.started");
  BOOST_TEST(events[1].string_at("type") == "turn.started");
  BOOST_TEST(events[events.size() - 2].string_at("type") == end);
  BOOST_TEST(events.back().string_at("type") == "run.completed");
  BOOST_TEST(events.back().integer_at("exit_code", -1) == exit_code);
  for (const char* once : {"thread.started", "turn.started", "run.completed"})
    BOOST_TEST(count[once] == 1, once);
  BOOST_TEST(count["turn.completed"] + count["turn.failed"] == 1);
}

/// Each id is the next one when it is first seen; what was started is completed, once, and last.
void check_items(const std::vector<Json>& events) {
  struct Seen {
    std::string type;
    bool started = false;
    bool completed = false;
  };
  std::map<std::string, Seen> items;
  for (const Json& event : events) {
    const std::string type = event.string_at("type");
    if (!type.starts_with("item.")) continue;
    const Json& item = event["item"];
    const std::string id = item.string_at("id");
    if (items.count(id) == 0) {
      BOOST_TEST(id == "item_" + std::to_string(items.size()));
      BOOST_TEST(type != "item.updated", id);
      items[id].type = item.string_at("type");
    } else {
      BOOST_TEST(type != "item.started", id);
    }
    Seen& seen = items[id];
    BOOST_TEST(seen.type == item.string_at("type"), id);
    BOOST_TEST(!seen.completed, id << " goes on after its end");
    seen.started = seen.started || type == "item.started";
    seen.completed = type == "item.completed";
    const bool comes_at_once =
        seen.type == "agent_message" || seen.type == "reasoning" || seen.type == "error";
    BOOST_TEST(seen.started != comes_at_once, id);
  }
  for (const auto& [id, seen] : items) BOOST_TEST(seen.completed, id << " has no end");
}

}  // namespace

std::vector<Json> check_events(const std::string& stream, int exit_code) {
  std::vector<Json> events = parsed(stream);
  // A usage error, a busy output folder or one that can't be made: no run came about.
  const bool may_be_none = exit_code == 2 || exit_code == 7 || exit_code == 12;
  if (!stream.empty() || !may_be_none) {
    check_frame(events, exit_code);
    check_items(events);
  }
  return events;
}

std::string final_message(const std::vector<Json>& events) {
  std::string text;
  for (const Json& item : items_of(events, "item.completed"))
    if (item.string_at("type") == "agent_message") text = item.string_at("text");
  return text;
}

std::vector<Json> items_of(const std::vector<Json>& events, const std::string& type) {
  std::vector<Json> items;
  for (const Json& event : events)
    if (event.string_at("type") == type) items.push_back(event["item"]);
  return items;
}

}  // namespace sortie::test
