#include "app/land/quoted_words.h"

#include <algorithm>
#include <array>
#include <vector>

#include "core/text/ci_commands.h"
#include "core/text/terminal_text.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kUnseen = "\xe2\x80\x8b";  // U+200B

bool is_word(char c) {
  return is_ascii_alphanumeric(c) || c == '_' || static_cast<unsigned char>(c) >= 0x80;
}

std::string lower(std::string_view text) {
  std::string small(text);
  std::transform(small.begin(), small.end(), small.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return small;
}

/// Characters that change the direction of text, or that are not seen.
std::string without_tricks(std::string text) {
  static const std::array<std::string_view, 17> kTricks = {
      "\xe2\x80\x8b", "\xe2\x80\x8c", "\xe2\x80\x8d", "\xe2\x80\x8e", "\xe2\x80\x8f",
      "\xe2\x80\xa8", "\xe2\x80\xa9", "\xe2\x80\xaa", "\xe2\x80\xab", "\xe2\x80\xac",
      "\xe2\x80\xad", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa7", "\xe2\x81\xa8",
      "\xe2\x81\xa9", "\xef\xbb\xbf"};
  for (const std::string_view trick : kTricks)
    for (auto at = text.find(trick); at != text.npos; at = text.find(trick, at))
      text.erase(at, trick.size());
  std::erase_if(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
  });
  return text;
}

/// "[skip ci]", "[ci skip]", "[no ci]", "***NO_CI***", "skip-checks: true": CI systems look for them
/// anywhere in a message.
std::string without_skips(std::string text) {
  constexpr std::size_t kLongest = 60;
  const std::string small = lower(text);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    out += text[i];
    if (text[i] == '[') {
      const auto end = small.find(']', i);
      if (end == small.npos || end - i > kLongest) continue;
      const std::string_view inside = std::string_view(small).substr(i + 1, end - i - 1);
      if (inside.find("skip") != inside.npos || inside.find("no ci") != inside.npos ||
          inside.find("ci") == 0)
        out += ' ';
    }
    const std::string_view rest = std::string_view(small).substr(i + 1);
    if (text[i] == '*' && rest.starts_with("no_ci")) out += ' ';
    if (text[i] == 's' || text[i] == 'S')
      if (rest.starts_with("kip-checks")) out += kUnseen;
  }
  return out;
}

/// "@name", "#12", "!12", "GH-12", "…/issues/12".
std::string without_references(const std::string& text) {
  const std::string small = lower(text);
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char next = i + 1 < text.size() ? text[i + 1] : '\0';
    const bool begins = i == 0 || !is_word(text[i - 1]);
    out += c;
    const bool mention = c == '@' && begins && is_word(next);
    const bool number = (c == '#' || c == '!') && is_ascii_digit(next);
    const auto ends_with = [&](std::string_view word) {
      return i + 1 >= word.size() && small.compare(i + 1 - word.size(), word.size(), word) == 0;
    };
    const bool link =
        is_ascii_digit(next) && (ends_with("gh-") || ends_with("/issues/") || ends_with("/pull/") ||
                                 ends_with("/merge_requests/") || ends_with("/discussions/"));
    if (mention || number || link) out += kUnseen;
  }
  return out;
}

/// Whether git would end the message here, or take the line for a header (git: mailinfo.c).
bool is_taken(const std::string& line) {
  static const std::array<std::string_view, 11> kTaken = {
      "---", "diff -",           "Index: ", "From ",     ">From ",      "-- ",
      "@@ ", "GIT binary patch", "+++ ",    "old mode ", "rename from "};
  static const std::array<std::string_view, 6> kHeaders = {
      "from:", "date:", "subject:", "sender:", "in-body-", "content-"};
  if (line.find(">8") != line.npos || line.find("8<") != line.npos) return true;
  const std::string small = lower(line);
  const std::string key = small.substr(0, small.find(':'));
  if (key.size() < small.size() && (key.ends_with("-by") || key.starts_with("sortie-")))
    return true;  // a trailer: who signed or reviewed it is not the agent's to say
  return line == "--" ||
         std::any_of(kTaken.begin(), kTaken.end(),
                     [&](std::string_view word) { return line.starts_with(word); }) ||
         std::any_of(kHeaders.begin(), kHeaders.end(),
                     [&](std::string_view word) { return small.starts_with(word); });
}

std::string without_cuts(const std::string& text) {
  std::string out;
  for (const auto part : split_lines(text)) {
    std::string line(part);
    while (!line.empty() && (line.back() == ' ' || line.back() == '\t')) line.pop_back();
    // Scissors are seen behind blanks, too.
    for (const std::string_view scissors : {">8", "8<"})
      for (auto at = line.find(scissors); at != line.npos; at = line.find(scissors, at))
        line.insert(at + 1, " ");
    out += (is_taken(line) ? " " : "") + line + "\n";
  }
  return out;
}

}  // namespace

std::string quoted_words(std::string_view text, std::size_t most) {
  TerminalText plain;
  std::string words = plain.feed(repair_utf8(text.substr(0, std::min(text.size(), most * 2))));
  words += plain.finish();
  words = without_tricks(std::move(words));
  words = without_references(without_skips(std::move(words)));
  words =
      without_ci_commands(words, {.github = true, .gitlab = true, .azure = true, .teamcity = true});
  words = trimmed(without_cuts(words));
  if (words.size() <= most) return words;
  words.resize(most);
  // Not within a character.
  while (!words.empty() && (static_cast<unsigned char>(words.back()) & 0xc0u) == 0x80u)
    words.pop_back();
  if (!words.empty() && static_cast<unsigned char>(words.back()) >= 0xc0u) words.pop_back();
  return words + " …";
}

std::string fenced(const std::string& words) {
  std::size_t longest = 2;
  for (const char fence : {'`', '~'}) {
    std::size_t run = 0;
    for (const char c : words) {
      run = c == fence ? run + 1 : 0;
      longest = std::max(longest, run);
    }
  }
  const std::string fence(longest + 1, '`');
  return fence + "text\n" + words + "\n" + fence + "\n";
}

}  // namespace sortie
