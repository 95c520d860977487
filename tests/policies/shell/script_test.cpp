#include "policies/shell/script.h"

#include <algorithm>
#include <fstream>
#include <string>

#include <boost/test/unit_test.hpp>

#include "core/json/json.h"
#include "tests/support/script_text.h"

using namespace sortie;
using sortie::test::link_text;

namespace {

std::string text_of(const ScriptRedirection& redirection) {
  using Kind = ScriptRedirection::Kind;
  const std::string left = std::to_string(redirection.descriptor);
  switch (redirection.kind) {
    case Kind::duplicate:
      return left + ">&" + std::to_string(redirection.target);
    case Kind::output_to_null:
      return left + ">null";
    case Kind::both_to_null:
      return "&>null";
    case Kind::input:
      return left + "<" + redirection.file;
    case Kind::text:
      return left + "<<" + redirection.file;
  }
  return "?";
}

/// A number that only the running script knows as "#".
std::string shown(std::string text) {
  std::replace(text.begin(), text.end(), kNumberMark, '#');
  return text;
}

/// "<ls> <-l> && <cat> <*.c>* {2>&1}", or "13: why not".
std::string text_of(const ScriptReading& reading) {
  if (reading.refused) {
    return std::to_string(reading.refusal.at) + ": " + reading.refusal.reason;
  }
  std::string text;
  for (const SimpleCommand& command : reading.commands) {
    text += link_text(command.link);
    for (const ScriptAssignment& each : command.assignments)
      text += each.name + '=' + each.value + ' ';
    for (const ScriptWord& word : command.words) {
      if (&word != &command.words.front()) text += ' ';
      text += '<' + shown(word.text) + '>' + (word.glob ? "*" : "");
    }
    for (const ScriptRedirection& redirection : command.redirections) {
      text += " {" + text_of(redirection) + '}';
    }
  }
  return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(script)

BOOST_AUTO_TEST_CASE(scripts_are_read_or_refused_as_the_table_says) {
  std::ifstream in(SORTIE_SOURCE_DIR "/tests/data/shell/scripts.txt");
  int rows = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.empty() || line[0] == '#') continue;
    const Json row = parse_json(line);
    const std::string script = row.items().at(0).text();
    const std::string expected = row.items().at(1).text();
    BOOST_TEST_CONTEXT(line) {
      const std::string found = text_of(read_script(script));
      // Of a refusal the table has the place and the reason's beginning.
      const bool refusal = expected[0] >= '0' && expected[0] <= '9';
      BOOST_TEST((refusal ? found.substr(0, expected.size()) : found) == expected);
    }
    ++rows;
  }
  BOOST_TEST(rows >= 250);
}

BOOST_AUTO_TEST_CASE(a_refusal_names_line_column_and_part) {
  const ScriptReading reading = read_script("ls -l &&\n  cat $HOME/x");
  BOOST_TEST(reading.refused);
  BOOST_TEST(reading.commands.empty());
  BOOST_TEST(reading.refusal.at == 15u);
  BOOST_TEST(reading.refusal.line == 2);
  BOOST_TEST(reading.refusal.column == 7);
  BOOST_TEST(reading.refusal.part == "$HOME/x");
}

BOOST_AUTO_TEST_CASE(words_know_their_place_and_their_quotes) {
  const ScriptReading reading = read_script("ls 'a b' c\"d\" e");
  BOOST_REQUIRE(reading.commands.size() == 1);
  const std::vector<ScriptWord> expected = {
      {.text = "ls", .at = 0},
      {.text = "a b", .bare = false, .at = 3},
      {.text = "cd", .bare = false, .at = 9},
      {.text = "e", .at = 14},
  };
  BOOST_TEST((reading.commands[0].words == expected));
}

BOOST_AUTO_TEST_CASE(limits_deny_what_lies_beyond) {
  const auto repeated = [](const std::string& part, std::size_t times) {
    std::string text;
    for (std::size_t i = 0; i < times; ++i) text += part;
    return text;
  };
  BOOST_TEST(!read_script("ls " + std::string(kMaxScriptBytes - 3, 'a')).refused);
  BOOST_TEST(read_script("ls " + std::string(kMaxScriptBytes - 2, 'a')).refused);
  BOOST_TEST(!read_script(repeated("ls;", kMaxScriptCommands)).refused);
  BOOST_TEST(read_script(repeated("ls;", kMaxScriptCommands + 1)).refused);
  BOOST_TEST(!read_script("ls" + repeated(" a", kMaxScriptWords - 1)).refused);
  BOOST_TEST(read_script("ls" + repeated(" a", kMaxScriptWords)).refused);
  BOOST_TEST(read_script("ls" + repeated(" a", kMaxScriptWords - 1) + "; ls").refused);
}

BOOST_AUTO_TEST_CASE(no_control_byte_is_read_anywhere) {
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool fine = c == '\t' || c == '\n' || (byte >= 0x20 && byte < 0x7f);
    for (const std::string before : {"ls ", "ls 'a", "ls \"a"}) {
      const std::string script = before + c + std::string(before.substr(3, 1));
      if (!fine) BOOST_TEST(read_script(script).refused, "byte " << byte << " behind " << before);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
