#include "core/json/json.h"

#include <rapidjson/prettywriter.h>

#include <charconv>
#include <cmath>
#include <memory>
#include <utility>

#include "core/json/json_text.h"
#include "core/json/number_text.h"
#include "core/text/text.h"

namespace sortie {

Json::Json(std::int64_t value) : Json(number(std::to_string(value))) {}
Json::Json(std::uint64_t value) : Json(number(std::to_string(value))) {}

Json::Json(double value) {
  if (!std::isfinite(value)) return;  // JSON has no spelling for them (RFC 8259 §6)
  *this = number(number_text(value));
}

Json::Json(const Json& other) : boolean_(other.boolean_) {
  if (other.has_text())
    std::construct_at(&text_, other.text_);
  else if (other.is_array())
    std::construct_at(&items_, other.items_);
  else if (other.is_object())
    std::construct_at(&members_, other.members_);
  type_ = other.type_;  // at last: what throws leaves nothing to be destroyed
}

void Json::take(Json& other) noexcept {
  type_ = other.type_;
  boolean_ = other.boolean_;
  if (has_text())
    std::construct_at(&text_, std::move(other.text_));
  else if (is_array())
    std::construct_at(&items_, std::move(other.items_));
  else if (is_object())
    std::construct_at(&members_, std::move(other.members_));
}

void Json::drop_content() noexcept {
  if (has_text())
    std::destroy_at(&text_);
  else if (is_array())
    std::destroy_at(&items_);
  else if (is_object())
    std::destroy_at(&members_);
}

const std::string& Json::no_text() noexcept {
  static const std::string kNone;
  return kNone;
}

// What somebody puts into them is gone the next time.
std::vector<Json>& Json::no_items() noexcept {
  thread_local std::vector<Json> none;
  none.clear();
  return none;
}

std::vector<Json::Member>& Json::no_members() noexcept {
  thread_local std::vector<Member> none;
  none.clear();
  return none;
}

bool Json::operator==(const Json& other) const {
  return type_ == other.type_ && boolean_ == other.boolean_ && text() == other.text() &&
         items() == other.items() && members() == other.members();
}

Json Json::strings(const std::vector<std::string>& texts) {
  return array({texts.begin(), texts.end()});
}

std::vector<std::string> Json::texts() const {
  std::vector<std::string> texts;
  for (const Json& item : items()) texts.push_back(item.text());
  return texts;
}

Json Json::array(std::vector<Json> items) {
  Json value;
  std::construct_at(&value.items_, std::move(items));
  value.type_ = Type::array;
  return value;
}

Json Json::object(std::initializer_list<Member> members) {
  return object(std::vector<Member>(members));
}

Json Json::object(std::vector<Member> members) {
  Json value;
  std::construct_at(&value.members_, std::move(members));
  value.type_ = Type::object;
  return value;
}

Json Json::number(std::string spelling) {
  Json value(std::move(spelling));
  value.type_ = Type::number;
  return value;
}

std::optional<std::int64_t> Json::integer() const noexcept {
  if (type_ != Type::number) return std::nullopt;
  std::int64_t value = 0;
  const char* end = text_.data() + text_.size();
  const auto result = std::from_chars(text_.data(), end, value);
  if (result.ec == std::errc() && result.ptr == end) return value;
  const auto as_real = real();
  // 2^63 as a double is exact; beyond it the cast would be undefined.
  if (!as_real || *as_real != std::trunc(*as_real) || std::fabs(*as_real) >= 9223372036854775808.0)
    return std::nullopt;
  return static_cast<std::int64_t>(*as_real);
}

std::optional<double> Json::real() const noexcept {
  if (type_ != Type::number) return std::nullopt;
  double value = 0;
  const auto result = std::from_chars(text_.data(), text_.data() + text_.size(), value);
  if (result.ec != std::errc()) return std::nullopt;
  return value;
}

const Json* Json::find(std::string_view name) const noexcept {
  for (const auto& member : members())
    if (member.first == name) return &member.second;
  return nullptr;
}

Json* Json::find(std::string_view name) noexcept {
  for (auto& member : members())
    if (member.first == name) return &member.second;
  return nullptr;
}

const Json& Json::operator[](std::string_view name) const noexcept {
  static const Json kNull;
  const Json* found = find(name);
  return found ? *found : kNull;
}

Json& Json::set(std::string_view name, Json value) {
  if (is_null()) *this = object();
  if (Json* found = find(name)) {
    *found = std::move(value);
    return *this;
  }
  members().emplace_back(std::string(name), std::move(value));
  return *this;
}

void Json::push_back(Json value) {
  if (is_null()) *this = array();
  items().push_back(std::move(value));
}

std::string Json::string_at(std::string_view name, std::string_view fallback) const {
  const Json* found = find(name);
  return found && found->is_string() ? found->text() : std::string(fallback);
}

std::int64_t Json::integer_at(std::string_view name, std::int64_t fallback) const noexcept {
  const Json* found = find(name);
  return found ? found->integer().value_or(fallback) : fallback;
}

namespace {

using namespace std::string_view_literals;

/// Where rapidjson::Writer puts its bytes.
struct StringStream {
  using Ch = char;
  std::string& to;
  void Put(char c) { to.push_back(c); }
  void Flush() {}
};

/// Counts what would be written.
struct Counter {
  std::size_t bytes = 0;
  void append(std::string_view text) { bytes += text.size(); }
};

template <typename Out>
void write_escape(char c, Out& out) {
  constexpr std::string_view kNamed = "\"\\\b\f\n\r\t";
  constexpr std::string_view kLetters = "\"\\bfnrt";
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  const auto named = kNamed.find(c);
  const auto code = static_cast<unsigned char>(c);
  if (named != std::string_view::npos) {
    const char escape[] = {'\\', kLetters[named]};
    out.append(std::string_view(escape, sizeof escape));
  } else {
    const char escape[] = {'\\', 'u', '0', '0', kDigits[code >> 4], kDigits[code & 15]};
    out.append(std::string_view(escape, sizeof escape));
  }
}

void write_text(std::string_view text, Counter& out) {
  if (!is_utf8(text)) return write_text(std::string_view(repair_utf8(text)), out);
  out.bytes += 2 + text.size() + escaping_bytes(text);
}

/// In runs: outputs and messages of megabytes are written several times a run.
template <typename Out>
void write_text(std::string_view text, Out& out) {
  if (!is_utf8(text)) return write_text(std::string_view(repair_utf8(text)), out);
  out.append("\""sv);
  while (!text.empty()) {
    const std::size_t run = unescaped_length(text);
    out.append(text.substr(0, run));
    text.remove_prefix(run);
    if (text.empty()) break;
    write_escape(text.front(), out);
    text.remove_prefix(1);
  }
  out.append("\""sv);
}

template <typename Out>
void write_compact(const Json& value, Out& out) {
  std::string_view comma;
  switch (value.type()) {
    case Json::Type::null:
      return out.append("null"sv), void();
    case Json::Type::boolean:
      return out.append(value.boolean() ? "true"sv : "false"sv), void();
    case Json::Type::number:
      return out.append(value.text()), void();
    case Json::Type::string:
      return write_text(value.text(), out);
    case Json::Type::array:
      out.append("["sv);
      for (const auto& item : value.items()) {
        out.append(std::exchange(comma, ","sv));
        write_compact(item, out);
      }
      out.append("]"sv);
      return;
    case Json::Type::object:
      out.append("{"sv);
      for (const auto& [name, member] : value.members()) {
        out.append(std::exchange(comma, ","sv));
        write_text(name, out);
        out.append(":"sv);
        write_compact(member, out);
      }
      out.append("}"sv);
      return;
  }
}

std::size_t text_bytes(const Json& value) {
  std::size_t bytes = value.text().size();
  for (const Json& item : value.items()) bytes += text_bytes(item);
  for (const auto& [name, member] : value.members()) bytes += text_bytes(member);
  return bytes;
}

template <typename Writer>
void write_value(Writer& writer, const Json& value) {
  switch (value.type()) {
    case Json::Type::null:
      writer.Null();
      return;
    case Json::Type::boolean:
      writer.Bool(value.boolean());
      return;
    case Json::Type::number:
      writer.RawValue(value.text().data(), value.text().size(), rapidjson::kNumberType);
      return;
    case Json::Type::string: {
      const std::string& text = value.text();
      if (is_utf8(text)) {
        writer.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
      } else {
        const std::string repaired = repair_utf8(text);
        writer.String(repaired.data(), static_cast<rapidjson::SizeType>(repaired.size()));
      }
      return;
    }
    case Json::Type::array:
      writer.StartArray();
      for (const auto& item : value.items()) write_value(writer, item);
      writer.EndArray();
      return;
    case Json::Type::object:
      writer.StartObject();
      for (const auto& [name, member] : value.members()) {
        const std::string key = repair_utf8(name);
        writer.Key(key.data(), static_cast<rapidjson::SizeType>(key.size()));
        write_value(writer, member);
      }
      writer.EndObject();
      return;
  }
}

}  // namespace

void write_json(const Json& value, std::string& to) { write_compact(value, to); }

std::size_t written_size(const Json& value) {
  Counter counter;
  write_compact(value, counter);
  return counter.bytes;
}

std::string write_json(const Json& value) {
  std::string text;
  write_json(value, text);
  return text;
}

std::string write_large_json(const Json& value) {
  // Escapes, where a text has them, are seldom one character in sixteen.
  std::string text;
  const std::size_t bytes = text_bytes(value);
  text.reserve(bytes + bytes / 16 + 256);
  write_json(value, text);
  return text;
}

std::string write_json_pretty(const Json& value) {
  std::string text;
  StringStream stream{text};
  rapidjson::PrettyWriter<StringStream> writer(stream);
  writer.SetIndent(' ', 2);
  write_value(writer, value);
  text += '\n';
  return text;
}

void write_json_string(std::string_view text, std::string& to) { write_text(text, to); }

}  // namespace sortie
