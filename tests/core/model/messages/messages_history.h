#pragma once

#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "core/files/files.h"
#include "core/model/messages/anthropic_messages.h"
#include "core/provider/request_body.h"
#include "tests/support/decoded_stream.h"
#include "tests/support/full_settings.h"
#include "tests/support/messages_request.h"

namespace sortie::messages_history {

using Form = ToolCall::Form;

inline const std::filesystem::path kStreams = SORTIE_SOURCE_DIR "/tests/data/messages_streams";
inline const Image kImage{.media_type = "image/png", .base64 = "iVBORw0KGgo="};
inline const std::string kThinking =
    R"({"type":"thinking","thinking":"hm","signature":"EqQB+/=="})";
inline const std::string kImageJson =
    R"({"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}})";

inline ModelSettings full_settings() { return test::full_settings("claude-sonnet-4-5-20250929"); }

inline test::DecodedStream decode(std::string_view stream, std::size_t piece = std::string::npos) {
  return test::decode_stream(AnthropicMessages(), full_settings(), stream, piece);
}

inline std::string stream_text(const char* name) {
  return read_file(kStreams / name / "stream.sse");
}

inline std::string body_text(const ModelSettings& settings, const std::vector<Item>& items) {
  const AnthropicMessages wire;
  RequestBody body(wire);
  body.update({settings, items, 0});
  return std::string(body.bytes());
}

inline std::string messages_of(const std::vector<Item>& items) {
  const Json body = parse_json(body_text(full_settings(), items));
  BOOST_TEST(test::check_messages_request(body) == "");
  BOOST_TEST(body.members().back().first == "messages");
  return write_json(body["messages"]);
}

inline Item user(const std::string& text, std::vector<Image> images = {}) {
  return {Message{Message::Role::user, text, std::move(images)}};
}
inline Item assistant(const std::string& text, const std::string& received = {}) {
  return {Message{Message::Role::assistant, text}, received};
}
inline Item call(const std::string& id, Form form = Form::function) {
  return {ToolCall{id, form == Form::custom ? "apply_patch" : "shell",
                   form == Form::custom ? "*** \"P\"" : R"({"a": 1})", form}};
}
inline Item received_call(const std::string& id) {
  Item item = call(id);
  item.received = R"({"type":"tool_use","id":")" + id + R"(","name":"shell","input":{"b":2.0}})";
  return item;
}
inline Item output(const std::string& id, std::vector<Image> images = {}) {
  return {ToolOutput{id, "out " + id, true, Form::function, std::move(images)}};
}
inline Item thinking() { return {Reasoning{"hm"}, kThinking}; }

inline std::string use_text(const std::string& id) {
  return R"({"type":"tool_use","id":")" + id + R"(","name":"shell","input":{"a":1}})";
}
inline std::string result_text(const std::string& id) {
  return R"({"type":"tool_result","tool_use_id":")" + id + R"(","content":"out )" + id + "\"}";
}
inline std::string text_block(const std::string& text) {
  return R"({"type":"text","text":")" + text + "\"}";
}
inline std::string message_text(const char* role, const std::vector<std::string>& blocks) {
  std::string text;
  for (const auto& block : blocks) text += (text.empty() ? "" : ",") + block;
  return std::string(R"({"role":")") + role + R"(","content":[)" + text + "]}";
}
/// The text of messages whose last block has the mark.
inline std::string marked(std::string messages) {
  BOOST_REQUIRE(messages.ends_with("}]}]"));
  messages.resize(messages.size() - 4);
  return messages + R"(,"cache_control":{"type":"ephemeral"}}]}])";
}

/// A history as a run could have it, and then some: responses of random parts, each with its
/// outputs, and words of the user in between.
inline std::vector<Item> random_history(std::mt19937& random) {
  const auto chance = [&random](unsigned one_in) { return random() % one_in == 0; };
  std::vector<Item> items = {user("docs"),
                             user("go", chance(3) ? std::vector{kImage} : std::vector<Image>{})};
  int id = 0;
  for (auto turn = random() % 12; turn > 0; --turn) {
    std::vector<std::string> calls;
    for (auto part = random() % 6; part > 0; --part) {
      if (chance(3)) items.push_back(chance(4) ? Item{Reasoning{"foreign"}} : thinking());
      if (chance(6))
        items.push_back({ProviderItem{"server_tool_use", ""},
                         R"({"type":"server_tool_use","id":"s","name":"web_search","input":{}})"});
      if (chance(2)) items.push_back(assistant(chance(5) ? " \n" : "say \"\xc3\xa4\"\n"));
      if (chance(2)) {
        calls.push_back(chance(9) && id > 0 ? "c" + std::to_string(random() % id + 1)
                                            : "c" + std::to_string(++id));
        if (chance(9)) calls.back() = "functions.shell:" + std::to_string(id);
        items.push_back(chance(3) ? received_call(calls.back())
                                  : call(calls.back(), chance(3) ? Form::custom : Form::function));
      }
    }
    const bool early = chance(4);
    for (const auto& made : calls) {
      items.push_back(output(made, chance(4) ? std::vector{kImage, kImage} : std::vector<Image>{}));
      if (early && &made == &calls.front()) items.push_back(user("between"));
    }
    if (calls.empty() || chance(3)) items.push_back(user(chance(9) ? "\t" : "note"));
  }
  items.push_back(user("end"));
  return items;
}

}  // namespace sortie::messages_history
