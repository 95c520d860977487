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

/// Letters with a meaning after a backslash.
constexpr std::string_view kEscapeLetters = "ntrbfvaeE";
constexpr std::string_view kEscapesMeant = "\n\t\r\b\f\v\a\x1B\x1B";

std::optional<std::uint32_t> digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

constexpr bool is_letter_or_digit(char c) {
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

/// A text read through nested encodings: level 0 is the text itself, each further level decodes the
/// level below once more.
class Reader {
 public:
  using Known = TextReader::Known;

  /// @param known  earlier results, by level and offset
  Reader(std::string_view text, bool ended, std::vector<Known>& known)
      : text_(text), ended_(ended), known_(known) {
    if (known_.empty()) known_.resize(Readings::kMost * kKnown);
  }

  bool cut() const { return cut_; }

  Reading read(std::size_t at, std::size_t level) {
    if (at >= text_.size()) {
      cut_ = cut_ || !ended_;
      return {.end = at};
    }
    if (level == 0 || !begins_coded(text_[at]))
      return byte_reading(static_cast<unsigned char>(text_[at]), at + 1);
    Known& known = known_[(level - 1) * kKnown + at % kKnown];
    if (known.at == at) return known.reading;
    Reading reading = read(at, level - 1);
    if (reading.size == 1 && begins_coded(reading.bytes[0]))
      reading = decoded(reading, level - 1).value_or(reading);
    if (!cut_) known = {at, reading};
    return reading;
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
    if (const auto letter = kEscapeLetters.find(c); letter != std::string_view::npos)
      return byte_reading(static_cast<unsigned char>(kEscapesMeant[letter]), next.end);
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

  static constexpr std::size_t kKnown = 64;

  std::string_view text_;
  bool ended_;
  std::vector<Known>& known_;
  bool cut_ = false;
};

/// Results besides characters: kNothing, or kUnclear if more bytes belong to the escape.
constexpr int kNothing = -1;
constexpr int kUnclear = -2;
constexpr std::array<std::int16_t, 256> make_escapes() {
  std::array<std::int16_t, 256> escapes{};
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    const bool nothing = is_letter_or_digit(c) || c == '\n' || c == '\r';
    escapes[static_cast<std::size_t>(byte)] = static_cast<std::int16_t>(nothing ? kNothing : byte);
  }
  for (std::size_t i = 0; i < kEscapeLetters.size(); ++i)
    escapes[static_cast<unsigned char>(kEscapeLetters[i])] = kEscapesMeant[i];
  for (const char c : std::string_view("xuU01234567\\%&="))
    escapes[static_cast<unsigned char>(c)] = kUnclear;
  return escapes;
}
constexpr std::array<std::int16_t, 256> kEscapes = make_escapes();

/// The value of so many hex digits, or kNothing.
int hex_number(const char* digits, int count) {
  int value = 0;
  for (int i = 0; i < count; ++i) {
    const auto digit = digit_of(digits[i]);
    if (!digit) return kNothing;
    value = value * 16 + static_cast<int>(*digit);
  }
  return value;
}

struct QuickReading {
  int character = kUnclear;  ///< or kNothing
  std::size_t size = 0;      ///< bytes of the encoded form
  bool is_byte = true;       ///< a byte of UTF-8, else a character
};

/// Four hex digits that are not a surrogate.
QuickReading quick_character(const char* digits) {
  const int value = hex_number(digits, 4);
  if (value == kNothing || (value >= 0xD800 && value < 0xE000)) return {};
  return {value, 6, false};
}

QuickReading quick_escape(const char* text) {
  const char c = text[1];
  const int meant = kEscapes[static_cast<unsigned char>(c)];
  if (meant != kUnclear) return {meant, 2};
  if (c == 'x') {
    const int byte = hex_number(text + 2, 2);
    return byte == kNothing ? QuickReading{} : QuickReading{byte, 4};
  }
  if (c == 'u') return quick_character(text + 2);
  const auto is_octal = [](char digit) { return digit >= '0' && digit <= '7'; };
  if (c >= '0' && c <= '3' && is_octal(text[2]) && is_octal(text[3]))
    return {(c - '0') * 64 + (text[2] - '0') * 8 + text[3] - '0', 4};
  return {};
}

QuickReading quick_reference(const char* text) {
  if (text[1] != '#') {
    std::size_t i = 1;
    while (i <= kLongestName && is_letter_or_digit(text[i])) ++i;
    return {text[i] == ';' ? kUnclear : kNothing};
  }
  int character = 0;
  for (std::size_t i = 2; i < 6; ++i) {
    if (text[i] == ';' && i > 2) return {character, i + 1, false};
    if (text[i] < '0' || text[i] > '9') return {};
    character = character * 10 + text[i] - '0';
  }
  return {};
}

/// A fast path for most encoded characters. Reader gives the same results, and handles the rest.
/// @param text  kQuick bytes or more
QuickReading quick_reading(const char* text) {
  if (text[0] == '\\') return quick_escape(text);
  if (begins_coded(text[1])) {
    // Consecutive escape characters are encoded three times at most.
    const auto is_sign = [](char c) { return c == '%' || c == '&' || c == '='; };
    return {is_sign(text[1]) && is_sign(text[2]) && is_sign(text[3]) ? kNothing : kUnclear};
  }
  if (text[0] == '&') return quick_reference(text);
  const int byte = hex_number(text + 1, 2);
  if (byte != kNothing) return {byte, 3};
  if (text[0] == '%' && text[1] == 'u') return quick_character(text + 2);
  const bool may_break = text[0] == '=' && (text[1] == '\n' || text[1] == '\r');
  return {may_break || text[1] == 'u' ? kUnclear : kNothing};
}
constexpr std::size_t kQuick = 16;

/// An escaped backslash that begins an escape itself: \\n, \\\".
/// @return  false if the general reader is needed
bool read_escaped_backslash(const char* text, std::size_t at, Readings& found) {
  if (text[0] != '\\' || text[1] != '\\') return false;
  std::size_t size = 3;
  int meant = kEscapes[static_cast<unsigned char>(text[2])];
  if (text[2] == '\\') {
    const int lower = kEscapes[static_cast<unsigned char>(text[3])];
    if (lower < 0) return false;
    meant = kEscapes[static_cast<unsigned char>(lower)];
    size = 4;
  }
  if (meant == kUnclear) return false;
  found.list[found.count++] = byte_reading('\\', at + 2);
  if (meant != kNothing)
    found.list[found.count++] = byte_reading(static_cast<std::uint32_t>(meant), at + size);
  return true;
}

}  // namespace

