// What requests of each wire format say of the tools that have to be called.

#include <boost/test/unit_test.hpp>
#include <memory>
#include <string>

#include "core/model/chat/openai_chat.h"
#include "core/model/messages/anthropic_messages.h"
#include "core/model/responses/openai_responses.h"
#include "tests/support/request_check.h"

using namespace sortie;
using namespace sortie::test;

namespace {

using Form = ToolCall::Form;

Json body_of(const Wire& wire, const ModelSettings& settings) {
  const auto writer = wire.item_writer(settings);
  std::string text = wire.encode_head(settings);
  writer->write({Item{Message{Message::Role::user, "Do it."}}}, text);
  text += writer->tail();
  const std::string line =
      "POST /v1" + std::string(wire.path("m").substr(wire.path("m").starts_with("/v1") ? 3 : 0)) +
      " HTTP/1.1";
  BOOST_TEST(request_problem(line, text) == "");
  return parse_json(text);
}

ModelSettings settings_with(const ToolChoice& choice, const std::string& model = "gpt-5-codex") {
  ModelSettings settings;
  settings.model = model;
  settings.instructions = "Be brief.";
  settings.effort = "medium";
  settings.tool_choice = choice;
  settings.tools = {
      {.name = "read_file", .description = "Reads.", .parameters = {}},
      {.name = "apply_patch", .description = "Patches.", .parameters = {}, .form = Form::custom},
      {.name = "web_search", .description = "", .parameters = {}, .form = Form::web_search}};
  return settings;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tool_choice)

BOOST_AUTO_TEST_CASE(each_wire_says_which_tool_has_to_be_called) {
  const struct {
    ToolChoice choice;
    const char* responses;
    const char* chat;
    const char* legacy;
    const char* messages;
  } rows[] = {
      {{"auto"}, R"("auto")", R"("auto")", R"("auto")", "null"},
      {{"none"}, R"("none")", R"("none")", R"("none")", R"({"type":"none"})"},
      // The older form knows no such word; a task that says so is refused.
      {{"required"}, R"("required")", R"("required")", R"("auto")", R"({"type":"any"})"},
      {{"read_file"},
       R"({"type":"function","name":"read_file"})",
       R"({"type":"function","function":{"name":"read_file"}})",
       R"({"name":"read_file"})",
       R"({"type":"tool","name":"read_file"})"},
      {{"apply_patch"},
       R"({"type":"custom","name":"apply_patch"})",
       R"({"type":"function","function":{"name":"apply_patch"}})",
       R"({"name":"apply_patch"})",
       R"({"type":"tool","name":"apply_patch"})"},
      {{"web_search"},
       R"({"type":"allowed_tools","mode":"required","tools":[{"type":"web_search"}]})",
       R"("auto")",
       R"("auto")",
       R"({"type":"tool","name":"web_search"})"},
      {{"gone"}, R"("auto")", R"("auto")", R"("auto")", "null"},
      {{"required", true}, R"("auto")", R"("auto")", R"("auto")", "null"},
      {{"read_file", true}, R"("auto")", R"("auto")", R"("auto")", "null"},
      {{"none", true}, R"("none")", R"("none")", R"("none")", R"({"type":"none"})"},
  };
  for (const auto& row : rows) {
    BOOST_TEST_CONTEXT(row.choice.word << ", met: " << row.choice.met) {
      const ModelSettings settings = settings_with(row.choice);
      const OpenAiChat legacy(OpenAiChat::Options{.legacy_functions = true});

      BOOST_TEST(write_json(body_of(OpenAiResponses(), settings)["tool_choice"]) == row.responses);
      BOOST_TEST(write_json(body_of(OpenAiChat(), settings)["tool_choice"]) == row.chat);
      BOOST_TEST(write_json(body_of(legacy, settings)["function_call"]) == row.legacy);
      BOOST_TEST(
          write_json(body_of(AnthropicMessages(),
                             settings_with(row.choice, "claude-sonnet-4-5"))["tool_choice"]) ==
          row.messages);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_older_form_requires_a_call_of_its_only_function) {
  ModelSettings settings = settings_with({"required"});
  settings.tools.resize(1);
  const OpenAiChat legacy(OpenAiChat::Options{.legacy_functions = true});

  BOOST_TEST(write_json(body_of(legacy, settings)["function_call"]) == R"({"name":"read_file"})");
}

BOOST_AUTO_TEST_CASE(without_tools_no_request_speaks_of_a_choice) {
  ModelSettings settings = settings_with({"none"});
  settings.tools.clear();

  BOOST_TEST(body_of(OpenAiResponses(), settings)["tool_choice"].is_null());
  BOOST_TEST(body_of(OpenAiChat(), settings)["tool_choice"].is_null());
  BOOST_TEST(body_of(AnthropicMessages(), settings)["tool_choice"].is_null());
}

// Its servers refuse thinking beside a call that has to be made, and a thought that begins in the
// middle of an answer.
BOOST_AUTO_TEST_CASE(a_model_that_has_to_call_a_tool_does_not_think_in_messages) {
  const auto thinks = [](const ToolChoice& choice) {
    return !body_of(AnthropicMessages(), settings_with(choice, "claude-sonnet-4-5"))["thinking"]
                .is_null();
  };
  BOOST_TEST(thinks({"auto"}));
  BOOST_TEST(thinks({"none"}));
  BOOST_TEST(!thinks({"required"}));
  BOOST_TEST(!thinks({"required", true}));
  BOOST_TEST(!thinks({"read_file"}));
}

BOOST_AUTO_TEST_SUITE_END()
