#include "core/json/plain_json.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace sortie {
namespace {

/// Deeper ones are left to the readers that need no stack for it.
constexpr std::size_t kDeepest = 128;
/// A number of hundreds of digits is one that the other reader refuses.
constexpr std::size_t kMostDigits = 40;
/// Up to so many members, each name is compared with those before it.
constexpr std::size_t kFewMembers = 16;

constexpr std::uint64_t every_byte(unsigned char value) {
  return 0x0101010101010101ull * value;
}

/// Has a bit where a byte is below the limit, of at most 0x80; of those behind the first one, others
/// may have theirs, too.
constexpr std::uint64_t bytes_below(std::uint64_t word, unsigned char limit) {
  return (word - every_byte(limit)) & ~word & every_byte(0x80);
}
constexpr std::uint64_t bytes_equal(std::uint64_t word, char c) {
  return bytes_below(word ^ every_byte(static_cast<unsigned char>(c)), 1);
}

void append_utf8(std::uint32_t code, std::string& to) {
  const auto put = [&](std::uint32_t byte) { to.push_back(static_cast<char>(byte)); };
  const auto put_next = [&](int shift) { put(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) return put(code);
  if (code < 0x800) {
    put(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12);
    put_next(6);
  } else {
    put(0xF0 | code >> 18);
    put_next(12);
    put_next(6);
  }
  put_next(0);
}

constexpr bool ends_plain(char c) {
  return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
}

/// Reads tokens of a JSON text (RFC 8259). Each call returns whether there is what it reads.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  void skip_space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }
  bool at_end() const { return at_ == end_; }
  /// 0 at the end.
  char next() const { return at_ == end_ ? '\0' : *at_; }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  bool word(std::string_view text) {
    if (!std::string_view(at_, static_cast<std::size_t>(end_ - at_)).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }

  /// A number's spelling: -?(0|[1-9][0-9]*)(\.[0-9]+)?, without an exponent.
  bool number(std::string_view& spelling) {
    const char* const begin = at_;
    take('-');
    if (!take('0') && !digits()) return false;
    if (take('.') && !digits()) return false;
    const char c = next();
    if ((c >= '0' && c <= '9') || c == 'e' || c == 'E') return false;
    spelling = {begin, static_cast<std::size_t>(at_ - begin)};
    return true;
  }

  /// What stands up to the next quote, backslash or control character.
  std::string_view plain() {
    const char* const begin = at_;
    while (end_ - at_ >= 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, at_, sizeof word);
      const std::uint64_t ends =
          bytes_below(word, 0x20) | bytes_equal(word, '"') | bytes_equal(word, '\\');
      if (ends == 0) {
        at_ += 8;
      } else if constexpr (std::endian::native == std::endian::little) {
        at_ += std::countr_zero(ends) / 8;
        break;
      } else {
        break;
      }
    }
    while (at_ != end_ && !ends_plain(*at_)) ++at_;
    return {begin, static_cast<std::size_t>(at_ - begin)};
  }

  /// Behind a backslash: the character that the escape stands for.
  bool escaped(std::uint32_t& code) {
    constexpr std::string_view kLetters = "\"\\/bfnrt";
    constexpr std::string_view kMeant = "\"\\/\b\f\n\r\t";
    if (take('u')) return unicode(code);
    const auto letter = at_ == end_ ? kLetters.npos : kLetters.find(*at_);
    if (letter == kLetters.npos) return false;
    ++at_;
    code = static_cast<unsigned char>(kMeant[letter]);
    return true;
  }

 private:
  bool digits() {
    const char* const begin = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    return at_ != begin && static_cast<std::size_t>(at_ - begin) <= kMostDigits;
  }
  bool hex4(std::uint32_t& value) {
    if (end_ - at_ < 4) return false;
    value = 0;
    for (int i = 0; i < 4; ++i) {
      const char c = *at_++;
      const int digit = c >= '0' && c <= '9'   ? c - '0'
                        : c >= 'a' && c <= 'f' ? c - 'a' + 10
                        : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                               : -1;
      if (digit < 0) return false;
      value = value << 4 | static_cast<std::uint32_t>(digit);
    }
    return true;
  }
  bool unicode(std::uint32_t& code) {
    if (!hex4(code)) return false;
    if (code < 0xD800 || code > 0xDFFF) return true;
    std::uint32_t low = 0;
    if (code > 0xDBFF || !word("\\u") || !hex4(low) || low < 0xDC00 || low > 0xDFFF) return false;
    code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    return true;
  }

  const char* at_;
  const char* end_;
};

/// Builds the values. Members and items of each depth are gathered in a list that is used again, so
/// that each value's own list is allocated once, in its size.
class Values {
 public:
  Values(std::string_view text, std::size_t max_depth, std::size_t max_values)
      : tokens_(text), max_depth_(std::min(max_depth, kDeepest)), left_(max_values) {}

  bool root(Json& value) {
    tokens_.skip_space();
    if (!read(value, 0)) return false;
    tokens_.skip_space();
    return tokens_.at_end();
  }

