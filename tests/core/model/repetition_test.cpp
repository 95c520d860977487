#include "core/model/repetition.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>

using namespace sortie;

namespace {

std::string times(const std::string& passage, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += passage;
  return text;
}

/// Prose that never says the same twice.
std::string prose(std::size_t words) {
  std::string text;
  for (std::size_t i = 0; i < words; ++i) text += "word " + std::to_string(i * 7919) + ", ";
  return text;
}

std::string table(int rows) {
  std::string text = "| id | state | time |\n|---|---|---|\n";
  for (int i = 0; i < rows; ++i) text += "| " + std::to_string(1000 + i) + " | ok | 0.00 s |\n";
  return text;
}

/// What the guard finds in a text that comes in pieces of this size.
std::string found(const std::string& text, std::size_t piece) {
  RepetitionGuard guard;
  for (std::size_t at = 0; at < text.size(); at += piece) guard.feed(text.substr(at, piece));
  return guard.passage();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(repetition)

BOOST_AUTO_TEST_CASE(a_passage_of_20_to_200_characters_over_and_over_is_found_and_no_other) {
  const std::string sentence = "I will now look at the file again. ";
  const struct {
    const char* name;
    std::string text;
    std::size_t passage;  ///< its length in characters; 0: none
  } rows[] = {
      {"a sentence", prose(200) + times(sentence, 250), 35},
      {"from the start", times(sentence, 250), 35},
      {"too short a text", times(sentence, 200), 0},
      {"prose", prose(2000), 0},
      {"one character", std::string(9000, '='), 20},
      {"three characters", times("no ", 3000), 21},
      {"200 characters", times(prose(20).substr(0, 200), 45), 200},
      {"a passage that is too long", times(prose(40).substr(0, 201), 60), 0},
      {"one that ended", times(sentence, 250) + prose(1000), 0},
      {"rows of a table with numbers of their own", table(2000), 0},
      {"code", "So:\n```c\n" + times("  x = y + 1;  // again\n", 1000) + "```\nThat is it.", 0},
      {"code that never ends", " ~~~~ text\n" + times("```\nthe same line\n", 1000), 0},
      {"a circle behind code", "```\na\n```\n" + times(sentence, 250), 35},
      {"backticks in a line are no fence", "```a``` b\n" + times(sentence, 250), 35},
      {"four blanks make no fence", "    ```\n" + times(sentence, 250), 35},
      {"a line of backticks and more", std::string(400, '`') + "x\n" + times(sentence, 250), 35},
      {"code with alike lines",
       [] {
         std::string text;
         for (int i = 0; i < 1300; ++i) text += "  array[" + std::to_string(i) + "] = 0;\n";
         return text;
       }(),
       0},
      {"other letters", times("\xE3\x81\x82\xE3\x81\x84\xE3\x81\x86\xE3\x81\x88", 2200), 20},
  };
  for (const auto& row : rows)
    for (const std::size_t piece : {1, 7, 50, 499}) {
      BOOST_TEST_CONTEXT(row.name << " in pieces of " << piece) {
        const std::string passage = found(row.text, piece);
        const auto characters = std::count_if(passage.begin(), passage.end(), [](char c) {
          return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
        });
        BOOST_TEST(static_cast<std::size_t>(characters) == row.passage);
        BOOST_TEST((row.text.find(passage) != std::string::npos));
      }
    }
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_utf8_are_characters_too) {
  BOOST_TEST(!found(times("\xff\xfe\xc0 and so on, again and again", 400), 50).empty());
}

BOOST_AUTO_TEST_SUITE_END()
