#include "tests/support/openai_schema.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/files/files.h"
#include "core/json/json_schema.h"

namespace sortie::test {

namespace {

struct Schemas {
  explicit Schemas(const std::string& name)
      : request(document, "/components/schemas/" + name), members(member_names(name)) {}

  Json document = parse_json(read_file(SORTIE_SOURCE_DIR "/tests/data/openai-schemas.json"));
  JsonSchema request;
  std::set<std::string> members;

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
  if (type == "local_shell_call") return "LocalShellToolCall";
  if (type == "local_shell_call_output") return "LocalShellToolCallOutput";
  if (type == "web_search_call") return "WebSearchToolCall";
  return nullptr;
}

/// Whether each call has one output behind it, and each output its call.
std::string check_calls(const std::vector<Json>& input) {
  std::set<std::string> open;
  for (const Json& item : input) {
    const std::string id = item.string_at("call_id");
    const std::string type = item.string_at("type");
    if (type.ends_with("_call_output")) {
      if (open.erase(id) == 0) return "an output without its call: " + write_json(item);
    } else if (type.ends_with("_call") && item.find("call_id")) {
      if (!open.insert(id).second) return "the call " + id + " stands twice";
    }
  }
  return open.empty() ? "" : "the call " + *open.begin() + " has no output";
}

}  // namespace

std::string check_responses_request(const Json& body) {
  static const Schemas schemas("CreateResponse");
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
  return check_calls(body["input"].items());
}

namespace {

const char* message_schema(const Json& message) {
  const std::string role = message.string_at("role");
  if (role == "system") return "ChatCompletionRequestSystemMessage";
  if (role == "user") return "ChatCompletionRequestUserMessage";
  if (role == "assistant") return "ChatCompletionRequestAssistantMessage";
  if (role == "tool") return "ChatCompletionRequestToolMessage";
  if (role == "function") return "ChatCompletionRequestFunctionMessage";
  return nullptr;
}

/// Whether each message with calls is followed by its outputs at once.
std::string check_outputs(const std::vector<Json>& messages) {
  std::vector<std::string> open;  // call ids; in the older form the function's name
  for (const Json& message : messages) {
    const std::string role = message.string_at("role");
    if (role == "tool" || role == "function") {
      const std::string id = message.string_at(role == "tool" ? "tool_call_id" : "name");
      const auto call = std::find(open.begin(), open.end(), id);
      if (call == open.end()) return "an output without its call: " + write_json(message);
      open.erase(call);
      continue;
    }
    if (!open.empty()) return "a call without its output before " + write_json(message);
    for (const Json& call : message["tool_calls"].items()) open.push_back(call.string_at("id"));
    if (message["function_call"].is_object())
      open.push_back(message["function_call"].string_at("name"));
  }
  return open.empty() ? "" : "the call " + open.front() + " has no output";
}

}  // namespace

std::string check_chat_request(const Json& body) {
  static const Schemas schemas("CreateChatCompletionRequest");
  if (auto findings = schemas.request.check(body); !findings.empty()) return describe(findings);
  for (const auto& [name, value] : body.members())
    if (!schemas.members.contains(name)) return "unknown member '" + name + "'";
  static std::map<std::string, JsonSchema> kinds;
  for (const Json& message : body["messages"].items()) {
    const char* name = message_schema(message);
    if (!name) return "unknown message " + write_json(message);
    const auto found =
        kinds.try_emplace(name, schemas.document, std::string("/components/schemas/") + name).first;
    if (auto findings = found->second.check(message); !findings.empty())
      return std::string(name) + ": " + describe(findings);
  }
  return check_outputs(body["messages"].items());
}

}  // namespace sortie::test
