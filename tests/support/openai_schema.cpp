#include "tests/support/openai_schema.h"

#include <map>
#include <set>

#include "core/base/files.h"
#include "core/base/json_schema.h"

namespace sortie::test {

namespace {

struct Schemas {
  Json document = parse_json(read_file(SORTIE_SOURCE_DIR "/tests/data/openai-schemas.json"));
  JsonSchema request{document, "/components/schemas/CreateResponse"};
  std::set<std::string> members = member_names("CreateResponse");

  const Json& schema(const std::string& name) const {
    return document["components"]["schemas"][name];
  }
  /// The properties of a schema and of all that it is made of.
  std::set<std::string> member_names(const std::string& name) const {
    std::set<std::string> names;
    collect(schema(name), names);
    return names;
  }
  void collect(const Json& schema_json, std::set<std::string>& names) const {
    for (const auto& [key, value] : schema_json["properties"].members()) names.insert(key);
    for (const Json& part : schema_json["allOf"].items()) collect(part, names);
    const std::string reference = schema_json.string_at("$ref");
    if (!reference.empty()) collect(schema(reference.substr(reference.rfind('/') + 1)), names);
  }
};

/// The schema of each item type that sortie sends. Checked by name, since the schema's own choice
/// (anyOf) would take a malformed item for another type that asks for less.
const char* item_schema(const Json& item) {
  const std::string type = item.string_at("type");
  if (type == "message") return item.find("id") ? "OutputMessage" : "EasyInputMessage";
  if (type == "reasoning") return "ReasoningItem";
  if (type == "function_call") return "FunctionToolCall";
  if (type == "function_call_output") return "FunctionCallOutputItemParam";
  if (type == "custom_tool_call") return "CustomToolCall";
  if (type == "custom_tool_call_output") return "CustomToolCallOutput";
  return nullptr;
}

}  // namespace

std::string check_responses_request(const Json& body) {
  static const Schemas schemas;
  if (auto findings = schemas.request.check(body); !findings.empty()) return describe(findings);
  for (const auto& [name, value] : body.members())
    if (!schemas.members.contains(name)) return "unknown member '" + name + "'";
  static std::map<std::string, JsonSchema> items;
  for (const Json& item : body["input"].items()) {
    const char* name = item_schema(item);
    if (!name) return "unknown item " + write_json(item);
    const auto found =
        items.try_emplace(name, schemas.document, std::string("/components/schemas/") + name).first;
    if (auto findings = found->second.check(item); !findings.empty())
      return std::string(name) + ": " + describe(findings);
  }
  return "";
}

}  // namespace sortie::test
