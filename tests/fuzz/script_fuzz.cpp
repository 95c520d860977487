#include <cstdint>
#include <cstdlib>
#include <string>

#include "policies/shell/lexer.h"
#include "policies/shell/script.h"
#include "tests/support/script_text.h"

using namespace sortie;
using sortie::test::link_text;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

std::string quoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\"'\"'";
    } else {
      quoted += c;
    }
  }
  return quoted + "'";
}

/// The same commands, every word but the names in single quotes.
std::string written(const ScriptReading& reading) {
  std::string text;
  for (const SimpleCommand& command : reading.commands) {
    text += link_text(command.link) + command.words[0].text;
    for (std::size_t i = 1; i < command.words.size(); ++i)
      text += ' ' + quoted(command.words[i].text);
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string script(reinterpret_cast<const char*>(data), size);
  const ScriptReading reading = read_script(script);
  if (reading.refused) {
    require(reading.commands.empty() && !reading.refusal.reason.empty());
    require(reading.refusal.at <= script.size() && reading.refusal.line > 0);
    return 0;
  }
  require(!reading.commands.empty() && size <= kMaxScriptBytes);
  require(find_refused_byte(script) == std::string_view::npos);
  bool known = true;
  for (const SimpleCommand& command : reading.commands) {
    require(!command.words.empty());
    require((&command == &reading.commands.front()) == (command.link == ScriptLink::first));
    require(command.unit < reading.root.parts.size());
    const ScriptWord& name = command.words[0];
    require(name.bare && !name.glob && !name.text.empty() && !is_reserved_word(name.text));
    require(name.text.find_first_of("$`\\'\"*?{}()&;|<> \t\n=~!#") == std::string::npos);
    require(script.compare(name.at, name.text.size(), name.text) == 0);
    for (const ScriptWord& word : command.words) {
      require(word.text.find_first_of("\x05\x06") == std::string::npos);
      known = known && word.text.find(kNumberMark) == std::string::npos;
    }
  }
  // What is read says the same when it is written out and read again.
  if (!known) return 0;
  if (reading.commands.size() > kMaxScriptCommands / 2 || size > kMaxScriptBytes / 8) return 0;
  const ScriptReading again = read_script(written(reading));
  require(!again.refused && again.commands.size() == reading.commands.size());
  for (std::size_t i = 0; i < again.commands.size(); ++i) {
    const SimpleCommand& ours = reading.commands[i];
    const SimpleCommand& theirs = again.commands[i];
    require(ours.link == theirs.link && ours.words.size() == theirs.words.size());
    for (std::size_t w = 0; w < ours.words.size(); ++w) {
      require(ours.words[w].text == theirs.words[w].text);
    }
  }
  return 0;
}
