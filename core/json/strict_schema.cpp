#include "core/json/strict_schema.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "core/json/json_pointer.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::size_t kMostFindings = 20;
constexpr std::size_t kShownFindings = 3;

constexpr std::size_t kMostSteps = 1'000;  ///< from the root to a part, references included

// The guide's limits.
constexpr std::size_t kMostProperties = 5'000;
constexpr std::size_t kDeepest = 10;                   ///< objects within objects
constexpr std::size_t kMostNamedCharacters = 120'000;  ///< of names, enum values and constants
constexpr std::size_t kMostEnumValues = 1'000;         ///< of the whole schema
constexpr std::size_t kLargeEnum = 250;                ///< an enum of more strings …
constexpr std::size_t kLargeEnumCharacters = 15'000;   ///< … may have this many characters

constexpr std::string_view kTypes[] = {"string", "number", "integer", "boolean",
                                       "object", "array",  "null"};
/// `definitions` is what the provider's own libraries write.
constexpr std::string_view kKeywords[] = {
    "type",        "title",           "description", "enum",
    "const",       "anyOf",           "$ref",        "$defs",
    "definitions", "properties",      "required",    "additionalProperties",
    "items",       "minItems",        "maxItems",    "pattern",
    "format",      "multipleOf",      "minimum",     "exclusiveMinimum",
    "maximum",     "exclusiveMaximum"};
constexpr std::string_view kFormats[] = {"date-time", "time", "date", "duration", "email",
                                         "hostname",  "ipv4", "ipv6", "uuid"};

/// Characters, as the limits count them.
std::size_t length_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

bool is_scalar(const Json& value) { return !value.is_object() && !value.is_array(); }

bool has_type(const Json& schema, std::string_view type) {
  const Json& given = schema["type"];
  if (given.is_string()) return given.text() == type;
  return std::any_of(given.items().begin(), given.items().end(),
                     [&](const Json& one) { return one.text() == type; });
}

class StrictMode {
 public:
  explicit StrictMode(const Json& root) : root_(root) {}

  std::vector<SchemaFinding> run() {
    if (!root_["type"].is_string() || root_["type"].text() != "object")
      find("", "the root has to say \"type\": \"object\"");
    if (root_.find("anyOf")) find("/anyOf", "the root can't be an anyOf");
    schema(root_, "");
    if (properties_ > kMostProperties) find("", limit("properties", properties_, kMostProperties));
    if (enum_values_ > kMostEnumValues)
      find("", limit("enum values", enum_values_, kMostEnumValues));
    if (characters_ > kMostNamedCharacters)
      find("", limit("characters in names, enum values and constants", characters_,
                     kMostNamedCharacters));
    if (const std::size_t depth = depth_of(""); depth > kDeepest)
      find("", limit("levels of objects", depth, kDeepest));
    return std::move(findings_);
  }

 private:
  static std::string limit(const std::string& what, std::size_t has, std::size_t most) {
    return std::to_string(has) + " " + what + "; at most " + std::to_string(most) + " are allowed";
  }

  void find(const std::string& place, std::string message) {
    if (findings_.size() < kMostFindings) findings_.push_back({place, std::move(message)});
  }

  void schema(const Json& schema, const std::string& place) {
    if (!schema.is_object()) return find(place, "has to be an object, not true or false");
    for (const auto& [name, value] : schema.members()) {
      const bool of_root = place.empty() && name == "$schema";
      if (!of_root && !is_one_of(name, kKeywords))
        find(place + "/" + escape_pointer(name), "keyword " + in_quotes(name) + " is not allowed");
    }
    if (schema.find("$ref")) {
      reference(schema, place);
    } else {
      types(schema, place);
      values(schema, place);
      if (has_type(schema, "object")) object(schema, place);
      if (has_type(schema, "array") && !schema["items"].is_object())
        find(place, "an array needs 'items' that are one schema");
    }
    parts(schema, place);
  }

  void reference(const Json& schema, const std::string& place) {
    // Definitions are allowed beside a reference at the root: they say nothing about the value.
    for (const auto& [name, value] : schema.members())
      if (name != "$ref" && name != "$defs" && name != "definitions" && is_one_of(name, kKeywords))
        find(place + "/" + escape_pointer(name), in_quotes(name) + " can't stand beside '$ref'");
  }

  void types(const Json& schema, const std::string& place) {
    const Json* type = schema.find("type");
    if (!type) {
      if (!schema.find("anyOf")) find(place, "needs a 'type'");
      return;
    }
    std::vector<Json> given = type->items();
    if (type->is_string()) given = {*type};
    if (given.empty()) find(place + "/type", "has to be a type or a list of types");
    for (const Json& one : given)
      if (!one.is_string() || !is_one_of(one.text(), kTypes))
        find(place + "/type", "type " + in_quotes(one.text()) + " is not known");
  }

  void values(const Json& schema, const std::string& place) {
    if (const Json* format = schema.find("format"); format && !is_one_of(format->text(), kFormats))
      find(place + "/format", "format " + in_quotes(format->text()) + " is not allowed");
    if (const Json* constant = schema.find("const")) {
      if (!is_scalar(*constant)) find(place + "/const", "can't be a list or an object");
      if (constant->is_string()) characters_ += length_of(constant->text());
    }
    const Json* choice = schema.find("enum");
    if (!choice) return;
    if (choice->items().empty()) find(place + "/enum", "has to be a list of values");
    std::size_t characters = 0;
    for (const Json& value : choice->items()) {
      if (!is_scalar(value)) find(place + "/enum", "can't hold a list or an object");
      if (value.is_string()) characters += length_of(value.text());
    }
    enum_values_ += choice->items().size();
    characters_ += characters;
    if (choice->items().size() > kLargeEnum && characters > kLargeEnumCharacters)
      find(place + "/enum", limit("characters in an enum of more than 250 values", characters,
                                  kLargeEnumCharacters));
  }

