#include "core/catalog/known_models.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <stdexcept>

#include "core/json/json.h"

namespace sortie {
namespace {

bool are_digits(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// "2025-08-07", "20250929" or "latest": the suffix of a snapshot.
bool is_snapshot(std::string_view suffix) {
  if (suffix == "latest") return true;
  if (suffix.size() == 8) return are_digits(suffix);
  return suffix.size() == 10 && suffix[4] == '-' && suffix[7] == '-' &&
         are_digits(suffix.substr(0, 4)) && are_digits(suffix.substr(5, 2)) &&
         are_digits(suffix.substr(8, 2));
}

bool names_snapshot_of(std::string_view name, std::string_view family) {
  return name.starts_with(family) && name.size() > family.size() + 1 &&
         name[family.size()] == '-' && is_snapshot(name.substr(family.size() + 1));
}

double number(const Json& value, const char* what) {
  const auto real = value.real();
  if (!real || *real < 0)
    throw std::runtime_error(std::string("models.json: ") + what + " is not a number");
  return *real;
}

std::optional<double> number_if(const Json& object, const char* name) {
  const Json* value = object.find(name);
  return value ? std::optional(number(*value, name)) : std::nullopt;
}

ModelPrice price_of(const Json& json) {
  return {.input = number(json["input"], "input"),
          .cached_input = number_if(json, "cached_input"),
          .cache_write = number_if(json, "cache_write"),
          .output = number(json["output"], "output")};
}

std::optional<ImageRule> images_of(const Json& json) {
  ImageRule rule;
  if (const Json* patches = json.find("patches")) {
    rule.kind = ImageRule::Kind::patches;
    rule.factor = number(*patches, "patches");
    return rule;
  }
  for (const auto kind : {ImageRule::Kind::tiles, ImageRule::Kind::area}) {
    const Json& pair = json[kind == ImageRule::Kind::tiles ? "tiles" : "area"];
    if (pair.items().size() != 2) continue;
    rule.kind = kind;
    rule.base = static_cast<int>(number(pair.items()[0], "images"));
    rule.each = static_cast<int>(number(pair.items()[1], "images"));
    return rule;
  }
  return {};
}

struct Size {
  double width = 0;
  double height = 0;
};

/// Scales down, never up, until `side` has at most `most` pixels.
Size shrunk(Size size, double side, double most) {
  if (side <= most) return size;
  return {size.width * most / side, size.height * most / side};
}

double squares(Size size, double edge) {
  return std::max(1.0, std::ceil(size.width / edge)) * std::max(1.0, std::ceil(size.height / edge));
}

constexpr double kMostPatches = 1536;

double tiles_tokens(Size size, const ImageRule& rule) {
  size = shrunk(size, std::max(size.width, size.height), 2048);
  size = shrunk(size, std::min(size.width, size.height), 768);
  return rule.base + rule.each * squares(size, 512);
}

double area_tokens(Size size, const ImageRule& rule) {
  size = shrunk(size, std::max(size.width, size.height), rule.base);
  return std::min<double>(std::ceil(size.width * size.height / 750), rule.each);
}

}  // namespace

std::int64_t image_tokens(const Image& image, const ImageRule& rule) noexcept {
  const bool known = image.width > 0 && image.height > 0;
  // Eight tiles are the most that 2048 x 768 pixels can touch.
  const Size size = known
                        ? Size{static_cast<double>(image.width), static_cast<double>(image.height)}
                        : Size{2048, 768};
  double tokens = 0;
  switch (rule.kind) {
    case ImageRule::Kind::tiles:
      tokens = tiles_tokens(size, rule);
      break;
    case ImageRule::Kind::patches:
      tokens = rule.factor * (known ? std::min(squares(size, 32), kMostPatches) : kMostPatches);
      break;
    case ImageRule::Kind::area:
      tokens = known ? area_tokens(size, rule) : rule.each;
      break;
  }
  return static_cast<std::int64_t>(std::ceil(tokens));
}

const KnownModel* KnownModels::find(std::string_view vendor, std::string_view name) const {
  const auto search = [&](const auto& matches) -> const KnownModel* {
    for (const Row& row : rows) {
      if (!vendor.empty() && row.vendor != vendor) continue;
      for (const auto& each : row.names)
        if (matches(each)) return &row.model;
    }
    return nullptr;
  };
  // A snapshot may have a row of its own, with another price than its family.
  if (const auto* exact = search([&](const std::string& each) { return each == name; }))
    return exact;
  return search([&](const std::string& each) { return names_snapshot_of(name, each); });
}

KnownModels read_known_models(std::string_view json) {
  const Json table = parse_json(json);
  KnownModels models;
  models.version = static_cast<int>(table.integer_at("version"));
  models.date = table.string_at("date");
  for (const Json& each : table["models"].items()) {
    KnownModels::Row row;
    row.vendor = each.string_at("vendor");
    for (const Json& name : each["names"].items()) row.names.push_back(name.text());
    row.model.context_window = each.integer_at("context_window");
    row.model.max_output = each.integer_at("max_output");
    row.model.price = price_of(each["price"]);
    row.model.images = images_of(each["images"]);
    models.rows.push_back(std::move(row));
  }
  return models;
}

const KnownModels& known_models() {
  static const KnownModels models = read_known_models(kModelsJson);
  return models;
}

}  // namespace sortie