Readings TextReader::readings(std::size_t at) {
  Readings found;
  if (text_.size() - at >= kQuick) {
    const QuickReading quick = quick_reading(text_.data() + at);
    if (quick.character == kNothing) return found;
    const bool again = quick.character < 0x80 && begins_coded(static_cast<char>(quick.character));
    if (quick.character != kUnclear && !again) {
      const auto number = static_cast<std::uint32_t>(quick.character);
      const std::size_t end = at + quick.size;
      found.list[found.count++] =
          quick.is_byte ? byte_reading(number, end) : *character_reading(number, end);
      return found;
    }
    if (read_escaped_backslash(text_.data() + at, at, found)) return found;
    // Two, four or eight backslashes in a row mean one.
    if (text_.substr(at, 8) == "\\\\\\\\\\\\\\\\") {
      for (const std::size_t size : {2u, 4u, 8u})
        found.list[found.count++] = byte_reading('\\', at + size);
      return found;
    }
  }
  Reader reader(text_, ended_, known_);
  std::size_t end = at + 1;
  for (std::size_t level = 1; level <= Readings::kMost; ++level) {
    const Reading reading = reader.read(at, level);
    if (reading.end != end) found.list[found.count++] = reading;
    end = reading.end;
    // A further level differs only for an escape character, or one followed by encoded digits.
    if (reading.size != 1 || !begins_coded(reading.bytes[0])) break;
    if (found.count == 0 && at + 1 < text_.size() && !begins_coded(text_[at + 1])) break;
  }
  found.cut = reader.cut();
  return found;
}

}  // namespace sortie
