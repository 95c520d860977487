#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sortie {

/// What is wrong with a JSON text, and at which byte.
class JsonError : public std::runtime_error {
 public:
  JsonError(const std::string& what, std::size_t offset)
      : std::runtime_error(what), offset_(offset) {}
  std::size_t offset() const noexcept { return offset_; }

 private:
  std::size_t offset_;
};

/// A JSON value (RFC 8259): members keep their order, numbers keep their spelling, so that what
/// was read is written back as it was, white space aside.
///
/// Reading members never throws: what is absent or of another type is null, empty or nothing.
class Json {
 public:
  enum class Type { null, boolean, number, string, array, object };
  using Member = std::pair<std::string, Json>;

  Json() noexcept {}
  Json(std::nullptr_t) noexcept {}
  Json(const Json& other);
  Json(Json&& other) noexcept { take(other); }
  Json& operator=(const Json& other) { return *this = Json(other); }
  /// The other one may be a part of this one.
  Json& operator=(Json&& other) noexcept {
    if (type_ <= Type::boolean) {  // there is nothing to be dropped, and the other is no part of it
      if (this != &other) take(other);
      return *this;
    }
    Json taken(std::move(other));
    drop();
    take(taken);
    return *this;
  }
  ~Json() { drop(); }
  Json(bool value) : type_(Type::boolean), boolean_(value) {}
  Json(int value) : Json(static_cast<std::int64_t>(value)) {}
  Json(unsigned value) : Json(static_cast<std::uint64_t>(value)) {}
  Json(std::int64_t value);
  Json(std::uint64_t value);
  Json(double value);
  Json(const char* value) : Json(std::string(value)) {}
  Json(std::string_view value) : Json(std::string(value)) {}
  Json(std::string value) : type_(Type::string), text_(std::move(value)) {}

  static Json array(std::vector<Json> items = {});
  /// An array of these strings.
  static Json strings(const std::vector<std::string>& texts);
  static Json object(std::initializer_list<Member> members = {});
  static Json object(std::vector<Member> members);
  /// A number with the spelling given, which must be valid JSON.
  static Json number(std::string spelling);

  Type type() const noexcept { return type_; }
  bool is_null() const noexcept { return type_ == Type::null; }
  bool is_string() const noexcept { return type_ == Type::string; }
  bool is_number() const noexcept { return type_ == Type::number; }
  bool is_boolean() const noexcept { return type_ == Type::boolean; }
  bool is_array() const noexcept { return type_ == Type::array; }
  bool is_object() const noexcept { return type_ == Type::object; }

  /// The string's text, or the number's spelling; empty for other types.
  const std::string& text() const noexcept { return has_text() ? text_ : no_text(); }
  /// The same, taken out; the value is not to be used for its text any more.
  std::string take_text() noexcept { return has_text() ? std::move(text_) : std::string(); }
  bool boolean(bool fallback = false) const noexcept {
    return type_ == Type::boolean ? boolean_ : fallback;
  }
  /// The value when it is a number without fraction that fits, also when written 1.0 or 1e3.
  std::optional<std::int64_t> integer() const noexcept;
  std::optional<double> real() const noexcept;

  /// Empty for other types than an array. Only an array can be given items by it.
  const std::vector<Json>& items() const noexcept { return is_array() ? items_ : no_items(); }
  std::vector<Json>& items() noexcept { return is_array() ? items_ : no_items(); }
  /// The text() of each item.
  std::vector<std::string> texts() const;
  /// Empty for other types than an object. Only an object can be given members by it.
  const std::vector<Member>& members() const noexcept {
    return is_object() ? members_ : no_members();
  }
  std::vector<Member>& members() noexcept { return is_object() ? members_ : no_members(); }

  /// The member of that name (the first), or nothing if this is not an object or has none.
  const Json* find(std::string_view name) const noexcept;
  Json* find(std::string_view name) noexcept;
  /// As find, with a null value in place of nothing, so that reads can be chained.
  const Json& operator[](std::string_view name) const noexcept;
  /// Sets a member, at the end where it is new; turns null into an object.
  Json& set(std::string_view name, Json value);
  void push_back(Json value);
  /// Text of a string member, or the fallback.
  std::string string_at(std::string_view name, std::string_view fallback = {}) const;
  std::int64_t integer_at(std::string_view name, std::int64_t fallback = 0) const noexcept;

  bool operator==(const Json& other) const;

 private:
  bool has_text() const noexcept { return is_string() || is_number(); }
  static const std::string& no_text() noexcept;
  static std::vector<Json>& no_items() noexcept;
  static std::vector<Member>& no_members() noexcept;
  /// Moves the other one's content to where there is none.
  void take(Json& other) noexcept;
  /// Destroys the content; a null value is left.
  void drop() noexcept {
    if (type_ > Type::boolean) drop_content();
    type_ = Type::null;
  }
  void drop_content() noexcept;

  Type type_ = Type::null;
  bool boolean_ = false;
  union {               // by the type, so that a value is not as large as all of them
    std::string text_;  ///< of a number its spelling
    std::vector<Json> items_;
    std::vector<Member> members_;
  };
};

/// Parses one JSON text: UTF-8 checked, nothing after it but white space, no duplicate names, a
/// million values at most.
/// @param max_depth  nesting beyond it is an error
/// @throws JsonError
Json parse_json(std::string_view text, std::size_t max_depth = 128);

/// As parse_json, but texts of more than 64 KiB become empty: they are checked, and not kept. For
/// megabytes that are known already.
Json parse_json_without_long_texts(std::string_view text);

/// Whether the text is one JSON value in UTF-8 and nothing else, without building it; nested to any
/// depth, and names may repeat.
bool is_json(std::string_view text);

/// Writes compact JSON: no white space, members in their order, non-ASCII as it is. Bytes that are
/// not UTF-8 become U+FFFD.
std::string write_json(const Json& value);
/// The same, appended.
void write_json(const Json& value, std::string& to);
/// The same, for values with megabytes of text: memory is allocated once.
std::string write_large_json(const Json& value);
/// The bytes that write_json() would write.
std::size_t written_size(const Json& value);
/// With two blanks of indentation, for people.
std::string write_json_pretty(const Json& value);
/// One string as a JSON string, with its quotes.
void write_json_string(std::string_view text, std::string& to);

}  // namespace sortie
