#include "core/json/json_value.h"

#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

namespace sortie {

Json::Json(std::int64_t value) : type_(Type::number), text_(std::to_string(value)) {}
Json::Json(std::uint64_t value) : type_(Type::number), text_(std::to_string(value)) {}

Json::Json(double value) : type_(Type::number) {
  if (!std::isfinite(value)) {  // JSON has no spelling for them (RFC 8259 §6)
    type_ = Type::null;
    return;
  }
  char buffer[40];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  text_.assign(buffer, end);
}

Json Json::strings(const std::vector<std::string>& texts) {
  return array({texts.begin(), texts.end()});
}

std::vector<std::string> Json::texts() const {
  std::vector<std::string> texts;
  for (const Json& item : items_) texts.push_back(item.text());
  return texts;
}

Json Json::array(std::vector<Json> items) {
  Json value;
  value.type_ = Type::array;
  value.items_ = std::move(items);
  return value;
}

Json Json::object(std::initializer_list<Member> members) {
  Json value;
  value.type_ = Type::object;
  value.members_ = members;
  return value;
}

Json Json::number(std::string spelling) {
  Json value;
  value.type_ = Type::number;
  value.text_ = std::move(spelling);
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
  for (const auto& member : members_)
    if (member.first == name) return &member.second;
  return nullptr;
}

Json* Json::find(std::string_view name) noexcept {
  for (auto& member : members_)
    if (member.first == name) return &member.second;
  return nullptr;
}

const Json& Json::operator[](std::string_view name) const noexcept {
  static const Json kNull;
  const Json* found = find(name);
  return found ? *found : kNull;
}

Json& Json::set(std::string_view name, Json value) {
  if (type_ == Type::null) type_ = Type::object;
  if (Json* found = find(name)) {
    *found = std::move(value);
    return *this;
  }
  members_.emplace_back(std::string(name), std::move(value));
  return *this;
}

void Json::push_back(Json value) {
  if (type_ == Type::null) type_ = Type::array;
  items_.push_back(std::move(value));
}

std::string Json::string_at(std::string_view name, std::string_view fallback) const {
  const Json* found = find(name);
  return found && found->is_string() ? found->text_ : std::string(fallback);
}

std::int64_t Json::integer_at(std::string_view name, std::int64_t fallback) const noexcept {
  const Json* found = find(name);
  return found ? found->integer().value_or(fallback) : fallback;
}

}  // namespace sortie
