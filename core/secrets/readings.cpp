#include "core/secrets/readings.h"

#include <cstdint>
#include <optional>
#include <string>

namespace sortie {
namespace {

constexpr std::uint32_t kLargestCharacter = 0x10FFFF;
/// Digits of a number in HTML, leading zeros counted.
constexpr int kMostDigits = 10;

struct NamedCharacter {
  std::string_view name;
  std::uint32_t character;
};

/// Names that HTML has for what stands in values (HTML, §13.5); encoders of all characters use
/// the second half.
constexpr NamedCharacter kNamed[] = {
    {"amp", '&'},    {"lt", '<'},      {"gt", '>'},     {"quot", '"'},   {"apos", '\''},
    {"AMP", '&'},    {"LT", '<'},      {"GT", '>'},     {"QUOT", '"'},   {"nbsp", 0xA0},
    {"excl", '!'},   {"num", '#'},     {"dollar", '$'}, {"percnt", '%'}, {"lpar", '('},
    {"rpar", ')'},   {"ast", '*'},     {"plus", '+'},   {"comma", ','},  {"period", '.'},
    {"sol", '/'},    {"colon", ':'},   {"semi", ';'},   {"equals", '='}, {"quest", '?'},
    {"commat", '@'}, {"lsqb", '['},    {"lbrack", '['}, {"bsol", '\\'},  {"rsqb", ']'},
    {"rbrack", ']'}, {"Hat", '^'},     {"lowbar", '_'}, {"grave", '`'},  {"lcub", '{'},
    {"lbrace", '{'}, {"verbar", '|'},  {"vert", '|'},   {"rcub", '}'},   {"rbrace", '}'},
    {"Tab", '\t'},   {"NewLine", '\n'}};
constexpr std::size_t kLongestName = 7;

std::optional<std::uint32_t> digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

bool is_letter_or_digit(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
         (c & 0x80) != 0;
}

Reading byte_reading(std::uint32_t byte, std::size_t end) {
  return {.bytes = {static_cast<char>(byte)}, .size = 1, .end = end};
}

std::optional<Reading> character_reading(std::uint32_t character, std::size_t end) {
  if (character > kLargestCharacter) return std::nullopt;
  if (character < 0x80) return byte_reading(character, end);
  Reading reading{.end = end};
  const std::size_t size = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
  for (std::size_t i = size; i-- > 1; character >>= 6)
    reading.bytes[i] = static_cast<char>(0x80 | (character & 0x3F));
  constexpr unsigned char kLead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  reading.bytes[0] = static_cast<char>(kLead[size] | character);
  reading.size = size;
  return reading;
}

/// A text read through codings: at level 0 as it stands, at each further one with what the level
/// below says decoded once more.
class Reader {
 public:
  Reader(std::string_view text, bool ended) : text_(text), ended_(ended) {}

  bool cut() const { return cut_; }

  Reading read(std::size_t at, std::size_t level) {
    if (at >= text_.size()) {
      cut_ = cut_ || !ended_;
      return {.end = at};
    }
    if (level == 0) return byte_reading(static_cast<unsigned char>(text_[at]), at + 1);
    const Reading first = read(at, level - 1);
    if (first.size != 1 || !begins_coded(first.bytes[0])) return first;
    return decoded(first, level - 1).value_or(first);
  }

 private:
  struct Number {
    std::uint32_t value = 0;
    int digits = 0;
    std::size_t end = 0;
  };

  std::optional<Reading> decoded(const Reading& first, std::size_t lower) {
    switch (first.bytes[0]) {
      case '\\':
        return escape(first.end, lower);
      case '%':
        return percent(first.end, lower);
      case '&':
        return reference(first.end, lower);
      default:
        return quoted_printable(first.end, lower);
    }
  }

  Number number(std::size_t at, std::size_t lower, std::uint32_t base, int most) {
    Number number{.end = at};
    while (number.digits < most) {
      const Reading next = read(number.end, lower);
      const auto digit = next.size == 1 ? digit_of(next.bytes[0]) : std::nullopt;
      if (!digit || *digit >= base) break;
      number.value = number.value * base + *digit;
      ++number.digits;
      number.end = next.end;
    }
    return number;
  }

  std::optional<Reading> two_hex_digits(std::size_t at, std::size_t lower) {
    const Number byte = number(at, lower, 16, 2);
    if (byte.digits < 2) return std::nullopt;
    return byte_reading(byte.value, byte.end);
  }

