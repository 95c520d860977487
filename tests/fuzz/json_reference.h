#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/json/json_visitor.h"

namespace sortie {

/// Reads a text by visit_json(), which is RapidJSON's: what parse_plain_json() is compared with.
class JsonReference : public JsonVisitor {
 public:
  /// Nothing where the text is no JSON, or an object repeats a name.
  static std::optional<Json> read(std::string_view text) {
    JsonReference reference;
    if (!visit_json(text, reference)) return std::nullopt;
    return std::move(reference.open_.front());
  }

  bool begin(Json::Type type) override {
    open_.push_back(type == Json::Type::object ? Json::object() : Json::array());
    names_.emplace_back();
    return true;
  }
  bool end() override {
    Json value = std::move(open_.back());
    open_.pop_back();
    names_.pop_back();
    return add(std::move(value));
  }
  bool name(std::string_view text) override {
    names_.back() = text;
    return open_.back().find(text) == nullptr;
  }
  bool value(Json::Type type, std::string_view text) override {
    switch (type) {
      case Json::Type::string:
        return add(Json(text));
      case Json::Type::number:
        return add(Json::number(std::string(text)));
      case Json::Type::boolean:
        return add(Json(text == "true"));
      default:
        return add(Json());
    }
  }

 private:
  bool add(Json value) {
    if (open_.empty())
      open_.push_back(std::move(value));
    else if (open_.back().is_array())
      open_.back().push_back(std::move(value));
    else
      open_.back().members().emplace_back(names_.back(), std::move(value));
    return true;
  }
  std::vector<Json> open_;
  std::vector<std::string> names_;
};

}  // namespace sortie
