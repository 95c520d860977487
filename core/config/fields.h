#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/spelling.h"
#include "core/config/diagnostic.h"
#include "core/config/yaml.h"
#include "core/json/json.h"

namespace sortie {

/// How the value of one key is read and written, and its JSON Schema. Its target holds the default
/// while the table is built, and must outlive the table.
struct FieldValue {
  /// Makes the schema. A run reads and writes its tables without their schemas, which cost more.
  std::function<Json()> schema;
  /// Reads a node that is neither null nor refused; `name` is the key, for messages.
  std::function<void(const YamlNode& node, const std::string& name, Diagnostics& findings)> read;
  /// The target's value, as a file may have it; null for none. Nothing: the key is left out.
  std::function<std::optional<Json>()> write;
};

/// For a key that only files have: its value is written under another key.
inline const auto kNotWritten = [] { return std::optional<Json>(); };

/// The table of keys that a mapping may have. The loader, the effective value and the JSON Schema
/// all come from it, in its order.
class Fields {
 public:
  /// @param title  the mapping's name in messages: "task", "model"
  explicit Fields(std::string title) : title_(std::move(title)) {}

  Fields& add(std::string name, FieldValue value, std::string description);
  /// As add, for a required key.
  Fields& require(std::string name, FieldValue value, std::string description);
  /// Keys that this version does not support yet: "'stages' is not supported yet".
  Fields& later(std::initializer_list<const char*> names);

  /// Reads a mapping into the targets; each error becomes a finding, and the rest is still read.
  void read(const YamlNode& node, Diagnostics& findings) const;
  /// The mapping with the values of its targets.
  Json write() const;
  /// JSON Schema of the mapping: type, properties, required, no others.
  Json schema() const;

 private:
  struct Field {
    std::string name;
    FieldValue value;
    std::string description;
    bool required = false;
  };
  std::vector<std::string> names() const;
  void read_member(const YamlMember& member, Diagnostics& findings) const;

  std::string title_;
  std::vector<Field> fields_;
  std::vector<std::string> later_;
};

/// The schema of a mapping that must have exactly one of the keys.
Json with_one_of(Json schema, std::initializer_list<const char*> keys);

/// The schema of a whole file: its table's schema with "$schema" and a title.
Json file_schema(const Fields& fields, const std::string& title);

struct TextLimits {
  const char* pattern = nullptr;  ///< RE2 syntax, for the whole text
  const char* meaning = nullptr;  ///< for messages, instead of the pattern: "an http:// address"
  std::size_t max_bytes = kMaxYamlBytes;
  bool may_be_empty = false;
};

/// A string. What YAML takes for a number, true or false has to be in quotes.
FieldValue text_value(std::string& target, TextLimits limits = {});
/// true or false; YAML 1.1's other spellings (yes, no, on, off) are refused.
FieldValue boolean_value(bool& target);
/// The version of the format, which must be this one.
FieldValue version_value(int version);
/// One of some names; `later` are known names that are not supported yet.
/// @param get  the current name, "" for none
FieldValue choice_value(std::vector<std::string> names, std::vector<std::string> later,
                        std::function<std::string()> get,
                        std::function<void(const std::string&)> set);
FieldValue choice_value(std::string& target, std::vector<std::string> names);
template <SpelledEnum Enum>
std::vector<std::string> names_of() {
  std::vector<std::string> names;
  for (const auto& row : kSpelling<Enum>) names.emplace_back(row.name);
  return names;
}
/// One of an enumeration's names.
template <SpelledEnum Enum>
FieldValue enum_value(Enum& target, std::vector<std::string> later = {}) {
  return choice_value(
      names_of<Enum>(), std::move(later), [&target] { return name_of(target); },
      [&target](const std::string& name) { target = *value_named<Enum>(name); });
}
/// The same for an optional value.
/// @param names  the names of the allowed values
template <SpelledEnum Enum>
FieldValue enum_value(std::optional<Enum>& target,
                      std::vector<std::string> names = names_of<Enum>()) {
  return choice_value(
      std::move(names), {}, [&target] { return target ? name_of(*target) : ""; },
      [&target](const std::string& name) { target = value_named<Enum>(name); });
}
/// A whole number in decimal, without leading zeros.
FieldValue whole_value(std::int64_t min, std::int64_t max,
                       std::function<std::optional<std::int64_t>()> get,
                       std::function<void(std::int64_t)> set);
template <std::integral Int>
FieldValue integer_value(Int& target, std::int64_t min, std::int64_t max) {
  return whole_value(
      min, max, [&target] { return static_cast<std::int64_t>(target); },
      [&target](std::int64_t value) { target = static_cast<Int>(value); });
}
template <std::integral Int>
FieldValue integer_value(std::optional<Int>& target, std::int64_t min, std::int64_t max) {
  return whole_value(
      min, max, [&target] { return std::optional<std::int64_t>(target); },
      [&target](std::int64_t value) { target = static_cast<Int>(value); });
}
FieldValue real_value(std::optional<double>& target, double min, double max);
FieldValue real_value(double& target, double min, double max);
/// `500ms`, `30s`, `10m`, `2h`.
FieldValue duration_value(std::chrono::milliseconds& target, std::chrono::milliseconds min,
                          std::chrono::milliseconds max);
/// Bytes: `10KiB`, `5MB`, `64MiB`.
FieldValue size_value(std::uint64_t& target, std::uint64_t min, std::uint64_t max);

enum class Lists {
  replaced,  ///< the file's list replaces the default
  appended,  ///< the file's list is appended to the default
};
/// A list of strings; with Lists::appended, duplicates are not appended.
FieldValue texts_value(std::vector<std::string>& target, Lists lists = Lists::replaced,
                       TextLimits limits = {});
/// A mapping of user-chosen names to strings; members are added or replaced.
/// @param names  the form of a name, with its meaning
FieldValue text_map_value(std::map<std::string, std::string>& target, TextLimits names,
                          TextLimits values = {.may_be_empty = true});
FieldValue mapping_value(Fields fields);
/// The same value, whose schema has this keyword too.
FieldValue with_keyword(FieldValue value, std::string keyword, Json setting);
/// The same value, but its key is not written if the value is null, [] or {}.
FieldValue where_given(FieldValue value);

/// For custom readers: the node's text if it is a scalar within the limits; nothing after a finding.
std::optional<std::string> read_text(const YamlNode& node, const std::string& name,
                                     const TextLimits& limits, Diagnostics& findings);
/// Whether the node is a list of at most kMaxListItems; otherwise adds a finding.
/// @param wanted  "a list of rules"
bool check_list(const YamlNode& node, const std::string& name, const std::string& wanted,
                Diagnostics& findings);
inline constexpr std::size_t kMaxListItems = 5000;

/// The texts as a JSON list.
Json text_list(const std::vector<std::string>& texts);

/// "a list", "a mapping", "nothing", "text"
std::string kind_in_words(const YamlNode& node);

/// The shortest spelling that the loader reads as the same value: "10m", "2GiB".
std::string duration_text(std::chrono::milliseconds value);
std::string size_text(std::uint64_t bytes);
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);
std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace sortie
