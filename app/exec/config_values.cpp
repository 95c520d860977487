#include "app/exec/config_values.h"

#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <optional>
#include <sstream>
#include <utility>

#include "core/base/error.h"
#include "core/text/text.h"

namespace sortie {
namespace {

Json json_of(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return number->get();
  if (const auto* number = node.as_floating_point()) return number->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* array = node.as_array()) {
    Json items = Json::array();
    for (const toml::node& item : *array) items.push_back(json_of(item));
    return items;
  }
  if (const auto* table = node.as_table()) {
    Json object = Json::object();
    for (const auto& [key, value] : *table) object.set(key.str(), json_of(value));
    return object;
  }
  std::ostringstream text;  // a date or a time
  node.visit([&text](const auto& value) {
    if constexpr (toml::is_value<decltype(value)>) text << value.get();
  });
  return text.str();
}

/// Adds a value, or those of a table.
void add(const std::string& key, const Json& value, ConfigValues& values) {
  if (!value.is_object()) {
    values[key] = value;
    return;
  }
  for (const auto& [name, member] : value.members())
    add(key.empty() ? name : key + "." + name, member, values);
}

/// Nothing if the text is no TOML value.
std::optional<Json> value_of(std::string_view text) {
  try {
    const toml::table table = toml::parse("value = " + std::string(text));
    if (table.size() != 1) return std::nullopt;
    return json_of(*table.get("value"));
  } catch (const toml::parse_error&) {
    return std::nullopt;
  }
}

/// A string without the quotes that a shell left: 'model', "model".
std::string bare(std::string_view text) {
  constexpr std::string_view kQuotes = "\"'";
  const std::string_view inner = trimmed(text);
  const std::size_t first = inner.find_first_not_of(kQuotes);
  if (first == std::string_view::npos) return "";
  return std::string(inner.substr(first, inner.find_last_not_of(kQuotes) + 1 - first));
}

}  // namespace

void add_assignment(std::string_view assignment, ConfigValues& values) {
  const std::size_t equals = assignment.find('=');
  const std::string key(trimmed(assignment.substr(0, std::min(equals, assignment.size()))));
  if (equals == std::string_view::npos || key.empty())
    throw InputError("-c " + one_line(assignment, 100) +
                     ": expected KEY=VALUE, such as model=\"o3\"");
  const std::string_view text = assignment.substr(equals + 1);
  std::erase_if(values, [&key](const auto& one) {
    return one.first == key || one.first.starts_with(key + ".");
  });
  add(key, value_of(text).value_or(Json(bare(text))), values);
}

ConfigValues config_of(std::string_view toml, const std::string& name) {
  ConfigValues values;
  try {
    const toml::table table = toml::parse(toml);
    add("", json_of(table), values);
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    throw InputError(name + ":" + std::to_string(at.line) + ":" + std::to_string(at.column) +
                     ": error: " + std::string(error.description()));
  }
  return values;
}

}  // namespace sortie
