#include "policies/shell/loop_words.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "core/text/text.h"

namespace sortie {
namespace {

/// Whether an unquoted variable with this value is exactly one word.
bool is_plain(const ScriptWord& value) {
  return !value.glob && !value.text.empty() &&
         std::all_of(value.text.begin(), value.text.end(), [](char c) {
           return is_ascii_alphanumeric(c) ||
                  std::string_view("._/+,:@%=-~^").find(c) != std::string_view::npos;
         });
}

/// @return whether the variable may stand there with this value
bool set_in_word(ScriptWord& word, std::size_t number, const ScriptWord& value, std::size_t& room) {
  std::string text;
  for (std::size_t i = 0; i < word.text.size(); ++i) {
    const char c = word.text[i];
    const bool is_mark = c == kQuotedVariable || c == kBareVariable;
    if (!is_mark || i + 1 == word.text.size() ||
        word.text[i + 1] != static_cast<char>('0' + number)) {
      text += c;
      if (is_mark && i + 1 < word.text.size()) text += word.text[++i];
      continue;
    }
    if (c == kBareVariable && !is_plain(value)) return false;
    if (value.text.size() > room) return false;
    room -= value.text.size();
    text += value.text;
    word.glob = word.glob || value.glob;
    // Its text is no name of a command and no reserved word.
    word.bare = false;
    ++i;
  }
  word.text = std::move(text);
  return true;
}

}  // namespace

ScriptSize size_of(const ScriptTree& tree) {
  ScriptSize size{.commands = tree.kind == ScriptNode::Kind::command ? 1u : 0u,
                  .bytes = sizeof(ScriptTree)};
  for (const ScriptWord& word : tree.command.words)
    size.bytes += sizeof(ScriptWord) + word.text.size();
  for (const ScriptTree& part : tree.parts) {
    const ScriptSize inner = size_of(part);
    size.commands += inner.commands;
    size.bytes += inner.bytes;
  }
  return size;
}

bool mark_repeated(ScriptTree& tree) {
  tree.command.repeats = true;
  if (!tree.command.words.empty() && tree.command.words[0].text == "cd") return false;
  return std::all_of(tree.parts.begin(), tree.parts.end(), mark_repeated);
}

std::optional<std::size_t> set_loop_variable(ScriptTree& tree, std::size_t number,
                                             const ScriptWord& value, std::size_t& room) {
  for (ScriptWord& word : tree.command.words)
    if (!set_in_word(word, number, value, room)) return word.at;
  for (ScriptTree& part : tree.parts)
    if (const auto refused = set_loop_variable(part, number, value, room)) return refused;
  return std::nullopt;
}

}  // namespace sortie
