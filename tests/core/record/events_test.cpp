#include "core/record/event_codec.h"

#include <boost/test/unit_test.hpp>

#include "core/files/files.h"
#include "core/record/transcript.h"
#include "tests/core/record/sample_run.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/scripted_model.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

BOOST_AUTO_TEST_SUITE(events)

BOOST_AUTO_TEST_CASE(sinks_hear_of_an_event_in_their_order_without_secrets) {
  class Order : public EventSink {
   public:
    Order(std::string& log, char name) : log_(log), name_(name) {}
    void on(const RunEvent& event) override {
      log_ += name_ + std::get<ToolOutputRecord>(event.what).output;
    }

   private:
    std::string& log_;
    char name_;
  };
  const Redactor redactor(std::vector<Secret>{{"K", "s3cret-value"}});
  std::string log;
  Order first(log, '1');
  Order second(log, '2');
  EventFanout fanout(redactor);
  fanout.add(first);
  fanout.add(second);

  fanout.on(
      RunEvent{1, ToolOutputRecord{.call_id = "c", .tool = "shell", .output = "s3cret-value"}});

  BOOST_TEST(log == "1[REDACTED:K]2[REDACTED:K]");
}

BOOST_AUTO_TEST_CASE(an_event_that_is_consumed_is_told_and_recorded_like_any_other) {
  class Told : public EventSink {
   public:
    std::string log;
    void on(const RunEvent& event) override {
      const Record record = to_record(event);
      log += record.type + ' ' + std::to_string(record.turn) + ' ' + write_json(record.data) + '\n';
    }
  };
  const Redactor redactor(std::vector<Secret>{{"K", "s3cret-value"}});
  const RunEvent rows[] = {
      {1, ModelAnswered{.id = "a", .items = Json::array({"plain", Json::array({1})})}},
      {2, ModelAnswered{.id = "a", .items = Json::array({"a s3cret-value"})}},
      {3, ModelAnswered{.id = "s3cret-value"}},
      {4, CheckRecord{.check = "c", .saw = "s3cret-value"}},
  };
  for (const RunEvent& event : rows) {
    const auto made = [&](bool consumed) {
      const TemporaryFolder folder;
      FakeClock clock;
      Transcript transcript(folder.path(), clock);
      Told told;
      EventFanout fanout(redactor);
      fanout.record_to(transcript);
      fanout.add(told);
      if (consumed)
        fanout.consume(RunEvent(event));
      else
        fanout.on(event);
      BOOST_TEST(fanout.turn() == event.turn);
      return told.log + read_file(folder / kTranscriptName);
    };
    BOOST_TEST(made(true) == made(false));
  }
}

BOOST_AUTO_TEST_CASE(a_decision_becomes_part_of_its_approval_record) {
  const Record event = to_record(
      approval_event(3, {.call_id = "c1", .name = "shell"}, Json::array(),
                     Json::object({{"decision", "deny"}, {"reason", "no rule allows it"}})));

  BOOST_TEST(event.type == "approval");
  BOOST_TEST(event.turn == 3);
  BOOST_TEST(write_json(event.data) ==
             R"({"call_id":"c1","tool":"shell","actions":[],"decision":"deny",)"
             R"("reason":"no rule allows it","audit_flags":[]})");
}

BOOST_AUTO_TEST_CASE(a_received_item_is_recorded_as_it_came) {
  Item item = assistant("hi");
  BOOST_TEST(write_json(to_json(item)) == R"({"type":"message","role":"assistant","text":"hi"})");

  item.received = R"({"type":"message","id":"m1","n":1.0})";
  BOOST_TEST(write_json(to_json(item)) == item.received);
}

BOOST_AUTO_TEST_CASE(a_response_with_items_of_no_use_is_recorded_whole) {
  Response made = response({assistant("hi")});
  made.items[0].received = R"({"type":"message","n":1.0})";
  made.output = {made.items[0].received, R"({"type":"function_call"})"};
  BOOST_TEST(!to_record(model_response_event(1, made)).data.find("output"));

  made.findings = {"Your call was not run."};
  BOOST_TEST(write_json(to_record(model_response_event(1, made)).data["output"]) ==
             R"([{"type":"message","n":1.0},{"type":"function_call"}])");
}

