// What the loop does where the provider refuses a request for an image in it.

#include <boost/test/unit_test.hpp>

#include "core/model/failure.h"
#include "tests/core/agent/loop_flight.h"

using namespace sortie;
using namespace sortie::test;

namespace {

const char* const kWords = "Could not process image";

/// The provider's answer to a request with an image that it can't use.
ScriptedModel::Answer refuses(const std::string& words = kWords) {
  return [words]() -> Response {
    throw ModelError("127.0.0.1:80: HTTP status 400: " + words, ExitCode::refused, kImageRefused);
  };
}

Image image(const std::string& base64 = "aW1hZ2U=") { return {"image/png", base64, 3, 2}; }

/// The tool that is called by `id` shows so many images.
void shows(LoopFlight& flight, const std::string& id, std::size_t images = 1) {
  flight.tools.results[id] = {
      ToolOutput{.call_id = id, .text = "shot.png", .images = {images, image()}}};
}

const ToolOutput& output_of(const std::vector<Item>& items, const std::string& id) {
  for (const Item& item : items)
    if (const auto* one = std::get_if<ToolOutput>(&item.content); one && one->call_id == id)
      return *one;
  throw std::runtime_error("no output of " + id);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(refused_images)

BOOST_AUTO_TEST_CASE(the_image_makes_way_for_the_providers_words_and_the_request_is_sent_again) {
  LoopFlight flight;
  shows(flight, "v");
  flight.model.add(response({call("v", "view_image"), call("c")}));
  flight.model.answers.push_back(refuses());
  flight.model.add(response({assistant("Done.")}));

  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::success), result.reason);
  BOOST_REQUIRE(flight.model.requests.size() == 3u);
  BOOST_TEST(output_of(flight.model.requests[1], "v").images.size() == 1u);
  const ToolOutput& again = output_of(flight.model.requests[2], "v");
  BOOST_TEST(again.images.empty());
  BOOST_TEST(again.text ==
             "shot.png\n[the model's provider could not use the image: "
             "Could not process image]");
  BOOST_TEST(output_of(flight.model.requests[2], "c").text == "ok");
  // What went out before is not the beginning of it.
  BOOST_TEST(flight.model.epochs[2] > flight.model.epochs[1]);
  BOOST_TEST(flight.calls_are_paired());
  const auto hits = flight.events.data_of("check.hit");
  BOOST_REQUIRE(hits.size() == 1u);
  BOOST_TEST(hits[0].string_at("check") == "image_refused");
  BOOST_TEST(hits[0].string_at("saw") == kWords);
  BOOST_TEST(again.text.ends_with(hits[0].string_at("sent")));
  BOOST_TEST(write_json(hits[0]["calls"]) == R"(["v"])");
}

BOOST_AUTO_TEST_CASE(the_images_of_the_newest_turn_go_first_and_each_turns_once) {
  LoopFlight flight;
  for (const char* id : {"v1", "v2a", "v2b"}) shows(flight, id);
  flight.model.add(response({call("v1")}));
  flight.model.add(response({call("v2a"), call("v2b")}));
  flight.model.add(response({call("c")}));
  for (int i = 0; i < 3; ++i) flight.model.answers.push_back(refuses());

  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::refused));
  BOOST_TEST(result.kind == kImageRefused);
  BOOST_TEST(result.reason == "127.0.0.1:80: HTTP status 400: Could not process image");
  BOOST_REQUIRE(flight.model.requests.size() == 6u);
  const auto images = [&](std::size_t request, const char* id) {
    return output_of(flight.model.requests[request], id).images.size();
  };
  BOOST_TEST(images(4, "v1") == 1u);
  BOOST_TEST(images(4, "v2a") == 0u);
  BOOST_TEST(images(4, "v2b") == 0u);
  BOOST_TEST(images(5, "v1") == 0u);
  BOOST_TEST(output_of(flight.model.requests[5], "v2b").text ==
             "shot.png\n[the model's provider could not use at least one of 2 images, so all were "
             "removed; ask for one at a time: Could not process image]");
  BOOST_TEST(flight.events.data_of("check.hit").size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_later_image_is_taken_out_as_the_first_was) {
  LoopFlight flight;
  shows(flight, "v1", 2);
  shows(flight, "v2");
  flight.model.add(response({call("v1")}));
  flight.model.answers.push_back(refuses());
  flight.model.add(response({call("v2")}));
  flight.model.answers.push_back(refuses());
  flight.model.add(response({assistant("Done.")}));

  BOOST_TEST((flight.run().code == ExitCode::success));

  BOOST_TEST(flight.events.data_of("check.hit").size() == 2u);
}

BOOST_AUTO_TEST_CASE(images_of_the_prompt_stay_and_the_error_stands) {
  LoopFlight flight;
  flight.model.answers.push_back(refuses());

  const LoopResult result = flight.loop.run({Item{Message{.text = "Look.", .images = {image()}}}},
                                            flight.stop.get_token());

  BOOST_TEST((result.code == ExitCode::refused));
  BOOST_TEST(result.kind == kImageRefused);
  BOOST_TEST(flight.model.requests.size() == 1u);
  const auto& kept = std::get<Message>(flight.loop.history().items().front().content);
  BOOST_TEST(kept.images.size() == 1u);
  BOOST_TEST(flight.events.data_of("check.hit").empty());
}

BOOST_AUTO_TEST_CASE(another_refusal_leaves_images_alone) {
  LoopFlight flight;
  shows(flight, "v");
  flight.model.add(response({call("v")}));
  flight.model.answers.push_back([]() -> Response {
    throw ModelError("HTTP status 400: no", ExitCode::refused, "invalid_request");
  });

  BOOST_TEST((flight.run().code == ExitCode::refused));

  BOOST_TEST(output_of(flight.loop.history().items(), "v").images.size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_providers_words_are_redacted_and_bounded) {
  LoopFlight flight;
  const Redactor redactor(std::vector<Secret>{{"KEY", "a-secret-of-the-run"}});
  Loop loop({.model = flight.model,
             .tools = flight.tools,
             .events = flight.events,
             .budget = flight.budget,
             .redactor = &redactor},
            ModelSettings{.model = "m", .max_output_tokens = 100});
  shows(flight, "v");
  flight.model.add(response({call("v")}));
  flight.model.answers.push_back(
      refuses("Invalid image a-secret-of-the-run\n" + std::string(5'000, 'x')));
  flight.model.add(response({assistant("Done.")}));

  BOOST_TEST((loop.run({user("Do it.")}, {}).code == ExitCode::success));

  const std::string& text = output_of(loop.history().items(), "v").text;
  BOOST_TEST(text.find("Invalid image [REDACTED:KEY]") != std::string::npos, text);
  BOOST_TEST(text.find("a-secret-of-the-run") == std::string::npos);
  BOOST_TEST(text.size() < 600u);
}

BOOST_AUTO_TEST_CASE(each_try_is_a_turn_of_the_budget) {
  LoopFlight flight({.turns = 2});
  shows(flight, "v");
  flight.model.add(response({call("v")}));
  flight.model.answers.push_back(refuses());
  flight.model.add(response({assistant("Done.")}));

  const LoopResult result = flight.run();

  BOOST_TEST((result.code == ExitCode::budget));
  BOOST_TEST(result.kind == "turns");
}

BOOST_AUTO_TEST_SUITE_END()
