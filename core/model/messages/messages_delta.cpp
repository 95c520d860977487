#include "core/model/messages/messages_delta.h"

#include <charconv>

#include "core/json/json.h"
#include "core/model/escaped_text.h"

namespace sortie {

namespace {

/// Reads a JSON text of known structure.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : rest_(text) {}

  bool take(char expected) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != expected) return false;
    rest_.remove_prefix(1);
    return true;
  }

  /// `"name":`
  bool take_name(std::string_view name) {
    const auto text = take_string();
    return text && *text == name && take(':');
  }

  /// The text between the quotes, with its escapes.
  std::optional<std::string_view> take_string() {
    if (!take('"')) return std::nullopt;
    const std::size_t end = escaped_end(rest_, 0);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }

  bool take_number(std::int64_t& to) {
    skip_blanks();
    const auto result = std::from_chars(rest_.data(), rest_.data() + rest_.size(), to);
    if (result.ec != std::errc() || to < 0) return false;
    rest_.remove_prefix(static_cast<std::size_t>(result.ptr - rest_.data()));
    return true;
  }

  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }

 private:
  void skip_blanks() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' ||
                              rest_.front() == '\n' || rest_.front() == '\r'))
      rest_.remove_prefix(1);
  }

  std::string_view rest_;
};

/// The member with the text of a delta of that type; "" for other types.
std::string_view member_of(std::string_view type) {
  if (type == "text_delta") return "text";
  if (type == "input_json_delta") return "partial_json";
  if (type == "thinking_delta") return "thinking";
  if (type == "signature_delta") return "signature";
  return {};
}

}  // namespace

std::optional<MessagesDelta> read_messages_delta(std::string_view data) {
  Cursor cursor(data);
  MessagesDelta delta;
  if (!cursor.take('{') || !cursor.take_name("type")) return std::nullopt;
  const auto event = cursor.take_string();
  if (!event || *event != "content_block_delta") return std::nullopt;
  if (!cursor.take(',') || !cursor.take_name("index") || !cursor.take_number(delta.index))
    return std::nullopt;
  if (!cursor.take(',') || !cursor.take_name("delta") || !cursor.take('{') ||
      !cursor.take_name("type"))
    return std::nullopt;
  const auto type = cursor.take_string();
  if (!type) return std::nullopt;
  delta.type = *type;
  const std::string_view member = member_of(delta.type);
  if (member.empty() || !cursor.take(',') || !cursor.take_name(member)) return std::nullopt;
  const auto text = cursor.take_string();
  if (!text || !cursor.take('}') || !cursor.take('}') || !cursor.at_end()) return std::nullopt;
  delta.escaped = *text;
  return delta;
}

}  // namespace sortie
