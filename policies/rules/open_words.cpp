#include "policies/rules/open_words.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/text/text.h"
#include "policies/shell/lookup.h"
#include "policies/shell/read_only_table.h"
#include "policies/shell/script_word.h"

namespace sortie {
namespace {

/// Longer ones may become anything.
constexpr std::size_t kMaxLength = 1024;

/// A place in a word or in a glob.
struct Piece {
  enum class Kind {
    literal,  ///< `letter`
    one,      ///< of a word: `?`; of a glob: any character, or one of `set`
    many,     ///< of a word: `*`; of a glob: any characters
    digits,   ///< digits, or nothing
    path,     ///< characters of a path
    any       ///< anything
  };
  Kind kind = Kind::literal;
  char letter = '\0';
  std::string set{};  ///< of a glob: the set without its brackets; "" for `?`
};
using Kind = Piece::Kind;

std::vector<Piece> pieces_of_word(std::string_view word) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < word.size(); ++i) {
    const char c = word[i];
    if (c == '[') {
      // Quotes are resolved, so a set's end is not certain.
      pieces.push_back({.kind = Kind::any});
      const auto close = word.rfind(']');
      i = close == std::string_view::npos || close < i ? word.size() : close;
    } else if (c == '*' || c == '?') {
      pieces.push_back({.kind = c == '*' ? Kind::many : Kind::one});
    } else if (c == kNumberMark) {
      pieces.push_back({.kind = Kind::digits});
    } else if (c == kPathMark) {
      pieces.push_back({.kind = Kind::path});
    } else if (c == kAnyMark) {
      pieces.push_back({.kind = Kind::any});
    } else {
      pieces.push_back({.letter = c});
    }
  }
  return pieces;
}

std::vector<Piece> pieces_of_glob(std::string_view glob) {
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < glob.size(); ++i) {
    const char c = glob[i];
    const auto close = c == '[' ? glob.find(']', i + 2 + (glob.substr(i + 1).starts_with('!'))) : 0;
    if (c == '\\' && i + 1 < glob.size()) {
      pieces.push_back({.letter = glob[++i]});
    } else if (c == '*') {
      pieces.push_back({.kind = Kind::many});
    } else if (c == '?') {
      pieces.push_back({.kind = Kind::one});
    } else if (c == '[' && close != std::string_view::npos) {
      pieces.push_back({.kind = Kind::one, .set = std::string(glob.substr(i + 1, close - i - 1))});
      i = close;
    } else {
      pieces.push_back({.letter = c});
    }
  }
  return pieces;
}

bool in_set(std::string_view set, char c) {
  const bool negated = set.starts_with('!') || set.starts_with('^');
  if (negated) set.remove_prefix(1);
  // Classes and escapes are not read here.
  if (set.find_first_of("[\\:") != std::string_view::npos) return true;
  bool found = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (i + 2 < set.size() && set[i + 1] == '-') {
      found = found || (set[i] <= c && c <= set[i + 2]);
      i += 2;
    } else {
      found = found || set[i] == c;
    }
  }
  return found != negated;
}

/// How far the current part of a path has come, where a program or the shell wrote it.
enum class Part { begins, dot, dots, other };

Part next_part(Part part, char c) {
  if (c == '/') return Part::begins;
  if (c != '.') return Part::other;
  if (part == Part::begins) return Part::dot;
  return part == Part::dot ? Part::dots : Part::other;
}

/// Looks for a text that both match, place by place.
class Overlap {
 public:
  Overlap(std::vector<Piece> word, std::vector<Piece> glob)
      : word_(std::move(word)), glob_(std::move(glob)), seen_((word_.size() + 1) * width()) {}

  bool exists() {
    push(0, 0, Part::begins);
    while (!open_.empty()) {
      const State state = open_.back();
      open_.pop_back();
      if (state.word == word_.size() && state.glob == glob_.size()) return true;
      step(state);
    }
    return false;
  }

 private:
  struct State {
    std::size_t word;
    std::size_t glob;
    Part part;
  };
  std::size_t width() const { return (glob_.size() + 1) * 4; }

