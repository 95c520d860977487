// A provider refuses a request for an image in it: the run goes on without the image, on each wire.
#include <boost/test/unit_test.hpp>
#include <string>

#include "core/images/image_file.h"
#include "core/text/base64.h"
#include "tests/end_to_end/provider_run.h"
#include "tests/support/event_check.h"
#include "tests/support/images.h"
#include "tests/support/wire_streams.h"

using namespace sortie;
using namespace sortie::test;

namespace {

struct RefusingWire {
  const char* wire;
  const char* model;  ///< YAML in the braces of the task's model
  const char* error;  ///< as the provider words it
  const char* words;
};

const RefusingWire kRefusingWires[] = {
    {"responses", "name: gpt-5-codex",
     R"({"error":{"message":"The image data you provided does not represent a valid image.",)"
     R"("type":"invalid_request_error","param":"input","code":"invalid_value"}})",
     "The image data you provided does not represent a valid image."},
    {"chat", "provider: openai-chat, name: gpt-4.1",
     R"({"error":{"message":"Invalid image.","type":"invalid_request_error","param":null,)"
     R"("code":"invalid_image"}})",
     "Invalid image."},
    {"messages", "provider: anthropic, name: claude-sonnet-4-5",
     R"({"type":"error","error":{"type":"invalid_request_error",)"
     R"("message":"Could not process image"},"request_id":"req_1"})",
     "Could not process image"},
};

ServedResponse says_on(const std::string& wire, const std::string& told) {
  return served_stream(wire_stream(wire, parse_json(told)).text());
}

ServedResponse refuses(const RefusingWire& wire) {
  return served_status(400, {{"Content-Type", "application/json"}}, wire.error);
}

const char* const kView =
    R"({"calls":[{"id":"v","tool":"view_image","arguments":{"path":"shot.png"}}]})";
const char* const kDone = R"({"text":"done"})";

bool has_image(const ReceivedRequest& request) {
  return request.body.find(base64_encoded(images::kPng)) != std::string::npos;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(refused_images)

BOOST_AUTO_TEST_CASE(a_run_goes_on_without_an_image_that_its_provider_refuses_and_replays) {
  for (const RefusingWire& wire : kRefusingWires) {
    BOOST_TEST_CONTEXT(wire.wire) {
      const ProviderRun run;
      run.write("work/shot.png", images::kPng);
      run.commit_workspace();
      run.write_task(wire.model);
      const ModelServer server(
          {says_on(wire.wire, kView), refuses(wire),
           says_on(wire.wire,
                   R"({"calls":[{"id":"c","tool":"list_dir","arguments":{"path":"."}}]})"),
           says_on(wire.wire, kDone)});

      const ProgramEnd end = run.run(server);

      check_end(run, end, 0, "success");
      const auto requests = server.requests();
      BOOST_REQUIRE(requests.size() == 4u);
      BOOST_TEST(has_image(requests[1]));
      const std::string text =
          std::string("[the model's provider could not use the image: ") + wire.words + "]";
      for (const std::size_t later : {2u, 3u}) {
        BOOST_TEST(!has_image(requests[later]));
        BOOST_TEST(contains(requests[later].body, text), requests[later].body);
      }
      BOOST_TEST(contains(end.errors, std::string("[2] model: the provider refused an image: ") +
                                          wire.words +
                                          "; asking again without the images of "
                                          "call v"),
                 end.errors);
      // The tool did what it was called for: nothing else is told of it afterwards.
      BOOST_TEST(!contains(end.output, "turn.failed"));
      BOOST_TEST(!contains(end.output, "\"type\":\"error\""), end.output);
      const Json hit = run.records("check.hit").at(0);
      BOOST_TEST(hit.string_at("check") == "image_refused");
      BOOST_TEST(hit.string_at("saw") == wire.words);
      BOOST_TEST(hit.string_at("sent") == text);
      BOOST_TEST(run.result()["counts"].integer_at("turns") == 4);

      // A replay meets the same refusal at the same place.
      const ProgramEnd again = run.RunFolder::run({"--replay", run.out() / "transcript.jsonl"});

      check_end(run, again, 0, "success");
      BOOST_TEST(again.output == end.output);
      BOOST_TEST(run.result()["counts"].integer_at("turns") == 4);
      BOOST_REQUIRE(run.records("check.hit").size() == 1u);
      BOOST_TEST(write_json(run.records("check.hit").at(0)) == write_json(hit));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_refusal_that_still_stands_ends_the_run_as_any_does) {
  const RefusingWire& wire = kRefusingWires[2];
  const ProviderRun run;
  run.write("work/shot.png", images::kPng);
  run.commit_workspace();
  run.write_task(wire.model);
  const ModelServer server({says_on(wire.wire, kView), refuses(wire), refuses(wire)});

  const ProgramEnd end = run.run(server);

  check_end(run, end, 5, "refused");
  BOOST_TEST(contains(end.errors, "HTTP status 400: Could not process image"), end.errors);
  BOOST_TEST(server.requests().size() == 3u);
}

BOOST_AUTO_TEST_CASE(a_tasks_own_image_is_not_left_out_and_the_error_names_its_file) {
  for (const RefusingWire& wire : kRefusingWires) {
    BOOST_TEST_CONTEXT(wire.wire) {
      const ProviderRun run;
      run.write("given.png", images::kPng);
      run.write_task(wire.model, "images: [given.png]\n");
      const ModelServer server({refuses(wire)});

      const ProgramEnd end = run.run(server);

      check_end(run, end, 5, "refused");
      BOOST_TEST(server.requests().size() == 1u);
      BOOST_TEST(
          contains(end.errors, std::string("HTTP status 400: ") + wire.words +
                                   " (the image of the task: " + run.path("given.png").string()),
          end.errors);
      BOOST_TEST(contains(run.result().string_at("next"),
                          "leave the image out, or name another model with -m"),
                 run.result().string_at("next"));
      BOOST_TEST(run.records("check.hit").empty());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
