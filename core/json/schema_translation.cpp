#include "core/json/schema_translation.h"

#include <re2/re2.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/json/json_pointer.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kAnnotations[] = {"title",
                                             "description",
                                             "default",
                                             "examples",
                                             "example",
                                             "deprecated",
                                             "readOnly",
                                             "writeOnly",
                                             "$comment",
                                             "$schema",
                                             "$id",
                                             "$anchor",
                                             "$vocabulary",
                                             "discriminator",
                                             "externalDocs",
                                             "xml",
                                             "format",
                                             "$defs",
                                             "definitions",
                                             "$recursiveAnchor",
                                             "contentEncoding",
                                             "contentMediaType",
                                             "contentSchema",
                                             "markdownDescription"};
constexpr std::string_view kPlain[] = {"type",     "enum",        "const",         "minimum",
                                       "maximum",  "minLength",   "maxLength",     "minItems",
                                       "maxItems", "uniqueItems", "minProperties", "maxProperties",
                                       "required"};
/// Schemas that apply to a part of the value.
constexpr std::string_view kOfAPart[] = {"additionalProperties", "propertyNames", "contains"};
/// Schemas that apply to the value itself.
constexpr std::string_view kOfItself[] = {"not", "if", "then", "else"};
constexpr std::string_view kListsOfItself[] = {"allOf", "anyOf", "oneOf"};
constexpr std::string_view kMapsOfParts[] = {"properties", "patternProperties"};

class Translation {
 public:
  explicit Translation(const Json& root) : root_(root) {}