  void push(std::size_t word, std::size_t glob, Part part) {
    const auto at = word * width() + glob * 4 + static_cast<std::size_t>(part);
    if (seen_[at]) return;
    seen_[at] = true;
    open_.push_back({word, glob, part});
  }

  void step(const State& state) {
    // A `*` of the glob may end here.
    if (state.glob < glob_.size() && glob_[state.glob].kind == Kind::many)
      push(state.word, state.glob + 1, state.part);
    if (state.word == word_.size()) return;
    const Piece& piece = word_[state.word];
    const bool may_be_empty = piece.kind != Kind::literal && piece.kind != Kind::one;
    const bool dots = piece.kind == Kind::path && state.part == Part::dots;
    if (may_be_empty && !dots) push(state.word + 1, state.glob, state.part);
    if (piece.kind == Kind::literal) return take(state, piece, piece.letter);
    for (int c = 1; c < 128; ++c) take(state, piece, static_cast<char>(c));
    take(state, piece, '\x80');
  }

  /// The word's next character is `c`.
  void take(const State& state, const Piece& piece, char c) {
    if (!may_have(piece, state.part, c)) return;
    const bool stays = piece.kind != Kind::literal && piece.kind != Kind::one;
    const std::size_t word = stays ? state.word : state.word + 1;
    // Literal parts are what they are: only what follows a "/" can be judged.
    const bool judged = piece.kind == Kind::path;
    const Part part = judged || c == '/' ? next_part(state.part, c) : Part::other;
    if (state.glob == glob_.size()) return;
    const Piece& expected = glob_[state.glob];
    if (expected.kind == Kind::many) return push(word, state.glob, part);
    const bool fits = expected.kind == Kind::one ? expected.set.empty() || in_set(expected.set, c)
                                                 : expected.letter == c;
    if (fits) push(word, state.glob + 1, part);
  }

  static bool may_have(const Piece& piece, Part part, char c) {
    switch (piece.kind) {
      case Kind::digits:
        return c >= '0' && c <= '9';
      case Kind::one:
      case Kind::many:
        return c != '/' && (c != '.' || part != Part::begins);
      case Kind::path:
        return c != '/' || part != Part::dots;
      default:
        return true;
    }
  }

  std::vector<Piece> word_;
  std::vector<Piece> glob_;
  std::vector<bool> seen_;
  std::vector<State> open_;
};

bool is_beyond_ascii(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

}  // namespace

std::vector<std::string> with_globs_for_marks(std::span<const std::string> argv) {
  std::vector<std::string> words(argv.begin(), argv.end());
  // For find `--` ends no options, in `jq --arg a --` it is a value, and some read @FILE behind it.
  const std::string_view name = base_name(argv[0]);
  const ReadOnlyCommand* const row = find_read_only(name);
  const bool has_end =
      !is_one_of(name, {"find", "jq"}) && (row == nullptr || row->no_word_begins.empty());
  bool only_operands = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string& word = words[i];
    if (only_operands && word == std::string(1, kAnyMark)) word.insert(0, "./");
    only_operands =
        only_operands || (has_end && i > 1 && word == "--" && !words[i - 1].starts_with('-'));
    for (char& c : word) {
      if (c == kNumberMark) c = '1';
      if (c == kPathMark || c == kAnyMark) c = '*';
    }
  }
  return words;
}

std::string shown_word(std::string_view word) {
  std::string text;
  for (const char c : word) {
    if (c == kNumberMark) {
      text += 'N';
    } else if (c == kPathMark || c == kAnyMark) {
      text += "{}";
    } else {
      text += c;
    }
  }
  return text;
}

std::vector<std::string> shown_words(std::span<const std::string> argv) {
  std::vector<std::string> words;
  for (const std::string& word : argv) words.push_back(shown_word(word));
  return words;
}

bool may_become(std::string_view word, std::string_view glob) {
  if (word.size() > kMaxLength || glob.size() > kMaxLength) return true;
  // A glob's `?` and sets take a whole character.
  if (is_beyond_ascii(word) || is_beyond_ascii(glob)) return true;
  return Overlap(pieces_of_word(word), pieces_of_glob(glob)).exists();
}

}  // namespace sortie
