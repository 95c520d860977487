#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "core/model/chat/openai_chat.h"
#include "core/provider/http_model.h"
#include "core/provider/request_body.h"
#include "tests/support/decoded_stream.h"
#include "tests/support/full_settings.h"
#include "tests/support/openai_schema.h"

namespace sortie::chat_history {

using Form = ToolCall::Form;

inline const std::filesystem::path kStreams = SORTIE_SOURCE_DIR "/tests/data/chat_streams";
inline const Image kImage{.media_type = "image/png", .base64 = "iVBORw0KGgo="};

inline ModelSettings full_settings() { return test::full_settings("gpt-4.1"); }

inline test::DecodedStream decode(std::string_view stream, const Json& expected = {},
                                  std::size_t piece = std::string::npos) {
  const OpenAiChat wire({.legacy_functions = expected.string_at("settings") == "legacy"});
  return test::decode_stream(wire, full_settings(), stream, piece);
}

inline std::string body_text(const ModelSettings& settings, const std::vector<Item>& items,
                             OpenAiChat::Options options = {}) {
  const OpenAiChat wire(options);
  RequestBody body(wire);
  body.update({settings, items, 0});
  return std::string(body.bytes());
}

/// The messages behind the system message, as text.
inline std::string messages_of(const std::vector<Item>& items, OpenAiChat::Options options = {}) {
  const Json body = parse_json(body_text(full_settings(), items, options));
  BOOST_TEST(test::check_chat_request(body) == "");
  Json messages = body["messages"];
  BOOST_TEST(write_json(messages.items().front()) == R"({"role":"system","content":"Be brief."})");
  messages.items().erase(messages.items().begin());
  return write_json(messages);
}

inline Item user(const std::string& text, std::vector<Image> images = {}) {
  return {Message{Message::Role::user, text, std::move(images)}};
}
inline Item assistant(const std::string& text) { return {Message{Message::Role::assistant, text}}; }
inline Item call(const std::string& id, Form form = Form::function) {
  return {ToolCall{id, form == Form::custom ? "apply_patch" : "shell",
                   form == Form::custom ? "*** \"P\"" : "{}", form}};
}
inline Item output(const std::string& id, std::vector<Image> images = {}) {
  return {ToolOutput{id, "out " + id, true, Form::function, std::move(images)}};
}

/// A history as a run could have it, and then some: responses of random parts, each with its
/// outputs, and words of the user in between.
inline std::vector<Item> random_history(std::mt19937& random) {
  const auto chance = [&random](unsigned one_in) { return random() % one_in == 0; };
  std::vector<Item> items;
  if (!chance(9))
    items = {user("docs"), user("go", chance(3) ? std::vector{kImage} : std::vector<Image>{})};
  int id = 0;
  for (auto turn = random() % 12; turn > 0; --turn) {
    std::vector<std::string> calls;
    for (auto part = random() % 5; part > 0; --part) {
      if (chance(4)) items.push_back({Reasoning{"thought", chance(2)}, R"({"type":"reasoning"})"});
      if (chance(6)) items.push_back({ProviderItem{"web_search_call", ""}, "{}"});
      if (chance(2)) items.push_back(assistant(chance(5) ? "" : "say \"\xc3\xa4\"\n"));
      if (chance(2)) {
        calls.push_back("c" + std::to_string(++id));
        items.push_back(call(calls.back(), chance(3) ? Form::custom : Form::function));
      }
    }
    for (const auto& made : calls)
      items.push_back(output(made, chance(4) ? std::vector{kImage, kImage} : std::vector<Image>{}));
    if (chance(3)) items.push_back(user("note"));
  }
  return items;
}

}  // namespace sortie::chat_history