 private:
  /// @param depth  of objects and arrays around it
  bool read(Json& value, std::size_t depth) {
    if (left_-- == 0) return false;
    switch (tokens_.next()) {
      case '{':
        return depth < max_depth_ && object(value, depth + 1);
      case '[':
        return depth < max_depth_ && array(value, depth + 1);
      case '"': {
        std::string text;
        if (!string(text)) return false;
        value = Json(std::move(text));
        return true;
      }
      case 't':
        value = Json(true);
        return tokens_.word("true");
      case 'f':
        value = Json(false);
        return tokens_.word("false");
      case 'n':
        return tokens_.word("null");
      default: {
        std::string_view spelling;
        if (!tokens_.number(spelling)) return false;
        value = Json::number(std::string(spelling));
        return true;
      }
    }
  }

  bool string(std::string& text) {
    if (!tokens_.take('"')) return false;
    text = tokens_.plain();
    while (!tokens_.take('"')) {
      std::uint32_t code = 0;
      if (!tokens_.take('\\') || !tokens_.escaped(code)) return false;
      append_utf8(code, text);
      text.append(tokens_.plain());
    }
    return true;
  }

  bool object(Json& value, std::size_t depth) {
    tokens_.take('{');
    value = Json::object();
    tokens_.skip_space();
    if (tokens_.take('}')) return true;
    auto& members = at_depth(depth).members;
    do {
      tokens_.skip_space();
      auto& [name, member] = members.emplace_back();
      if (!string(name) || is_known(members)) return false;
      tokens_.skip_space();
      if (!tokens_.take(':')) return false;
      tokens_.skip_space();
      if (!read(member, depth)) return false;
      tokens_.skip_space();
    } while (tokens_.take(','));
    if (!tokens_.take('}') || repeats_name(members)) return false;
    move_from(members, value.members());
    return true;
  }

  bool array(Json& value, std::size_t depth) {
    tokens_.take('[');
    value = Json::array();
    tokens_.skip_space();
    if (tokens_.take(']')) return true;
    auto& items = at_depth(depth).items;
    do {
      tokens_.skip_space();
      if (!read(items.emplace_back(), depth)) return false;
      tokens_.skip_space();
    } while (tokens_.take(','));
    if (!tokens_.take(']')) return false;
    move_from(items, value.items());
    return true;
  }

  /// Of the value that is open at a depth.
  struct Gathered {
    std::vector<Json::Member> members;
    std::vector<Json> items;
  };
  Gathered& at_depth(std::size_t depth) {
    while (gathered_.size() < depth) gathered_.emplace_back().members.reserve(kFewMembers);
    return gathered_[depth - 1];
  }

  template <class T>
  static void move_from(std::vector<T>& from, std::vector<T>& to) {
    to.assign(std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    from.clear();
  }

  /// Whether the last name is one of those before it; repeats_name() looks among many.
  static bool is_known(const std::vector<Json::Member>& members) {
    if (members.size() > kFewMembers) return false;
    for (std::size_t i = 0; i + 1 < members.size(); ++i)
      if (members[i].first == members.back().first) return true;
    return false;
  }

  static bool repeats_name(const std::vector<Json::Member>& members) {
    if (members.size() <= kFewMembers) return false;
    std::vector<std::string_view> names;
    names.reserve(members.size());
    for (const auto& member : members) names.push_back(member.first);
    std::sort(names.begin(), names.end());
    return std::adjacent_find(names.begin(), names.end()) != names.end();
  }

  Tokens tokens_;
  std::size_t max_depth_;
  std::size_t left_;
  std::deque<Gathered> gathered_;  ///< one a depth; where they are does not change
};

bool skip_string(Tokens& tokens) {
  if (!tokens.take('"')) return false;
  tokens.plain();
  while (!tokens.take('"')) {
    std::uint32_t code = 0;
    if (!tokens.take('\\') || !tokens.escaped(code)) return false;
    tokens.plain();
  }
  return true;
}

bool skip_value(Tokens& tokens, std::size_t depth);

bool skip_list(Tokens& tokens, char open, char close, std::size_t depth) {
  tokens.take(open);
  tokens.skip_space();
  if (tokens.take(close)) return true;
  do {
    tokens.skip_space();
    if (open == '{') {
      if (!skip_string(tokens)) return false;
      tokens.skip_space();
      if (!tokens.take(':')) return false;
      tokens.skip_space();
    }
    if (!skip_value(tokens, depth)) return false;
    tokens.skip_space();
  } while (tokens.take(','));
  return tokens.take(close);
}

bool skip_value(Tokens& tokens, std::size_t depth) {
  std::string_view spelling;
  switch (tokens.next()) {
    case '{':
      return depth < kDeepest && skip_list(tokens, '{', '}', depth + 1);
    case '[':
      return depth < kDeepest && skip_list(tokens, '[', ']', depth + 1);
    case '"':
      return skip_string(tokens);
    case 't':
      return tokens.word("true");
    case 'f':
      return tokens.word("false");
    case 'n':
      return tokens.word("null");
    default:
      return tokens.number(spelling);
  }
}

}  // namespace

std::optional<Json> parse_plain_json(std::string_view text, std::size_t max_depth,
                                     std::size_t max_values) {
  Json value;
  if (!Values(text, max_depth, max_values).root(value)) return std::nullopt;
  return value;
}

bool is_plain_json(std::string_view text) {
  Tokens tokens(text);
  tokens.skip_space();
  if (!skip_value(tokens, 0)) return false;
  tokens.skip_space();
  return tokens.at_end();
}

}  // namespace sortie