  Json run(std::string_view pointer) {
    Json out = Json::object();
    const std::string start = definition(std::string(pointer), "");
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      const std::string place = waiting_[i];
      current_ = place;
      const Json* schema = at_pointer(root_, place);
      anchor_ = (*schema)["$recursiveAnchor"].boolean() ? place : "";
      const Json translated = schema_at(*schema, place, Applies::to_itself);
      definitions_.members().emplace_back(names_.at(place), translated);
    }
    refuse_cycles();
    out.set("definitions", std::move(definitions_));
    out.set("allOf", Json::array({reference_to(start)}));
    return out;
  }

 private:
  enum class Applies { to_itself, to_a_part };

  [[noreturn]] static void refuse(const std::string& place, const std::string& what) {
    throw InputError("JSON schema, at \"" + place + "\": " + what);
  }

  static Json reference_to(const std::string& name) {
    return Json::object({{"$ref", "#/definitions/" + name}});
  }

  /// The name under which what stands at the pointer is defined.
  std::string definition(const std::string& pointer, const std::string& place) {
    if (const auto known = names_.find(pointer); known != names_.end()) return known->second;
    if (!at_pointer(root_, pointer)) refuse(place, "nothing stands at \"#" + pointer + "\"");
    const std::string name = "s" + std::to_string(names_.size());
    names_.emplace(pointer, name);
    waiting_.push_back(pointer);
    return name;
  }

  Json reference(const Json& target, const std::string& place, Applies applies, bool recursive) {
    if (!target.is_string() || target.text().empty() || target.text()[0] != '#')
      refuse(place, "only references into the same document are known, \"#/…\"");
    std::string pointer = percent_decoded(std::string_view(target.text()).substr(1));
    if (!pointer.empty() && pointer[0] != '/')
      refuse(place, "references by anchor are not known: \"#" + pointer + "\"");
    if (recursive) pointer = anchor_;
    const std::string name = definition(pointer, place);
    if (applies == Applies::to_itself) leads_to_[current_].insert(pointer);
    return reference_to(name);
  }

  /// valijson remembers schemas by a path that it does not escape, and for some keywords does not
  /// extend, so that one schema is taken for another. References it tells apart: hence each
  /// schema gets a definition of its own.
  Json schema_at(const Json& schema, const std::string& place, Applies applies) {
    return define(written_out(schema, place, applies));
  }

  Json define(Json schema) {
    const std::string name = "n" + std::to_string(definitions_.members().size());
    definitions_.members().emplace_back(name, std::move(schema));
    return reference_to(name);
  }

  Json written_out(const Json& schema, const std::string& place, Applies applies) {
    if (schema.is_boolean()) return schema;
    if (!schema.is_object()) refuse(place, "a schema is an object or a boolean");
    Json out = Json::object();
    Json also = Json::array();  // what has to hold besides, each a schema of its own
    for (const auto& [name, value] : schema.members()) {
      const std::string here = place + "/" + escape_pointer(name);
      if (name.starts_with("x-") || is_one_of(name, kAnnotations)) continue;
      keyword(schema, name, value, here, applies, out, also);
    }
    if (!also.items().empty()) {
      if (const Json* all = out.find("allOf"))
        for (const auto& item : all->items()) also.push_back(item);
      out.set("allOf", std::move(also));
    }
    if (!schema["nullable"].boolean()) return out;
    const Json null = define(Json::object({{"type", "null"}}));
    return Json::object({{"anyOf", Json::array({null, define(std::move(out))})}});
  }

  void keyword(const Json& schema, const std::string& name, const Json& value,
               const std::string& here, Applies applies, Json& out, Json& also) {
    constexpr auto kPart = Applies::to_a_part;
    if (name == "$ref" || name == "$recursiveRef") {
      also.push_back(reference(value, here, applies, name == "$recursiveRef"));
    } else if (is_one_of(name, kPlain)) {
      out.set(name, value);
    } else if (is_one_of(name, kOfAPart)) {
      const bool plain = value.is_boolean() && name == "additionalProperties";
      out.set(name, plain ? value : schema_at(value, here, kPart));
    } else if (is_one_of(name, kOfItself)) {
      out.set(name, schema_at(value, here, applies));
    } else if (is_one_of(name, kListsOfItself)) {
      out.set(name, list_at(value, here, applies));
    } else if (is_one_of(name, kMapsOfParts)) {
      out.set(name, map_at(value, here, kPart));
      if (name == "patternProperties") check_member_patterns(value, here);
    } else if (name == "items" || name == "prefixItems" || name == "additionalItems") {
      items(schema, name, value, here, out);
    } else if (name == "pattern") {
      check_pattern(value, here);
      out.set(kPatternKeyword, value);
    } else if (name == "multipleOf") {
      multiple_of(value, out, also);
    } else if (name.starts_with("exclusiveM")) {
      exclusive(schema, name, value, here, out);
    } else if (name == "dependencies" || name == "dependentSchemas" ||
               name == "dependentRequired") {
      also.push_back(Json::object({{"dependencies", dependencies(value, here, applies)}}));
    } else if (name != "nullable") {
      refuse(here, "keyword \"" + name + "\" is not known");
    }
  }

  Json list_at(const Json& list, const std::string& place, Applies applies) {
    if (!list.is_array() || list.items().empty()) refuse(place, "a list of schemas is expected");
    Json out = Json::array();
    for (std::size_t i = 0; i < list.items().size(); ++i)
      out.push_back(schema_at(list.items()[i], place + "/" + std::to_string(i), applies));
    return out;
  }

  Json map_at(const Json& map, const std::string& place, Applies applies) {
    if (!map.is_object()) refuse(place, "an object of schemas is expected");
    Json out = Json::object();
    for (const auto& [name, value] : map.members())
      out.members().emplace_back(name,
                                 schema_at(value, place + "/" + escape_pointer(name), applies));
    return out;
  }

  /// 2020-12: prefixItems and items; draft 7: items as a list and additionalItems.
  void items(const Json& schema, const std::string& name, const Json& value,
             const std::string& here, Json& out) {
    constexpr auto kPart = Applies::to_a_part;
    const bool has_prefix = schema.find("prefixItems") || schema["items"].is_array();
    if (name == "prefixItems" || value.is_array())
      out.set("items", list_at(value, here, kPart));
    else if (name == "additionalItems" && !schema["items"].is_array())
      return;  // means nothing without a list of items (draft 7 §6.4.2)
    else
      out.set(has_prefix ? "additionalItems" : "items", schema_at(value, here, Applies::to_a_part));
  }

  /// The validator rounds a fraction before it divides by an integer; no fraction is a multiple of
  /// one, so that is said besides.
  void multiple_of(const Json& value, Json& out, Json& also) {
    out.set("multipleOf", value);
    if (!value.integer()) return;
    const Json integer = define(Json::object({{"type", "integer"}}));
    const Json number = define(Json::object({{"type", "number"}}));
    const Json other = define(Json::object({{"not", number}}));
    also.push_back(define(Json::object({{"anyOf", Json::array({integer, other})}})));
  }

  /// Draft 4 and OpenAPI 3.0 write `exclusiveMinimum: true` beside `minimum`.
  void exclusive(const Json& schema, const std::string& name, const Json& value,
                 const std::string& here, Json& out) {
    const std::string limit = name == "exclusiveMinimum" ? "minimum" : "maximum";
    if (name != "exclusiveMinimum" && name != "exclusiveMaximum")
      refuse(here, "keyword \"" + name + "\" is not known");
    if (value.is_number()) out.set(name, value);
    if (value.boolean() && schema.find(limit)) out.set(name, schema[limit]);
  }

  Json dependencies(const Json& map, const std::string& place, Applies applies) {
    if (!map.is_object()) refuse(place, "an object is expected");
    Json out = Json::object();
    for (const auto& [name, value] : map.members())
      out.set(name, value.is_array()
                        ? value
                        : schema_at(value, place + "/" + escape_pointer(name), applies));
    return out;
  }

  static void check_pattern(const Json& value, const std::string& here) {
    if (!value.is_string()) refuse(here, "a pattern is a string");
    const RE2 compiled(value.text(), RE2::Quiet);
    if (!compiled.ok()) refuse(here, "the pattern is not one of RE2's: " + compiled.error());
  }

  /// These are matched by std::regex: a pattern in which a group repeats could take forever.
  static void check_member_patterns(const Json& map, const std::string& here) {
    for (const auto& [pattern, schema] : map.members()) {
      check_pattern(Json(pattern), here);
      static const RE2 repeated_group(R"(\)[*+{?])");
      if (pattern.size() > 128 || RE2::PartialMatch(pattern, repeated_group))
        refuse(here, "the pattern is too long or repeats a group");
    }
  }

  /// A schema that refers to itself for the same value says nothing and never ends.
  void refuse_cycles() const {
    for (const auto& [start, unused] : leads_to_) {
      std::set<std::string> seen;
      std::vector<std::string> open{start};
      while (!open.empty()) {
        const auto next = leads_to_.find(open.back());
        open.pop_back();
        if (next == leads_to_.end()) continue;
        for (const auto& place : next->second) {
          if (place == start) refuse(start, "refers to itself without reading any of the value");
          if (seen.insert(place).second) open.push_back(place);
        }
      }
    }
  }

  const Json& root_;
  std::string current_;  ///< the definition under work
  std::string anchor_;   ///< what "$recursiveRef" means in it
  std::map<std::string, std::string> names_;
  std::vector<std::string> waiting_;
  Json definitions_ = Json::object();
  std::map<std::string, std::set<std::string>> leads_to_;  ///< references for the same value
};

}  // namespace

Json translate_schema(const Json& root, std::string_view pointer) {
  return Translation(root).run(pointer);
}

}  // namespace sortie