  void object(const Json& schema, const std::string& place) {
    const Json* additional = schema.find("additionalProperties");
    if (!additional || !additional->is_boolean() || additional->boolean())
      find(place, "an object needs \"additionalProperties\": false");
    const Json& properties = schema["properties"];
    if (!properties.is_object()) find(place, "an object needs 'properties'");
    const Json* required = schema.find("required");
    if (!required || !required->is_array())
      return find(place, "an object needs 'required', with all its properties");
    std::set<std::string> names;
    for (const Json& name : required->items()) names.insert(name.text());
    for (const auto& [name, value] : properties.members())
      if (names.erase(name) == 0)
        find(place + "/required", "property " + in_quotes(name) +
                                      " is missing; what may be left out is of type null besides");
    for (const auto& name : names)
      find(place + "/required", "there is no property " + in_quotes(name));
  }

  /// The schemas that stand in this one.
  void parts(const Json& schema, const std::string& place) {
    for (const char* map : {"properties", "$defs", "definitions"}) {
      const std::string here = place + "/" + map + "/";
      for (const auto& [name, value] : schema[map].members()) {
        characters_ += length_of(name);
        if (std::string_view(map) == "properties") ++properties_;
        this->schema(value, here + escape_pointer(name));
      }
    }
    if (schema["items"].is_object()) this->schema(schema["items"], place + "/items");
    const auto& branches = schema["anyOf"].items();
    for (std::size_t i = 0; i < branches.size(); ++i)
      this->schema(branches[i], place + "/anyOf/" + std::to_string(i));
    first_keys(schema["anyOf"], place + "/anyOf");
  }

  /// What a reference leads to, as far as it leads anywhere.
  const Json& resolved(const Json& schema) const {
    const Json* at = &schema;
    for (int hops = 0; hops < 32 && at->find("$ref"); ++hops) {
      const Json* next = at_pointer(root_, pointer_of(*at));
      if (!next) break;
      at = next;
    }
    return *at;
  }

  static std::string pointer_of(const Json& schema) {
    const std::string& target = schema["$ref"].text();
    return target.empty() ? "/" : percent_decoded(std::string_view(target).substr(1));
  }

  /// The model writes properties in their order: the first of them, or its value,
  /// has to distinguish the branches.
  void first_keys(const Json& any_of, const std::string& place) {
    struct FirstKey {
      bool open = false;  ///< a branch takes any value there
      std::set<std::string> values;
    };
    std::map<std::string, FirstKey> known;
    for (const Json& branch : any_of.items()) {
      const auto& members = resolved(branch)["properties"].members();
      if (members.empty()) continue;
      const auto& [name, first] = members.front();
      std::vector<Json> values = first["enum"].items();
      if (const Json* constant = first.find("const")) values = {*constant};
      const auto [same, is_new] = known.try_emplace(name);
      bool alike = !is_new && (same->second.open || values.empty());
      for (const Json& value : values)
        if (!same->second.values.insert(write_json(value)).second) alike = true;
      same->second.open = values.empty();
      if (alike)
        return find(place, "objects that begin with the same property " + in_quotes(name) +
                               " need different constants there");
    }
  }

  /// How deep objects stand in each other; a schema that holds itself counts once.
  std::size_t depth_of(const std::string& pointer, std::size_t steps = 0) {
    if (steps > kMostSteps) return kDeepest + 1;
    if (const auto known = depths_.find(pointer); known != depths_.end()) return known->second;
    const Json* schema = at_pointer(root_, pointer);
    if (!schema) return 0;
    depths_[pointer] = 0;  // until it is known: recursion ends here
    std::size_t below = 0;
    const auto look = [&](const std::string& place) {
      below = std::max(below, depth_of(place, steps + 1));
    };
    if (schema->find("$ref")) look(pointer_of(*schema));
    for (const auto& [name, value] : (*schema)["properties"].members())
      look(pointer + "/properties/" + escape_pointer(name));
    if ((*schema)["items"].is_object()) look(pointer + "/items");
    for (std::size_t i = 0; i < (*schema)["anyOf"].items().size(); ++i)
      look(pointer + "/anyOf/" + std::to_string(i));
    return depths_[pointer] = below + (schema->find("properties") ? 1 : 0);
  }

  const Json& root_;
  std::vector<SchemaFinding> findings_;
  std::size_t properties_ = 0;
  std::size_t enum_values_ = 0;
  std::size_t characters_ = 0;
  std::map<std::string, std::size_t> depths_;
};

}  // namespace

std::vector<SchemaFinding> strict_mode_findings(const Json& schema) {
  return StrictMode(schema).run();
}

std::string describe_strict_findings(const std::vector<SchemaFinding>& findings) {
  std::string text;
  for (std::size_t i = 0; i < std::min(findings.size(), kShownFindings); ++i)
    text += (i ? "; #" : "#") + findings[i].path + ": " + findings[i].message;
  if (findings.size() > kShownFindings)
    text += "; and " + std::to_string(findings.size() - kShownFindings) + " more";
  return text;
}

}  // namespace sortie
