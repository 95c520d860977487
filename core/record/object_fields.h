#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/base/spelling.h"
#include "core/catalog/cost.h"
#include "core/json/json.h"

namespace sortie {

/// A type of event: its name, whether it is synced, and what follows its members in docs/formats.md.
struct EventRow {
  const char* type;
  bool synced = false;
  const char* note = "";
};

/// One member of a record's JSON: how it is read, written and described.
template <class Owner>
struct RecordField {
  const char* name;
  const char* type;  ///< one of the $defs of the schema
  const char* doc;   ///< follows the name in docs/formats.md; may be ""
  bool required;     ///< every record has it
  void (*write)(const Owner& from, const char* name, Json& to);
  /// Leaves the member unchanged if the JSON is of another kind. May take texts out of the JSON.
  void (*read)(Json& from, Owner& to);
};
template <class Owner>
using RecordFields = std::vector<RecordField<Owner>>;

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;

using TextByName = std::map<std::string, std::string>;

/// Structs need a list `fields_of(const T*)`, enumerations a kSpelling.
template <class T>
Json value_json(const T& value) {
  if constexpr (std::is_same_v<T, Json> || std::is_same_v<T, std::string> ||
                std::is_same_v<T, bool>) {
    return value;
  } else if constexpr (std::is_same_v<T, Cost>) {
    return Json::number(value.exact());
  } else if constexpr (std::is_same_v<T, std::chrono::milliseconds>) {
    return Json(static_cast<std::int64_t>(value.count()));
  } else if constexpr (std::is_unsigned_v<T>) {
    return Json(static_cast<std::uint64_t>(value));
  } else if constexpr (std::is_integral_v<T>) {
    return Json(static_cast<std::int64_t>(value));
  } else if constexpr (std::is_enum_v<T>) {
    return name_of(value);
  } else if constexpr (is_optional<T>) {
    return value ? value_json(*value) : Json();
  } else if constexpr (is_list<T>) {
    Json array = Json::array();
    for (const auto& each : value) array.items().push_back(value_json(each));
    return array;
  } else if constexpr (std::is_same_v<T, TextByName>) {
    Json object = Json::object();
    for (const auto& [name, text] : value) object.members().emplace_back(name, text);
    return object;
  } else {
    Json object = Json::object();
    for (const auto& field : fields_of(&value)) field.write(value, field.name, object);
    return object;
  }
}

/// Finds the members of an object, which mostly stand in the order in which they are asked for.
template <class Source>
class MembersInOrder {
 public:
  explicit MembersInOrder(Source& object) : object_(object) {}
  /// As Json::find.
  auto* find(std::string_view name) {
    auto& members = object_.members();
    if (next_ < members.size() && members[next_].first == name) return &members[next_++].second;
    return object_.find(name);
  }

 private:
  Source& object_;
  std::size_t next_ = 0;
};

/// Leaves the value unchanged if the JSON is of another kind.
/// @param json  Json or const Json; one that is not const may lose its texts to the value
template <class Source, class T>
void read_value(Source& json, T& value) {
  constexpr bool kKept = std::is_const_v<Source>;
  if constexpr (std::is_same_v<T, Json>) {
    if constexpr (kKept)
      value = json;
    else
      value = std::move(json);
  } else if constexpr (std::is_same_v<T, std::string>) {
    if (!json.is_string()) return;
    if constexpr (kKept)
      value = json.text();
    else
      value = json.take_text();
  } else if constexpr (std::is_same_v<T, bool>) {
    value = json.boolean(value);
  } else if constexpr (std::is_same_v<T, Cost>) {
    if (const auto amount = json.real()) value = Cost::usd(*amount);
  } else if constexpr (std::is_same_v<T, std::chrono::milliseconds>) {
    if (const auto number = json.integer()) value = std::chrono::milliseconds(*number);
  } else if constexpr (std::is_integral_v<T>) {
    if (const auto number = json.integer(); number && std::in_range<T>(*number))
      value = static_cast<T>(*number);
  } else if constexpr (std::is_enum_v<T>) {
    if (json.is_string()) value = value_named<T>(json.text()).value_or(value);
  } else if constexpr (is_optional<T>) {
    if (json.is_null()) return value.reset();
    if constexpr (std::is_same_v<T, std::optional<Cost>>) {
      if (!json.real()) return;
    }
    if (!value) value.emplace();
    read_value(json, *value);
  } else if constexpr (is_list<T>) {
    if (!json.is_array()) return;
    value.resize(json.items().size());
    for (std::size_t i = 0; i < value.size(); ++i) read_value(json.items()[i], value[i]);
  } else if constexpr (std::is_same_v<T, TextByName>) {
    if (!json.is_object()) return;
    value.clear();
    for (const auto& [name, text] : json.members()) value[name] = text.text();
  } else {
    if (!json.is_object()) return;
    MembersInOrder members(json);
    for (const auto& field : fields_of(&value)) {
      auto* const member = members.find(field.name);
      if (member == nullptr) continue;
      if constexpr (kKept) {
        Json copy = *member;
        field.read(copy, value);
      } else {
        field.read(*member, value);
      }
    }
  }
}

template <class T>
bool is_unset(const T& value) {
  if constexpr (std::is_same_v<T, Json>) {
    return value.is_null();
  } else if constexpr (std::is_same_v<T, bool>) {
    return !value;
  } else if constexpr (is_optional<T>) {
    return !value;
  } else if constexpr (std::is_same_v<T, std::string> || is_list<T>) {
    return value.empty();
  } else if constexpr (std::is_class_v<T>) {
    return value_json(value).members().empty();
  } else {
    return false;
  }
}

/// Makes the rows of a struct: `Fields<TurnStarted>::always<&TurnStarted::items>("items", …)`.
template <class Owner>
struct Fields {
  using Row = RecordField<Owner>;

  template <auto Member>
  static void read(Json& from, Owner& to) {
    read_value(from, to.*Member);
  }
  template <auto Member>
  static void write(const Owner& from, const char* name, Json& to) {
    to.members().emplace_back(name, value_json(from.*Member));
  }
  template <auto Member>
  static Row always(const char* name, const char* type, const char* doc = "") {
    return {name, type, doc, true, &write<Member>, &read<Member>};
  }
  /// Always written; records of older versions may lack it.
  template <auto Member>
  static Row later(const char* name, const char* type, const char* doc = "") {
    return {name, type, doc, false, &write<Member>, &read<Member>};
  }
  /// null if it is not set.
  template <auto Member>
  static Row or_null(const char* name, const char* type, const char* doc = "") {
    const auto write = [](const Owner& from, const char* member, Json& to) {
      to.members().emplace_back(member, is_unset(from.*Member) ? Json() : value_json(from.*Member));
    };
    return {name, type, doc, true, +write, &read<Member>};
  }
  /// Left out if it is not set.
  template <auto Member>
  static Row if_set(const char* name, const char* type, const char* doc = "") {
    const auto write = [](const Owner& from, const char* member, Json& to) {
      if (!is_unset(from.*Member)) to.members().emplace_back(member, value_json(from.*Member));
    };
    return {name, type, doc, false, +write, &read<Member>};
  }
};

}  // namespace sortie
