#include "tools/offered_tools.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/base/error.h"
#include "core/json/json_pointer.h"
#include "core/text/text.h"
#include "policies/engine/explain.h"
#include "tools/argument_slips.h"

namespace sortie {
namespace {

constexpr int kMaxDepth = 32;           ///< levels of a schema that are followed
constexpr std::size_t kMaxValues = 12;  ///< values of an enum that a message lists

/// Resolves a reference into the same document. A reference to a reference is not followed.
const Json& resolved(const Json& schema, const Json& root) {
  const std::string reference = schema.string_at("$ref");
  if (!reference.starts_with('#')) return schema;
  const Json* target = at_pointer(root, percent_decoded(reference).substr(1));
  return target ? *target : schema;
}

/// What happens to members that a schema allows without naming them.
enum class OtherMembers { kept, dropped };

class Dropper {
 public:
  explicit Dropper(const Json& root) : root_(root) {}

  void drop(Json& value, const Json& given, const std::string& place, OtherMembers others,
            int depth) {
    const Json& schema = resolved(given, root_);
    if (depth > kMaxDepth) return;
    if (value.is_array() && schema["items"].is_object()) {
      for (Json& item : value.items())
        drop(item, schema["items"], place + "[]", OtherMembers::kept, depth + 1);
    }
    const Json& properties = schema["properties"];
    if (!value.is_object()) return;
    if (!properties.is_object() && others == OtherMembers::kept) return;
    const Json& closed = schema["additionalProperties"];
    const bool allows_others = closed.type() != Json::Type::boolean || closed.boolean();
    // The check decides on members that patternProperties allows.
    const bool drops =
        !schema.find("patternProperties") && (!allows_others || others == OtherMembers::dropped);
    const std::string before = place.empty() ? "" : place + ".";
    if (drops)
      std::erase_if(value.members(), [&](const Json::Member& member) {
        if (properties.find(member.first)) return false;
        note(before + member.first);
        return true;
      });
    for (auto& [name, member] : value.members())
      if (const Json* inner = properties.find(name))
        drop(member, *inner, before + name, OtherMembers::kept, depth + 1);
  }

  std::vector<std::string> take() { return std::move(names_); }

 private:
  void note(std::string name) {
    if (std::find(names_.begin(), names_.end(), name) == names_.end())
      names_.push_back(std::move(name));
  }

  const Json& root_;
  std::vector<std::string> names_;
};

/// The part of the schema that describes the value at the pointer; null if there is none.
const Json* schema_at(const Json& parameters, std::string_view pointer) {
  const Json* schema = &resolved(parameters, parameters);
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    const std::string_view part = pointer.substr(0, end);
    pointer.remove_prefix(end);
    const Json* inner = nullptr;
    for (const auto& [name, property] : (*schema)["properties"].members())
      if (escape_pointer(name) == part) inner = &property;
    const bool is_index = part.find_first_not_of("0123456789") == std::string_view::npos;
    if (inner == nullptr && is_index) inner = schema->find("items");
    if (inner == nullptr || !inner->is_object()) return nullptr;
    schema = &resolved(*inner, parameters);
  }
  return schema;
}

std::string range(const Json& schema, const char* least, const char* most) {
  const Json* from = schema.find(least);
  const Json* to = schema.find(most);
  if (from && to) return " from " + write_json(*from) + " to " + write_json(*to);
  if (from) return ", " + write_json(*from) + " or more";
  return to ? ", " + write_json(*to) + " or less" : "";
}

std::string expected(const Json& schema, int depth = 0);

std::string expected_type(const std::string& type, const Json& schema, int depth) {
  if (type == "string") return "a string";
  if (type == "boolean") return "true or false";
  if (type == "object") return "an object";
  if (type == "integer") return "a whole number" + range(schema, "minimum", "maximum");
  if (type == "number") return "a number" + range(schema, "minimum", "maximum");
  if (type != "array") return type;
  const std::string items = depth < 2 ? expected(schema["items"], depth + 1) : "";
  return items.empty() ? "an array" : "an array, each item " + items;
}

/// Describes the values that fit the schema; "" if it has no simple description.
std::string expected(const Json& schema, int depth) {
  std::string text;
  if (const auto& values = schema["enum"].items(); !values.empty()) {
    for (std::size_t i = 0; i < std::min(values.size(), kMaxValues); ++i)
      text += (i == 0 ? "one of " : ", ") + one_line(write_json(values[i]), 60);
    return values.size() > kMaxValues ? text + ", …" : text;
  }
  if (const Json* value = schema.find("const")) return one_line(write_json(*value), 60);
  const Json& type = schema["type"];
  if (type.is_string()) return expected_type(type.text(), schema, depth);
  for (const Json& one : type.items())
    text += (text.empty() ? "" : ", or ") + expected_type(one.text(), schema, depth);
  return text;
}

/// One line that names each invalid argument.
std::string describe_findings(const std::vector<SchemaFinding>& findings, const Json& parameters) {
  std::string text;
  for (const SchemaFinding& finding : findings) {
    if (!text.empty()) text += "; ";
    std::string pointer = finding.path;
    // For a missing property, the schema of that property says what is expected.
    static constexpr std::string_view kMissing = "missing property '";
    if (finding.message.starts_with(kMissing))
      pointer += "/" + escape_pointer(std::string_view(finding.message)
                                          .substr(kMissing.size(),
                                                  finding.message.size() - kMissing.size() - 1));
    const Json* schema = schema_at(parameters, pointer);
    const std::string words = schema && !pointer.empty() ? expected(*schema) : "";
    if (words.empty()) {
      text += describe({finding});
      continue;
    }
    // The words below say more than the types or values that were expected.
    std::string message = finding.message;
    for (const std::string_view plain :
         {"wrong type", "not one of the values allowed", "not the value expected"})
      if (message.starts_with(plain)) message = plain;
    text += describe({{finding.path, message}}) + " (expected: " + words + ")";
  }
  return text;
}

/// The text of a custom tool's call. Some models wrap it as the arguments of a function.
std::string free_text(const ToolCall& call) {
  if (!trimmed(call.arguments).starts_with('{')) return call.arguments;
  try {
    const Json wrapped = parse_json(call.arguments);
    const auto& members = wrapped.members();
    if (members.size() == 1 && members[0].second.is_string()) return members[0].second.text();
  } catch (const JsonError&) {
  }
  return call.arguments;
}

Json read_object(const ToolCall& call) {
  if (call.form == ToolCall::Form::custom) return Json::object({{"input", free_text(call)}});
  Json arguments;
  try {
    arguments = parse_json(call.arguments.empty() ? "{}" : call.arguments);
  } catch (const JsonError& error) {
    throw UnusableArguments(std::string("The arguments are not valid JSON: ") + error.what() +
                            " at byte " + std::to_string(error.offset()) +
                            " (expected: one JSON object)");
  }
  if (!arguments.is_object()) throw UnusableArguments("The arguments are not a JSON object.");
  return arguments;
}

}  // namespace

