#pragma once

#include <chrono>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/diagnostic.h"
#include "core/config/yaml.h"
#include "core/json/json.h"

namespace sortie {

/// How the value of one key is read, and how JSON Schema says it. The target that it was made with
/// holds the default while the table is built, and has to outlive the table.
struct FieldValue {
  Json schema;
  /// Reads a node that is neither null nor refused; `name` is the key, for messages.
  std::function<void(const YamlNode& node, const std::string& name, Diagnostics& findings)> read;
};

/// The keys that one mapping may have: the loader reads by this table and the JSON Schema is
/// printed from it.
class Fields {
 public:
  /// @param title  what the mapping is called in messages: "task", "model"
  explicit Fields(std::string title) : title_(std::move(title)) {}

  Fields& add(std::string name, FieldValue value, std::string description);
  /// As add, for a key that must be there.
  Fields& require(std::string name, FieldValue value, std::string description);
  /// Names of the format that this version does not have: "'stages' is not supported yet".
  Fields& later(std::initializer_list<const char*> names);

  /// Reads a mapping into the targets; whatever is wrong becomes a finding, and the rest is read.
  void read(const YamlNode& node, Diagnostics& findings) const;
  /// JSON Schema of the mapping: type, properties, required, no others.
  Json schema() const;
  const std::string& title() const noexcept { return title_; }
  std::vector<std::string> names() const;

 private:
  struct Field {
    std::string name;
    FieldValue value;
    std::string description;
    bool required = false;
  };
  void read_member(const YamlMember& member, Diagnostics& findings) const;

  std::string title_;
  std::vector<Field> fields_;
  std::vector<std::string> later_;
};

/// The schema of a whole file: that of its table with "$schema" and a title.
Json file_schema(const Fields& fields, const std::string& title);

struct TextLimits {
  const char* pattern = nullptr;  ///< RE2 syntax, the whole text
  const char* meaning = nullptr;  ///< in place of the pattern in messages: "an http:// address"
  std::size_t max_bytes = kMaxYamlBytes;
  bool may_be_empty = false;
};

/// A string. A plain number or word is taken by its text.
FieldValue text_value(std::string& target, TextLimits limits = {});
/// true or false; YAML 1.1's other spellings (yes, no, on, off) are refused.
FieldValue boolean_value(bool& target);
/// The version of the format, which has to be this one.
FieldValue version_value(int version);
/// One of some names; `later` are known names that are not supported yet.
FieldValue choice_value(std::string current, std::vector<std::string> names,
                        std::vector<std::string> later,
                        std::function<void(const std::string&)> set);
FieldValue choice_value(std::string& target, std::vector<std::string> names,
                        std::vector<std::string> later = {});
/// A whole number in decimal, without leading zeros.
FieldValue whole_value(std::int64_t current, std::int64_t min, std::int64_t max,
                       std::function<void(std::int64_t)> set);
template <std::integral Int>
FieldValue integer_value(Int& target, std::int64_t min, std::int64_t max) {
  return whole_value(static_cast<std::int64_t>(target), min, max,
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
  replaced,  ///< what the file says stands instead of the default
  appended,  ///< what the file says is added to it
};
/// A list of strings; with Lists::appended what is there already is not added again.
FieldValue texts_value(std::vector<std::string>& target, Lists lists = Lists::replaced,
                       TextLimits limits = {});
/// A mapping of names of the user's choice to strings; members are added or replaced.
/// @param names  what a name may look like, with its meaning
FieldValue text_map_value(std::map<std::string, std::string>& target, TextLimits names,
                          TextLimits values = {.may_be_empty = true});
FieldValue mapping_value(Fields fields);

/// What a reader of its own needs: the node's text when it is a scalar that fits the limits, else
/// a finding and nothing.
std::optional<std::string> read_text(const YamlNode& node, const std::string& name,
                                     const TextLimits& limits, Diagnostics& findings);
/// Whether the node is a list of at most kMaxListItems; else a finding.
/// @param wanted  "a list of rules"
bool check_list(const YamlNode& node, const std::string& name, const std::string& wanted,
                Diagnostics& findings);
inline constexpr std::size_t kMaxListItems = 5000;

/// "a list", "a mapping", "nothing", "text"
std::string kind_in_words(const YamlNode& node);

/// The shortest spelling in which the loader reads the value back: "10m", "2GiB".
std::string duration_text(std::chrono::milliseconds value);
std::string size_text(std::uint64_t bytes);
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);
std::optional<std::uint64_t> parse_size(std::string_view text);

}  // namespace sortie