BOOST_AUTO_TEST_CASE(items_that_came_as_one_are_recorded_as_that_one) {
  Response made = response({assistant("hi"), assistant("ho")});
  made.output = {R"({"role":"assistant","content":"hi\n\nho"})"};
  made.findings = {"Your call was not run."};
  const Json data = to_record(model_response_event(1, made)).data;

  BOOST_TEST(write_json(data["items"]) == "[" + made.output[0] + "]");
  BOOST_TEST(!data.find("output"));
}

BOOST_AUTO_TEST_CASE(modes_are_four_octal_digits) {
  const Record event = to_record(RunEvent{
      1, FileChange{.path = "a", .kind = ChangeKind::move, .moved_from = "b", .mode = 0100755}});

  BOOST_TEST(event.data.string_at("mode") == "0755");
  BOOST_TEST(event.data.string_at("moved_from") == "b");
  BOOST_TEST(event.data["sha256_before"].is_null());
}

BOOST_AUTO_TEST_CASE(what_is_read_of_a_record_is_written_as_the_same_record) {
  for (const RunEvent& event : sample_events()) {
    const Record record = to_record(event);
    const auto read = read_event(record.type, record.turn, record.data);
    BOOST_REQUIRE(read.has_value());
    BOOST_TEST(read->what.index() == event.what.index());
    BOOST_TEST(write_json(to_record(*read).data) == write_json(record.data));
  }
  BOOST_TEST(!read_event("of.another.version", 1, Json::object()).has_value());
}

BOOST_AUTO_TEST_CASE(a_record_that_is_not_as_it_should_be_is_read_as_far_as_it_is) {
  const Json odd = parse_json(
      R"({"call_id":7,"tool":"shell","exit":"[REDACTED:A]","dropped_bytes":"x","output":{"blob":"b"}})");
  const auto read = read_event("tool.output", 2, odd);
  BOOST_REQUIRE(read.has_value());
  const auto& output = std::get<ToolOutputRecord>(read->what);
  BOOST_TEST(output.call_id == "");
  BOOST_TEST(output.tool == "shell");
  BOOST_TEST(output.dropped_bytes == 0u);
  BOOST_TEST(output.output == "");
  for (const RunEvent& event : sample_events())
    for (const char* data : {"null", "{}", "[]", "\"text\""})
      BOOST_TEST(read_event(to_record(event).type, 1, parse_json(data)).has_value());
}

BOOST_AUTO_TEST_CASE(secrets_in_any_member_reach_neither_the_record_nor_a_sink) {
  class Last : public EventSink {
   public:
    void on(const RunEvent& event) override { text = write_json(to_record(event).data); }
    std::string text;
  };
  const std::string secret = "s3cret-value";
  const Redactor redactor(std::vector<Secret>{{"K", secret}});
  const RunEvent rows[] = {
      {1, CheckRecord{"image_refused", secret, secret, {secret}}},
      {1, PlanUpdated{secret, Json::array({Json::object({{"step", secret}})})}},
      {1, ModelAnswered{.id = secret, .items = Json::array({Json::object({{secret, secret}})})}},
      {1, RetryRecord{.kind = secret, .message = secret}},
      {1, ToolCalled{{secret, secret, secret}, ToolOrigin{secret, secret}}},
      {1, RunEnd{.reason = secret, .artifacts = {{secret, secret}}}},
  };
  for (const RunEvent& event : rows) {
    Last last;
    EventFanout fanout(redactor);
    fanout.add(last);
    fanout.on(event);
    BOOST_TEST(last.text.find(secret) == std::string::npos, last.text);
    BOOST_TEST(last.text.find("[REDACTED:K]") != std::string::npos, last.text);
  }
}

BOOST_AUTO_TEST_SUITE_END()
