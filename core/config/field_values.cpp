// The kinds of values that a key of a table may have.
#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "core/config/fields.h"
#include "core/text/or_list.h"
#include "core/text/text.h"

namespace sortie {
namespace {

using std::chrono::milliseconds;

bool is_number(const YamlNode& node) {
  return node.is_scalar() && node.plain && !node.text.empty() &&
         node.text.find_first_not_of("+-.0123456789eE_xob") == std::string::npos &&
         node.text.find_first_of("0123456789") != std::string::npos;
}

/// What YAML (the core schema of version 1.2, which JSON Schema validators of editors use) takes an
/// unquoted scalar for; "" for text.
std::string other_type(const YamlNode& node) {
  static const RE2 number(
      R"([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN))");
  if (!node.plain) return "";
  if (is_one_of(node.text, {"true", "True", "TRUE", "false", "False", "FALSE"}))
    return node.text + ", which is not text in YAML";
  return RE2::FullMatch(node.text, number) ? "the number " + one_line(node.text, 40) : "";
}

Json text_schema(const TextLimits& limits) {
  Json schema = Json::object({{"type", "string"}});
  if (!limits.may_be_empty) schema.set("minLength", 1);
  if (limits.pattern != nullptr) schema.set("pattern", std::string("^") + limits.pattern + "$");
  return schema;
}

/// Number and unit of `10MiB` or `30s`; nothing if it has another form or overflows.
struct Quantity {
  std::uint64_t number = 0;
  std::string_view unit;
};

std::optional<Quantity> parse_quantity(std::string_view text) {
  Quantity quantity;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), quantity.number);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  quantity.unit = text.substr(static_cast<std::size_t>(end - text.data()));
  return quantity;
}

struct Unit {
  std::string_view name;
  std::uint64_t factor;
};