  std::optional<Reading> escape(std::size_t at, std::size_t lower) {
    const Reading next = read(at, lower);
    if (next.size != 1) return std::nullopt;
    const char c = next.bytes[0];
    constexpr std::string_view kLetters = "ntrbfvaeE";
    constexpr std::string_view kMeant = "\n\t\r\b\f\v\a\x1B\x1B";
    if (const auto letter = kLetters.find(c); letter != std::string_view::npos)
      return byte_reading(static_cast<unsigned char>(kMeant[letter]), next.end);
    if (c == 'x') {
      const Number byte = number(next.end, lower, 16, 2);
      if (byte.digits == 0) return std::nullopt;
      return byte_reading(byte.value, byte.end);
    }
    if (c == 'u' || c == 'U') return unicode_escape(next.end, lower, c == 'u' ? 4 : 8);
    if (c >= '0' && c <= '7') {
      const Number byte = number(at, lower, 8, 3);
      if (byte.value > 0xFF) return std::nullopt;
      return byte_reading(byte.value, byte.end);
    }
    if (is_letter_or_digit(c) || c == '\n' || c == '\r') return std::nullopt;
    return next;
  }

  std::optional<Reading> unicode_escape(std::size_t at, std::size_t lower, int digits) {
    const Reading brace = read(at, lower);
    if (brace.size == 1 && brace.bytes[0] == '{') {
      const Number character = number(brace.end, lower, 16, 8);
      return character.digits == 0 ? std::nullopt : closed(character, '}', lower);
    }
    Number character = number(at, lower, 16, digits);
    if (character.digits < digits) return std::nullopt;
    // A pair of surrogates is one character (RFC 8259 §7).
    if (character.value >= 0xD800 && character.value < 0xDC00) {
      const Number low = low_surrogate(character.end, lower);
      if (low.digits == 4) {
        character.value = 0x10000 + (character.value - 0xD800) * 0x400 + (low.value - 0xDC00);
        character.end = low.end;
      }
    }
    return character_reading(character.value, character.end);
  }

  Number low_surrogate(std::size_t at, std::size_t lower) {
    const Reading slash = read(at, lower);
    if (slash.size != 1 || slash.bytes[0] != '\\') return {};
    const Reading letter = read(slash.end, lower);
    if (letter.size != 1 || letter.bytes[0] != 'u') return {};
    const Number low = number(letter.end, lower, 16, 4);
    return low.value >= 0xDC00 && low.value < 0xE000 ? low : Number{};
  }

  std::optional<Reading> percent(std::size_t at, std::size_t lower) {
    const Reading next = read(at, lower);
    if (next.size == 1 && next.bytes[0] == 'u') return unicode_escape(next.end, lower, 4);
    return two_hex_digits(at, lower);
  }

  std::optional<Reading> reference(std::size_t at, std::size_t lower) {
    const Reading hash = read(at, lower);
    if (hash.size != 1) return std::nullopt;
    if (hash.bytes[0] != '#') return named(at, lower);
    const Reading letter = read(hash.end, lower);
    const bool hex = letter.size == 1 && (letter.bytes[0] == 'x' || letter.bytes[0] == 'X');
    const Number character = number(hex ? letter.end : hash.end, lower, hex ? 16 : 10, kMostDigits);
    if (character.digits == 0) return std::nullopt;
    return closed(character, ';', lower);
  }

  std::optional<Reading> named(std::size_t at, std::size_t lower) {
    std::string name;
    for (Reading next = read(at, lower); next.size == 1; next = read(next.end, lower)) {
      if (next.bytes[0] == ';') {
        for (const auto& [known, character] : kNamed)
          if (known == name) return character_reading(character, next.end);
        return std::nullopt;
      }
      name += next.bytes[0];
      if (name.size() > kLongestName || !is_letter_or_digit(name.back())) return std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<Reading> closed(const Number& character, char by, std::size_t lower) {
    const Reading next = read(character.end, lower);
    if (next.size != 1 || next.bytes[0] != by) return std::nullopt;
    return character_reading(character.value, next.end);
  }

  std::optional<Reading> quoted_printable(std::size_t at, std::size_t lower) {
    const Reading next = read(at, lower);
    if (next.size != 1) return std::nullopt;
    if (next.bytes[0] == '\n') return Reading{.end = next.end, .soft_break = true};
    if (next.bytes[0] == '\r') {
      const Reading newline = read(next.end, lower);
      if (newline.size == 1 && newline.bytes[0] == '\n')
        return Reading{.end = newline.end, .soft_break = true};
    }
    return two_hex_digits(at, lower);
  }

  std::string_view text_;
  bool ended_;
  bool cut_ = false;
};

}  // namespace

Readings readings(std::string_view text, std::size_t at, bool ended) {
  Readings found;
  Reader reader(text, ended);
  std::size_t end = at + 1;
  for (std::size_t level = 1; level <= Readings::kMost; ++level) {
    const Reading reading = reader.read(at, level);
    if (reading.end != end) found.list[found.count++] = reading;
    end = reading.end;
    // A further level says something else of what is a sign again, or has coded digits behind it.
    if (reading.size != 1 || !begins_coded(reading.bytes[0])) break;
    if (found.count == 0 && at + 1 < text.size() && !begins_coded(text[at + 1])) break;
  }
  found.cut = reader.cut();
  return found;
}

}  // namespace sortie