OfferedTool::OfferedTool(std::unique_ptr<Tool> given)
    : tool(std::move(given)), foreign(!tool->origin().is_null()) {}

const JsonSchema* OfferedTool::schema() const {
  std::call_once(compiled_, [this] {
    try {
      schema_.emplace(tool->spec().parameters);
    } catch (const InputError&) {
      if (!foreign) throw;
    }
  });
  return schema_ ? &*schema_ : nullptr;
}

OfferedTools::OfferedTools(std::vector<std::unique_ptr<Tool>> own, const Engine& engine,
                           OfferOptions options)
    : own_(own.size()), engine_(engine), options_(std::move(options)) {
  for (auto& tool : own) tools_.push_back(std::make_unique<OfferedTool>(std::move(tool)));
  load_source();
}

/// Replaces the tools that came from the source before.
void OfferedTools::load_source() {
  tools_.resize(own_);
  if (options_.source == nullptr) return;
  for (auto& tool : options_.source->tools()) {
    const std::string& name = tool->spec().name;
    if (find(name) != nullptr || (options_.keeps && !options_.keeps(name))) continue;
    tools_.push_back(std::make_unique<OfferedTool>(std::move(tool)));
  }
}

bool OfferedTools::renew(std::stop_token stop) {
  if (options_.source == nullptr || !options_.source->renew(std::move(stop))) return false;
  load_source();
  return true;
}

std::vector<ToolSpec> OfferedTools::specs() const {
  std::vector<ToolSpec> specs;
  for (const auto& one : tools_)
    if (engine_.shows_tool(one->tool->identity())) specs.push_back(one->tool->spec());
  return specs;
}

std::vector<std::string> OfferedTools::names() const {
  std::vector<std::string> names;
  for (const auto& one : tools_) names.push_back(one->tool->spec().name);
  return names;
}

const OfferedTool* OfferedTools::find(const std::string& name) const {
  for (const auto& one : tools_)
    if (one->tool->spec().name == name) return one.get();
  return nullptr;
}

std::string OfferedTools::why_unknown(const std::string& name) const {
  std::vector<std::string> names;
  for (const auto& spec : specs()) names.push_back(spec.name);
  std::string text = "Unknown tool \"" + one_line(name, 80) + "\"";
  const auto absent = options_.absent.find(name);
  const std::string why = absent != options_.absent.end() ? absent->second
                          : options_.source != nullptr    ? options_.source->why_missing(name)
                                                          : "";
  if (!why.empty()) {
    text += " in this run: " + why + ".";
  } else {
    text += ".";
    const std::string nearest = nearest_name(name, names);
    if (!nearest.empty()) return text + " Did you mean \"" + nearest + "\"?";
  }
  text += " Available tools:";
  for (const auto& known : names) text += " " + known;
  return text;
}

CallArguments read_arguments(const ToolCall& call, const OfferedTool& offered) {
  const Json& parameters = offered.tool->spec().parameters;
  CallArguments arguments{.values = offered.tool->renamed(read_object(call))};
  // Another program's tools mean by their arguments what only they know.
  if (!offered.foreign) arguments.corrected = correct_names(arguments.values, parameters);
  Dropper dropper(parameters);
  dropper.drop(arguments.values, parameters, "",
               offered.foreign ? OtherMembers::kept : OtherMembers::dropped, 0);
  arguments.ignored = dropper.take();
  const JsonSchema* schema = offered.schema();
  if (schema == nullptr) return arguments;
  std::vector<SchemaFinding> findings = schema->check(arguments.values);
  if (!offered.foreign || !findings.empty()) {
    Json values = arguments.values;
    std::vector<std::string> corrected = correct_values(values, parameters);
    if (!corrected.empty() && schema->check(values).empty()) {
      arguments.values = std::move(values);
      for (std::string& one : corrected) arguments.corrected.push_back(std::move(one));
      return arguments;
    }
  }
  if (findings.empty()) return arguments;
  std::string text =
      "Invalid arguments for " + call.name + ": " + describe_findings(findings, parameters);
  if (!arguments.ignored.empty())
    text += "; unknown arguments: " +
            joined(arguments.ignored, ", ", [](const auto& name) { return one_line(name, 60); });
  throw ToolError(text);
}

}  // namespace sortie