constexpr Unit kDurations[] = {{"h", 3'600'000}, {"m", 60'000}, {"s", 1000}, {"ms", 1}};
constexpr Unit kSizes[] = {{"TiB", 1ull << 40},
                           {"GiB", 1ull << 30},
                           {"MiB", 1ull << 20},
                           {"KiB", 1ull << 10},
                           {"TB", 1'000'000'000'000},
                           {"GB", 1'000'000'000},
                           {"MB", 1'000'000},
                           {"KB", 1000},
                           {"kB", 1000},
                           {"B", 1}};

template <std::size_t n>
std::optional<std::uint64_t> parse_units(std::string_view text, const Unit (&units)[n]) {
  const auto quantity = parse_quantity(text);
  if (!quantity) return std::nullopt;
  for (const auto& unit : units) {
    if (unit.name != quantity->unit) continue;
    std::uint64_t value = 0;
    if (__builtin_mul_overflow(quantity->number, unit.factor, &value)) return std::nullopt;
    if (value > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
    return value;
  }
  return std::nullopt;
}

/// The shortest exact spelling: the unit that leaves the smallest number.
template <std::size_t n>
std::string in_units(std::uint64_t value, const Unit (&units)[n]) {
  const Unit* best = &units[n - 1];
  for (const auto& unit : units)
    if (value >= unit.factor && value % unit.factor == 0 && unit.factor > best->factor)
      best = &unit;
  return std::to_string(value / best->factor) + std::string(best->name);
}

void refuse_kind(const YamlNode& node, const std::string& name, const std::string& wanted,
                 Diagnostics& findings) {
  findings.error(node.place,
                 in_quotes(name) + ": expected " + wanted + ", got " + kind_in_words(node));
}

}  // namespace

std::optional<std::string> read_text(const YamlNode& node, const std::string& name,
                                     const TextLimits& limits, Diagnostics& findings) {
  if (node.kind == YamlNode::Kind::refused) return std::nullopt;
  if (!node.is_scalar()) {
    refuse_kind(node, name, limits.meaning != nullptr ? limits.meaning : "text", findings);
    return std::nullopt;
  }
  if (const std::string type = other_type(node); !type.empty()) {
    findings.error(node.place, in_quotes(name) + ": expected " +
                                   (limits.meaning != nullptr ? limits.meaning : "text") +
                                   ", got " + type + "; write \"" + one_line(node.text, 60) + "\"");
    return std::nullopt;
  }
  if (node.text.empty() && !limits.may_be_empty) {
    findings.error(node.place, in_quotes(name) + " must not be empty");
    return std::nullopt;
  }
  if (node.text.size() > limits.max_bytes) {
    findings.error(node.place, in_quotes(name) + " is longer than " +
                                   std::to_string(limits.max_bytes) + " bytes");
    return std::nullopt;
  }
  if (limits.pattern != nullptr && !node.text.empty() &&
      !RE2::FullMatch(node.text, RE2(limits.pattern, RE2::Quiet))) {
    const std::string wanted = limits.meaning != nullptr
                                   ? limits.meaning
                                   : std::string("text of the form ") + limits.pattern;
    findings.error(node.place,
                   in_quotes(name) + ": expected " + wanted + ", got " + in_quotes(node.text));
    return std::nullopt;
  }
  return node.text;
}

bool check_list(const YamlNode& node, const std::string& name, const std::string& wanted,
                Diagnostics& findings) {
  if (!node.is_list()) {
    refuse_kind(node, name, wanted, findings);
    return false;
  }
  if (node.items.size() <= kMaxListItems) return true;
  findings.error(node.place,
                 in_quotes(name) + " has more than " + std::to_string(kMaxListItems) + " entries");
  return false;
}

Json text_list(const std::vector<std::string>& texts) {
  Json list = Json::array();
  for (const auto& text : texts) list.push_back(text);
  return list;
}

FieldValue text_value(std::string& target, TextLimits limits) {
  return {
      .schema =
          [limits, preset = target] {
            Json schema = text_schema(limits);
            if (!preset.empty()) schema.set("default", preset);
            return schema;
          },
      .read =
          [&target, limits](const YamlNode& node, const std::string& name, Diagnostics& findings) {
            if (auto text = read_text(node, name, limits, findings)) target = std::move(*text);
          },
      .write = [&target] { return target.empty() ? Json() : Json(target); }};
}

FieldValue boolean_value(bool& target) {
  return {
      .schema =
          [preset = target] {
            return Json::object({{"type", "boolean"}, {"default", preset}});
          },
      .read =
          [&target](const YamlNode& node, const std::string& name, Diagnostics& findings) {
            if (node.is_scalar() && node.plain && (node.text == "true" || node.text == "false")) {
              target = node.text == "true";
            } else {
              findings.error(node.place, in_quotes(name) + ": expected true or false, got " +
                                             kind_in_words(node));
            }
          },
      .write = [&target] { return Json(target); }};
}

FieldValue version_value(int version) {
  const std::string wanted = std::to_string(version);
  return {.schema =
              [version] {
                return Json::object({{"const", version}});
              },
          .read =
              [wanted](const YamlNode& node, const std::string& name, Diagnostics& findings) {
                if (!node.is_scalar() || !node.plain || node.text != wanted)
                  findings.error(node.place, in_quotes(name) + ": expected " + wanted +
                                                 ", the only version there is");
              },
          .write = [version] { return Json(version); }};
}

FieldValue choice_value(std::vector<std::string> names, std::vector<std::string> later,
                        std::function<std::string()> get,
                        std::function<void(const std::string&)> set) {
  return {.schema =
              [names, preset = get()] {
                Json schema = Json::object({{"enum", text_list(names)}});
                if (!preset.empty()) schema.set("default", preset);
                return schema;
              },
          .read =
              [names = std::move(names), later = std::move(later), set = std::move(set)](
                  const YamlNode& node, const std::string& name, Diagnostics& findings) {
                if (!node.is_scalar()) {
                  refuse_kind(node, name, or_list(names), findings);
                } else if (std::find(names.begin(), names.end(), node.text) != names.end()) {
                  set(node.text);
                } else if (std::find(later.begin(), later.end(), node.text) != later.end()) {
                  findings.error(node.place,
                                 name + " " + in_quotes(node.text) + " is not supported yet");
                } else {
                  findings.error(node.place,
                                 in_quotes(name) + ": expected " + or_list(names) + ", got " +
                                     in_quotes(node.text),
                                 nearest_name(node.text, names));
                }
              },
          .write =
              [get = std::move(get)] {
                std::string name = get();
                return name.empty() ? Json() : Json(std::move(name));
              }};
}

FieldValue choice_value(std::string& target, std::vector<std::string> names) {
  return choice_value(
      std::move(names), {}, [&target] { return target; },
      [&target](const std::string& value) { target = value; });
}

FieldValue whole_value(std::int64_t min, std::int64_t max,
                       std::function<std::optional<std::int64_t>()> get,
                       std::function<void(std::int64_t)> set) {
  return {
      .schema =
          [min, max, preset = get()] {
            Json schema = Json::object({{"type", "integer"}, {"minimum", min}, {"maximum", max}});
            if (preset) schema.set("default", *preset);
            return schema;
          },
      .read =
          [min, max, set = std::move(set)](const YamlNode& node, const std::string& name,
                                           Diagnostics& findings) {
            const std::string range =
                "a whole number from " + std::to_string(min) + " to " + std::to_string(max);
            std::int64_t value = 0;
            const char* end = node.text.data() + node.text.size();
            const auto [stop, error] = std::from_chars(node.text.data(), end, value);
            const bool digits = node.is_scalar() && node.plain && stop == end && !node.text.empty();
            const std::size_t sign = node.text.starts_with('-') ? 1 : 0;
            if (digits && node.text.size() > sign + 1 && node.text[sign] == '0') {
              // 010 is 8 in YAML 1.1 and 10 in YAML 1.2.
              findings.error(node.place, in_quotes(name) + " has a leading zero; write " +
                                             std::to_string(value));
            } else if (!digits) {
              refuse_kind(node, name, range, findings);
            } else if (error != std::errc() || value < min || value > max) {
              findings.error(node.place,
                             in_quotes(name) + ": expected " + range + ", got " + node.text);
            } else {
              set(value);
            }
          },
      .write =
          [get = std::move(get)] {
            const auto value = get();
            return value ? Json(*value) : Json();
          }};
}

namespace {

/// @param Target  a number or an optional one
template <typename Target>
FieldValue number_value(Target& target, double min, double max) {
  const auto get = [&target] { return std::optional<double>(target); };
  return {
      .schema =
          [min, max, preset = get()] {
            Json schema = Json::object({{"type", "number"}, {"minimum", min}, {"maximum", max}});
            if (preset) schema.set("default", *preset);
            return schema;
          },
      .read =
          [min, max, &target](const YamlNode& node, const std::string& name,
                              Diagnostics& findings) {
            static const RE2 number(R"(-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?)");
            double value = NAN;
            if (node.is_scalar() && node.plain && RE2::FullMatch(node.text, number))
              std::from_chars(node.text.data(), node.text.data() + node.text.size(), value);
            if (value >= min && value <= max)
              target = value;
            else
              refuse_kind(node, name,
                          "a number from " + write_json(Json(min)) + " to " + write_json(Json(max)),
                          findings);
          },
      .write =
          [get] {
            const auto value = get();
            return value ? Json(*value) : Json();
          }};
}

}  // namespace

FieldValue real_value(std::optional<double>& target, double min, double max) {
  return number_value(target, min, max);
}

FieldValue real_value(double& target, double min, double max) {
  return number_value(target, min, max);
}

namespace {

/// Durations and sizes: a number with its unit, inside a range.
struct Quantities {
  const char* what;     // "a duration such as 30s or 10m"
  const char* pattern;  // for the schema
  std::optional<std::uint64_t> (*parse)(std::string_view);
  std::string (*text)(std::uint64_t);
};

FieldValue quantity_value(const Quantities& kind, std::uint64_t min, std::uint64_t max,
                          std::function<std::uint64_t()> get,
                          std::function<void(std::uint64_t)> set) {
  return {
      .schema =
          [kind, preset = get()] {
            return Json::object(
                {{"type", "string"}, {"pattern", kind.pattern}, {"default", kind.text(preset)}});
          },
      .read =
          [kind, min, max, set = std::move(set)](const YamlNode& node, const std::string& name,
                                                 Diagnostics& findings) {
            const auto value = node.is_scalar() ? kind.parse(node.text) : std::nullopt;
            if (!value && is_number(node)) {
              findings.error(node.place, in_quotes(name) + " needs a unit: expected " + kind.what);
            } else if (!value) {
              refuse_kind(node, name, kind.what, findings);
            } else if (*value < min || *value > max) {
              findings.error(node.place, in_quotes(name) + ": expected a value from " +
                                             kind.text(min) + " to " + kind.text(max) + ", got " +
                                             node.text);
            } else {
              set(*value);
            }
          },
      .write = [kind, get = std::move(get)] { return Json(kind.text(get())); }};
}

constexpr Quantities kDuration = {
    .what = "a duration such as 500ms, 30s, 10m or 2h",
    .pattern = "^[0-9]+(ms|s|m|h)$",
    .parse = [](std::string_view text) { return parse_units(text, kDurations); },
    .text = [](std::uint64_t value) { return in_units(value, kDurations); },
};
constexpr Quantities kSize = {
    .what = "a size such as 10KiB, 5MB or 2GiB",
    .pattern = "^[0-9]+(B|[kKMGT]B|[KMGT]iB)$",
    .parse = [](std::string_view text) { return parse_units(text, kSizes); },
    .text = [](std::uint64_t value) { return in_units(value, kSizes); },
};

}  // namespace

FieldValue duration_value(milliseconds& target, milliseconds min, milliseconds max) {
  return quantity_value(
      kDuration, static_cast<std::uint64_t>(min.count()), static_cast<std::uint64_t>(max.count()),
      [&target] { return static_cast<std::uint64_t>(target.count()); },
      [&target](std::uint64_t value) { target = milliseconds(static_cast<std::int64_t>(value)); });
}

FieldValue size_value(std::uint64_t& target, std::uint64_t min, std::uint64_t max) {
  return quantity_value(
      kSize, min, max, [&target] { return target; },
      [&target](std::uint64_t value) { target = value; });
}

FieldValue texts_value(std::vector<std::string>& target, Lists lists, TextLimits limits) {
  return {.schema =
              [limits, preset = target] {
                return Json::object({{"type", "array"},
                                     {"items", text_schema(limits)},
                                     {"default", text_list(preset)}});
              },
          .read =
              [&target, lists, limits](const YamlNode& node, const std::string& name,
                                       Diagnostics& findings) {
                if (!check_list(node, name, "a list", findings)) return;
                if (lists == Lists::replaced) target.clear();
                for (const auto& item : node.items) {
                  const auto text = read_text(item, name, limits, findings);
                  if (!text) continue;
                  if (lists == Lists::appended &&
                      std::find(target.begin(), target.end(), *text) != target.end())
                    continue;
                  target.push_back(*text);
                }
              },
          .write = [&target] { return text_list(target); }};
}

FieldValue text_map_value(std::map<std::string, std::string>& target, TextLimits names,
                          TextLimits values) {
  return {
      .schema =
          [names, values] {
            return Json::object({{"type", "object"},
                                 {"propertyNames", text_schema(names)},
                                 {"additionalProperties", text_schema(values)}});
          },
      .read =
          [&target, names, values](const YamlNode& node, const std::string& name,
                                   Diagnostics& findings) {
            if (!node.is_mapping()) {
              refuse_kind(node, name, "a mapping", findings);
              return;
            }
            for (const auto& member : node.members) {
              if (!read_text(member.key, "name", names, findings)) continue;
              if (member.value.kind == YamlNode::Kind::null) {
                findings.error(member.key.place, in_quotes(member.key.text) + " needs a value");
              } else if (auto text = read_text(member.value, member.key.text, values, findings)) {
                target[member.key.text] = std::move(*text);
              }
            }
          },
      .write =
          [&target] {
            Json json = Json::object();
            for (const auto& [name, value] : target) json.set(name, value);
            return json;
          }};
}

std::string duration_text(milliseconds value) {
  return in_units(static_cast<std::uint64_t>(value.count()), kDurations);
}

std::string size_text(std::uint64_t bytes) { return in_units(bytes, kSizes); }

std::optional<milliseconds> parse_duration(std::string_view text) {
  const auto value = parse_units(text, kDurations);
  if (!value) return std::nullopt;
  return milliseconds(static_cast<std::int64_t>(*value));
}

std::optional<std::uint64_t> parse_size(std::string_view text) { return parse_units(text, kSizes); }

}  // namespace sortie
