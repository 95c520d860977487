#include "core/record/envelope.h"

#include <charconv>
#include <system_error>

namespace sortie {
namespace {

/// Reads a line from its front; once something does not fit, nothing does.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}
  bool literal(std::string_view expected) {
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  /// Digits without leading zeros, as JSON has them.
  template <class Number>
  bool number(Number& value) {
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    const auto length = static_cast<std::size_t>(end - text_.data());
    if (error != std::errc() || text_.front() == '-' || (length > 1 && text_.front() == '0'))
      return false;
    text_.remove_prefix(length);
    return true;
  }
  /// As long as `shape`, where 0 stands for any digit and x for any lower-case hex digit.
  bool shaped(std::string_view shape, std::string_view& value) {
    if (text_.size() < shape.size()) return false;
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (!fits(shape[i], text_[i])) return false;
    value = text_.substr(0, shape.size());
    text_.remove_prefix(shape.size());
    return true;
  }
  /// A type's name: lower-case letters, dots and underscores.
  bool name(std::string_view& value) {
    std::size_t length = 0;
    while (length < text_.size() &&
           (is_lower(text_[length]) || text_[length] == '.' || text_[length] == '_'))
      ++length;
    value = text_.substr(0, length);
    text_.remove_prefix(length);
    return length > 0;
  }
  std::string_view rest() const { return text_; }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
  static bool fits(char shape, char c) {
    if (shape == '0') return is_digit(c);
    if (shape == 'x') return is_digit(c) || (c >= 'a' && c <= 'f');
    return c == shape;
  }
  std::string_view text_;
};

const std::string kHex64(64, 'x');

}  // namespace

std::string take_apart(std::string_view line, Envelope& envelope) {
  Cursor cursor(line);
  if (!cursor.literal("{\"seq\":") || !cursor.number(envelope.seq)) return "no sequence number";
  if (!cursor.literal(",\"ts\":\"") ||
      !cursor.shaped("0000-00-00T00:00:00.000Z", envelope.timestamp))
    return "no time after seq";
  if (!cursor.literal("\",\"type\":\"") || !cursor.name(envelope.type)) return "no type after ts";
  if (!cursor.literal("\",\"turn\":") || !cursor.number(envelope.turn)) return "no turn after type";
  if (!cursor.literal(",\"prev\":\"") || !cursor.shaped(kHex64, envelope.prev))
    return "no SHA-256 as prev after turn";
  if (!cursor.literal("\",\"data\":")) return "no data after prev";
  envelope.data = cursor.rest();
  if (!envelope.data.starts_with('{') || !envelope.data.ends_with("}}"))
    return "data is no object, or the record does not end behind it";
  envelope.data.remove_suffix(1);
  return {};
}

}  // namespace sortie
