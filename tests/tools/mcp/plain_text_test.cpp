#include "core/text/base64.h"
#include "tools/mcp/tool_list.h"

#include <boost/test/unit_test.hpp>
#include <string>
#include <string_view>

#include "core/images/image_file.h"
#include "tests/support/images.h"
#include "tools/mcp/servers.h"

using namespace sortie;
using namespace sortie::mcp;
using namespace std::string_view_literals;

BOOST_AUTO_TEST_SUITE(mcp_plain_text)

BOOST_AUTO_TEST_CASE(what_nobody_sees_is_taken_out) {
  const struct {
    std::string_view said;
    std::string_view plain;
  } rows[] = {
      {"plain\ttext\r\nof two lines\r\n", "plain\ttext\r\nof two lines\r\n"},
      {"", ""},
      {"nul\0 and bell\a"sv, "nul and bell"},
      {"\x1b[31mred\x1b[0m", "red"},
      {"\x1b]52;c;AAAA\ahidden", "hidden"},
      {"\xc2\x9b"
       "31mred",
       "red"},
      {"abc\rd", "abc\rd"},
      {"right\xe2\x80\xae to left\xe2\x81\xa6 isolated\xe2\x81\xa9", "right to left isolated"},
      {"line\xe2\x80\xa8 break", "line break"},
      {"tag\xf3\xa0\x81\xa1ged", "tagged"},
      {"\xd8\x9cmark", "mark"},
      {"Müller – ключ 🚀 עברית", "Müller – ключ 🚀 עברית"},
      {"bad \xff byte", "bad \xef\xbf\xbd byte"},
  };
  for (const auto& row : rows) BOOST_TEST(plain_text(row.said) == row.plain);
}

BOOST_AUTO_TEST_CASE(the_text_of_a_result_is_plain) {
  const Json result = parse_json(
      R"({"content":[{"type":"text","text":"nul \u0000 \u001b[31mred\u202e"},
                     {"type":"resource","resource":{"uri":"a:b","text":"\u001b[2Jof a resource"}}],
          "structuredContent":{"x":"\u2067y"}})");

  const ToolResult read = read_call_result(result, Json());

  BOOST_TEST(read.text ==
             "nul  red\n[resource a:b]\nof a resource\nStructured content:\n{\"x\":\"y\"}");
  BOOST_TEST(write_json(read.server_answer["content"]) == write_json(result["content"]));
}

BOOST_AUTO_TEST_CASE(a_broken_image_of_a_result_is_left_out) {
  const auto result_of = [](const std::string& bytes) {
    Json block = Json::object({{"type", "image"}, {"data", base64_encoded(bytes)}});
    Json content = Json::array();
    content.push_back(std::move(block));
    return Json::object({{"content", std::move(content)}});
  };
  const ToolResult whole = read_call_result(result_of(test::images::kPng), Json());
  BOOST_TEST(whole.text == "[image 1: image/png, 3 × 2]");
  const ToolResult half = read_call_result(result_of(test::images::kPng.substr(0, 50)), Json());
  BOOST_TEST(half.text ==
             "[image, left out: it is not a complete PNG: it ends before its chunk IEND]");
  BOOST_TEST(half.images.empty());
}

BOOST_AUTO_TEST_SUITE_END()
