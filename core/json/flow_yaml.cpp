#include "core/json/flow_yaml.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace sortie {
namespace {

constexpr std::array<std::string_view, 11> kSpecialWords = {
    "null", "true", "false", "yes", "no", "on", "off", "y", "n", ".", ".."};

bool is_plain_yaml(std::string_view text) {
  if (text.empty() || text == "-") return false;
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (std::find(kSpecialWords.begin(), kSpecialWords.end(), lower) != kSpecialWords.end())
    return false;
  const bool digit_first =
      (text.front() >= '0' && text.front() <= '9') || text.front() == '+' || text.starts_with(".");
  if (digit_first && text.find('/') == std::string_view::npos) return false;
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("_./+-").find(c) != std::string_view::npos;
  });
}

void append_flow(const Json& value, std::string& to) {
  if (value.is_array()) {
    to += '[';
    for (std::size_t i = 0; i < value.items().size(); ++i) {
      if (i > 0) to += ", ";
      append_flow(value.items()[i], to);
    }
    to += ']';
  } else if (value.is_object()) {
    to += '{';
    for (std::size_t i = 0; i < value.members().size(); ++i) {
      if (i > 0) to += ", ";
      append_flow(Json(value.members()[i].first), to);
      to += ": ";
      append_flow(value.members()[i].second, to);
    }
    to += '}';
  } else if (value.is_string() && is_plain_yaml(value.text())) {
    to += value.text();
  } else {
    write_json(value, to);  // a JSON string is a double-quoted YAML one
  }
}

void join(const Json& object, Json& to) {
  for (const auto& [key, value] : object.members()) {
    Json* const there = to.find(key);
    if (there == nullptr) {
      to.set(key, value);
    } else if (there->is_object()) {
      join(value, *there);
    } else if (there->is_array() && value.is_array()) {
      for (const Json& item : value.items()) {
        const auto& items = there->items();
        if (std::find(items.begin(), items.end(), item) == items.end()) there->push_back(item);
      }
    }
  }
}

}  // namespace

std::string flow_yaml(const Json& value) {
  std::string text;
  append_flow(value, text);
  return text;
}

std::string flow_yaml_lines(const Json& lines) {
  std::string text;
  for (const auto& [key, value] : lines.members())
    text += (text.empty() ? "" : "\n") + key + ": " + flow_yaml(value);
  return text;
}

Json joined_lists(const std::vector<Json>& objects) {
  Json all = Json::object();
  for (const Json& object : objects) join(object, all);
  return all;
}

std::vector<std::string> names_of_lists(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [key, value] : object.members()) {
    if (value.is_array()) names.push_back(key);
    for (const std::string& name : names_of_lists(value)) names.push_back(key + "." + name);
  }
  return names;
}

}  // namespace sortie
