#include "core/provider/replay_model.h"

#include <boost/test/unit_test.hpp>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/files/files.h"
#include "core/model/responses/openai_responses.h"
#include "core/provider/cassette.h"
#include "core/provider/http_model.h"
#include "core/provider/wires.h"
#include "core/record/event_codec.h"
#include "tests/fakes/fake_clock.h"
#include "tests/fakes/fake_http.h"
#include "tests/support/decoded_stream.h"
#include "tests/support/stream_list.h"
#include "tests/support/temporary_folder.h"

using namespace sortie;
using namespace sortie::test;

namespace {

constexpr auto kNever = std::chrono::steady_clock::time_point::max();

std::string recorded_stream(const std::string& name) {
  return read_file(SORTIE_SOURCE_DIR "/tests/data/streams/" + name + "/stream.sse");
}

struct Bench {
  TemporaryFolder folder;
  OpenAiResponses wire;
  StreamList stream;
  ModelSettings settings{.model = "m"};
  std::vector<Item> items = {{Message{Message::Role::user, "hi"}}};

  std::filesystem::path file(const std::string& text) {
    write_file(folder / "cassette.jsonl", text);
    return folder / "cassette.jsonl";
  }
  Response ask(Model& model) { return model.ask({settings, items, 0}, stream, kNever, {}); }
};

/// What goes back to the provider, item by item.
std::vector<std::string> received_of(const Response& response) {
  std::vector<std::string> texts;
  for (const Item& item : response.items) texts.push_back(item.received);
  return texts;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(replay_model)

BOOST_AUTO_TEST_CASE(a_stream_that_was_cut_for_going_round_in_circles_is_cut_again) {
  Bench bench;
  FakeHttp http;
  FakeClock clock;
  std::string sse = "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\n";
  for (int i = 0; i < 400; ++i)
    sse +=
        "data: {\"type\":\"response.output_text.delta\",\"delta\":\"I will look once "
        "more.\\n\"}\n\n";
  http.replies = {FakeHttp::stream(sse)};
  Recording recording(bench.folder / "cassette.jsonl",
                      [](std::string_view text) { return std::string(text); });
  HttpModel live(bench.wire, http, clock,
                 {.endpoint = {.base = parse_url("https://a.example")},
                  .stop_repetition = true,
                  .recording = &recording});

  const Response first = live.ask({bench.settings, bench.items, 0}, bench.stream,
                                  clock.steady() + std::chrono::hours(1), {});
  ReplayModel replay(read_cassette(bench.folder / "cassette.jsonl"));
  const Response again = bench.ask(replay);

  BOOST_TEST(first.stop_reason == "repetition");
  BOOST_TEST(first.repeated.size() == 23u);
  BOOST_TEST(first.cut_bytes >= 8'000u);  // of which the item has the passage once
  BOOST_REQUIRE(first.items.size() == 1);
  BOOST_TEST(std::get<Message>(first.items[0].content).text.size() < 50u);
  BOOST_TEST(again.repeated == first.repeated);
  BOOST_TEST(std::get<Message>(again.items[0].content).text ==
             std::get<Message>(first.items[0].content).text);

  // Let through it has no end.
  ReplayModel through(read_cassette(bench.folder / "cassette.jsonl"));
  BOOST_CHECK_THROW(through.ask({bench.settings, bench.items, 0, true}, bench.stream,
                                clock.steady() + std::chrono::hours(1), {}),
                    ModelError);

  const Json record = to_record(model_response_event(1, first)).data;
  for (const char* wire : {"responses", "chat", "messages"}) {
    ReplayModel recorded({{.wire = wire,
                           .headers = {{"Content-Type", "text/event-stream"}},
                           .sse = response_stream(wire, record).value()}});
    const Response cut = bench.ask(recorded);
    BOOST_TEST(cut.stop_reason == "repetition", wire);
    BOOST_TEST(cut.repeated.size() == first.repeated.size(), wire);
    BOOST_TEST(std::get<Message>(cut.items.at(0).content).text ==
               std::get<Message>(first.items[0].content).text);
  }
}

BOOST_AUTO_TEST_CASE(what_was_recorded_is_replayed_with_secrets_removed) {
  Bench bench;
  FakeHttp http;
  FakeClock clock;
  http.replies = {FakeHttp::stream(recorded_stream("text")),
                  {.head = {503, {}}},
                  FakeHttp::stream(recorded_stream("tool_calls"))};
  Recording recording(bench.folder / "cassette.jsonl", [](std::string_view text) {
    std::string shown(text);
    if (const auto at = shown.find("done"); at != std::string::npos) shown.replace(at, 4, "[R]");
    return shown;
  });
  HttpModel live(bench.wire, http, clock,
                 {.endpoint = {.base = parse_url("https://a.example")}, .recording = &recording});
  const auto deadline = clock.steady() + std::chrono::hours(1);
  const Response first = live.ask({bench.settings, bench.items, 0}, bench.stream, deadline, {});
  const Response second = live.ask({bench.settings, bench.items, 0}, bench.stream, deadline, {});

  ReplayModel replay(read_cassette(bench.folder / "cassette.jsonl"));
  const Response first_again = bench.ask(replay);
  const Response second_again = bench.ask(replay);

  BOOST_TEST((received_of(second_again) == received_of(second)));
  BOOST_REQUIRE(!first_again.items.empty());
  BOOST_TEST(first_again.id == first.id);
  BOOST_TEST((first_again.usage == first.usage));
  BOOST_TEST(first_again.items.back().received.find("[R]") ==
             std::string::npos);  // only its first place
  BOOST_TEST(bench.stream.requests.back().provider == "replay");
  BOOST_TEST(bench.stream.requests.back().wire == "responses");
  BOOST_CHECK_EXCEPTION(bench.ask(replay), ModelError, [](const ModelError& error) {
    BOOST_TEST(error.what() == std::string("the cassette has no response for request 3"));
    return error.kind() == "cassette" && error.code() == ExitCode::refused;
  });
}

BOOST_AUTO_TEST_CASE(a_transcript_gives_its_responses_findings_included) {
  Bench bench;
  std::filesystem::create_directory(bench.folder / "blobs");
  write_file(bench.folder / "blobs" / "sha256-0a", "long text");
  const auto file = bench.file(
      R"({"seq":0,"type":"run.started","data":{}})"
      "\n"
      R"({"seq":1,"type":"model.response","data":{"response_id":"r1","served_model":"m1","stop_reason":"completed","usage":{"input_tokens":5,"output_tokens":2},"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":{"blob":"sha256-0a","bytes":9,"head":"lo"}}]},{"type":"function_call","name":"x","arguments":"{}"}]}})"
      "\n"
      R"({"seq":2,"type":"model.response","data":{"id":"r2","stop_reason":"max_output_tokens","items":[{"type":"message","role":"assistant","content":"part"}]}})"
      "\n");
  ReplayModel model(read_cassette(file));

  const Response first = bench.ask(model);
  const Response second = bench.ask(model);

  BOOST_TEST(first.id == "r1");
  BOOST_TEST(first.served_model == "m1");
  BOOST_TEST(first.usage->input_tokens == 5);
  BOOST_REQUIRE(first.items.size() == 1u);
  BOOST_TEST(std::get<Message>(first.items[0].content).text == "long text");
  BOOST_TEST(first.findings.size() == 1u);
  BOOST_TEST(second.incomplete);
  BOOST_TEST(second.id == "r2");
  BOOST_REQUIRE(second.items.size() == 1u);
  BOOST_TEST(std::get<Message>(second.items[0].content).text == "part");
}

BOOST_AUTO_TEST_CASE(a_cassette_made_by_hand_may_have_a_head_and_blank_lines) {
  Bench bench;
  const auto file = bench.file(
      R"({"cassette":1,"comment":"by hand"})"
      "\n\n"
      R"({"sse":"data: {\"type\":\"response.completed\",\"response\":{\"output\":[]}}\n\n"})"
      "\n"
      R"({"wire":"responses","status":429,"headers":{"Retry-After":"3"},"sse":"{}"})"
      "\n"
      R"({"wire":"chat","sse":""})"
      "\n"
      R"({"sse":"data: {}\n\n"})"
      "\n");
  ReplayModel model(read_cassette(file));

  BOOST_TEST(bench.ask(model).items.empty());
  BOOST_CHECK_EXCEPTION(bench.ask(model), ModelError, [](const ModelError& error) {
    return error.code() == ExitCode::limited && error.retry_after() == std::chrono::seconds(3);
  });
  BOOST_CHECK_EXCEPTION(bench.ask(model), ModelError,
                        [](const ModelError& error) { return error.kind() == "cassette"; });
  BOOST_CHECK_EXCEPTION(bench.ask(model), ModelError,
                        [](const ModelError& error) { return error.kind() == "cassette"; });
}

BOOST_AUTO_TEST_CASE(a_cassette_of_a_head_alone_has_no_response) {
  Bench bench;

  BOOST_TEST(read_cassette(bench.file("{\"cassette\":1}\n")).empty());
}

BOOST_AUTO_TEST_CASE(malformed_cassettes_are_refused_with_the_line) {
  const struct {
    const char* text;
    const char* part;
  } rows[] = {
      {"", "no recorded response"},
      {"{\"sse\":\"\"}\n{", ":2: error: "},
      {"[]", ":1: error: not a JSON object"},
      {"{\"sse\":1}", ":1: error: 'sse' is not a string"},
      {"{\"sse\":\"\",\"status\":7}", ":1: error: 'status'"},
      {"{\"sse\":\"\",\"headers\":{\"a\":1}}", ":1: error: the value of header 'a'"},
      {"{\"sse\":\"\"}\n{\"cassette\":1}", ":2: error: neither"},
      {"{\"type\":\"model.response\",\"data\":{}}", ":1: error: a model.response without 'items'"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.text) {
      Bench bench;
      BOOST_CHECK_EXCEPTION(read_cassette(bench.file(row.text)), InputError,
                            [&](const InputError& error) {
                              BOOST_TEST_MESSAGE(error.what());
                              return std::string(error.what()).find(row.part) != std::string::npos;
                            });
    }
  }
}

BOOST_AUTO_TEST_CASE(a_recording_brings_the_wire_of_each_response) {
  Bench bench;
  const auto file = bench.file(
      R"({"seq":1,"type":"model.request","data":{"wire":"chat"}})"
      "\n"
      R"({"seq":2,"type":"model.response","data":{"id":"r1","served_model":"m1","incomplete":false,"stop_reason":"completed","usage":{"prompt_tokens":5,"completion_tokens":2},"items":[{"role":"assistant","content":"Hm.","reasoning_content":"why","tool_calls":[{"id":"c","type":"function","function":{"name":"x","arguments":"{}"}},{"id":"c","type":"function","function":{"name":"x","arguments":"{}"}}]}]}})"
      "\n"
      R"({"seq":3,"type":"model.response","data":{"id":"r2","incomplete":true,"stop_reason":"max_output_tokens","items":[{"role":"assistant","content":"half"}]}})"
      "\n"
      R"({"seq":4,"type":"model.request","data":{"wire":"responses"}})"
      "\n"
      R"({"seq":5,"type":"model.response","data":{"id":"r3","stop_reason":"completed","items":[{"type":"message","role":"assistant","content":"end"}]}})"
      "\n");
  ReplayModel model(read_cassette(file));

  const Response first = bench.ask(model);
  const Response second = bench.ask(model);
  const Response third = bench.ask(model);

  BOOST_TEST(first.id == "r1");
  BOOST_TEST(first.usage->input_tokens == 5);
  BOOST_REQUIRE(first.items.size() == 4u);
  BOOST_TEST(std::get<Reasoning>(first.items[0].content).summary == "why");
  BOOST_TEST(std::get<Message>(first.items[1].content).text == "Hm.");
  BOOST_TEST(std::get<ToolCall>(first.items[2].content).call_id == "c");
  // The second call has the first one's id in the record.
  BOOST_TEST(std::get<ToolCall>(first.items[3].content).call_id == "call_1");
  BOOST_TEST(second.incomplete);
  BOOST_TEST(std::get<Message>(second.items.at(0).content).text == "half");
  BOOST_TEST(std::get<Message>(third.items.at(0).content).text == "end");
  BOOST_TEST(bench.stream.requests[1].wire == "chat");
  BOOST_TEST(bench.stream.requests[1].prefix_bytes > 0u);
  BOOST_TEST(bench.stream.requests[2].wire == "responses");
}

BOOST_AUTO_TEST_CASE(what_a_fallback_gave_is_replayed_as_its_own) {
  Bench bench;
  const auto file = bench.file(
      R"({"type":"model.request","data":{"wire":"responses"}})"
      "\n"
      R"({"type":"model.response","data":{"id":"r1","source":0,"stop_reason":"completed","items":[{"type":"reasoning","summary":[],"encrypted_content":"c2VjcmV0"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"first"}]}]}})"
      "\n"
      R"({"type":"model.request","data":{"wire":"responses"}})"
      "\n"
      R"({"type":"model.response","data":{"id":"r2","source":2,"stop_reason":"completed","items":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"second"}]}]}})"
      "\n");
  ReplayModel model(read_cassette(file));

  const Response first = bench.ask(model);
  bench.items.insert(bench.items.end(), first.items.begin(), first.items.end());
  bench.items.push_back({Message{Message::Role::user, "go on"}});
  const Response second = bench.ask(model);

  BOOST_TEST(first.source == 0);
  BOOST_TEST(second.source == 2);
  BOOST_TEST(second.items.at(0).source == 2);
  // As the one that took over was sent it: without the reasoning of the first.
  RequestBody body(bench.wire);
  std::vector<Item> sent = bench.items;
  std::erase_if(sent,
                [](const Item& item) { return std::holds_alternative<Reasoning>(item.content); });
  for (Item& item : sent) item.received.clear();
  BOOST_TEST(bench.stream.requests[1].body_sha256 ==
             body.update({bench.settings, sent, 0}).body_sha256);
}

// Else the summary that a run has asked for then would be taken for the answer to its prompt.
BOOST_AUTO_TEST_CASE(a_request_that_was_too_long_is_too_long_again) {
  Bench bench;
  const auto response = [](const char* text) {
    return std::string(
               R"({"type":"model.response","data":{"id":"r","stop_reason":"completed","items":[{"type":"message","role":"assistant","content":")") +
           text + "\"}]}}\n";
  };
  const std::string turn = "{\"type\":\"turn.started\",\"data\":{}}\n";
  const std::string request = "{\"type\":\"model.request\",\"data\":{\"wire\":\"responses\"}}\n";
  const auto file = bench.file(turn + request + request + response("first") +  // a retry
                               turn + request +                                // too long
                               turn + request + response("summary") +          //
                               turn + request + response("last") +             //
                               turn + request +                                // killed
                               "{\"type\":\"run.started\",\"data\":{}}\n" +    //
                               turn + request + response("resumed"));
  ReplayModel model(read_cassette(file));
  const auto text = [&] { return std::get<Message>(bench.ask(model).items.at(0).content).text; };

  BOOST_TEST(text() == "first");
  BOOST_CHECK_EXCEPTION(bench.ask(model), ModelError,
                        [](const ModelError& error) { return error.kind() == "context_length"; });
  BOOST_TEST(text() == "summary");
  BOOST_TEST(text() == "last");
  BOOST_TEST(text() == "resumed");
}

BOOST_AUTO_TEST_CASE(a_response_is_replayed_from_its_record_as_it_was) {
  const std::filesystem::path streams = SORTIE_SOURCE_DIR "/tests/data/chat_streams";
  for (const auto& folder : stream_folders(streams)) {
    BOOST_TEST_CONTEXT(folder.filename().string()) {
      const auto wire = make_wire("chat");
      const auto live = decode_stream(*wire, {}, read_file(folder / "stream.sse"));
      if (live.state != WireDecoder::State::complete) continue;
      const Json record = to_record(model_response_event(1, live.response)).data;

      const auto again = decode_stream(*wire, {}, response_stream("chat", record).value());

      BOOST_TEST(write_json(again.shown) == write_json(live.shown));
      BOOST_TEST((again.response.findings == live.response.findings));
      BOOST_TEST((again.response.output == live.response.output));
      BOOST_TEST((received_of(again.response) == received_of(live.response)));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_recording_that_another_run_writes_is_left_to_it) {
  const TemporaryFolder folder;
  const std::filesystem::path file = folder / "cassette.jsonl";
  const RecordedStream stream{.wire = "responses", .status = 200, .headers = {}, .sse = "said"};
  {
    Recording first(file, {});
    first.add(stream);
    const std::string before = read_file(file);
    BOOST_CHECK_EXCEPTION(Recording(file, {}), Error,
                          [](const Error& error) { return error.code() == ExitCode::busy; });
    BOOST_TEST(read_file(file) == before);
  }
  Recording next(file, {});  // whose run has ended is replaced
  BOOST_TEST(read_file(file).empty());
}

BOOST_AUTO_TEST_SUITE_END()
