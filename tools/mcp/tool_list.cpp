#include "tools/mcp/tool_list.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/base/hash.h"
#include "core/text/text.h"
#include "tools/mcp/plain_text.h"

namespace sortie::mcp {
namespace {

constexpr std::size_t kMostDescription = 8u << 10;

/// Members by name, all the way down.
Json ordered(const Json& value) {
  if (value.is_array()) {
    Json list = Json::array();
    for (const Json& item : value.items()) list.push_back(ordered(item));
    return list;
  }
  if (!value.is_object()) return value;
  std::vector<const Json::Member*> members;
  for (const auto& member : value.members()) members.push_back(&member);
  std::sort(members.begin(), members.end(),
            [](const auto* left, const auto* right) { return left->first < right->first; });
  Json object = Json::object();
  for (const auto* member : members) object.set(member->first, ordered(member->second));
  return object;
}

/// What providers ask of parameters: an object schema that has `properties`.
Json parameters_of(const Json& tool) {
  Json schema = tool["inputSchema"];
  if (!schema.is_object()) schema = Json::object();
  if (!schema["type"].is_string()) schema.set("type", "object");
  if (!schema["properties"].is_object()) schema.set("properties", Json::object());
  return schema;
}

std::string description_of(const Json& tool, const Redactor& secrets) {
  std::string text = tool.string_at("description");
  if (text.empty()) text = tool.string_at("title");
  text = secrets.text(plain_text(text), Audience::tools);
  if (text.size() <= kMostDescription) return text;
  return std::string(utf8_prefix(text, kMostDescription)) + "…";
}

std::string shortened(const std::string& name, const ToolIdentity& tool) {
  const std::string hash = sha1_hex(tool.server + "/" + tool.tool);
  return name.substr(0, kMostNameBytes - hash.size()) + hash;
}

std::string mangled(const std::string& name) {
  std::string text = name;
  for (char& c : text) {
    const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '_' || c == '-';
    if (!kept) c = '_';
  }
  return text;
}

}  // namespace

ToolList read_tools(const std::vector<Json>& listed, const std::vector<std::string>& wanted,
                    const Redactor& secrets) {
  ToolList list;
  list.pin = pin_of(listed);
  std::set<std::string> seen;
  for (const Json& tool : listed) {
    const std::string name = tool.string_at("name");
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    if (!secrets.find(name).empty()) {
      list.left_out.push_back("a tool is left out: its name holds a secret");
      continue;
    }
    const std::string shown = "the tool " + one_line(name, 100);
    const auto parameters = plain_schema(parameters_of(tool));
    if (!seen.insert(name).second) {
      list.left_out.push_back(shown + " is listed twice: the first one counts");
    } else if (tool["execution"].string_at("taskSupport") == "required") {
      list.left_out.push_back(shown + " is left out: it can be called as a task only");
    } else if (!parameters) {
      list.left_out.push_back(shown +
                              " is left out: there are control characters in what its arguments "
                              "can be");
    } else if (secrets.changed(*parameters)) {
      list.left_out.push_back(shown + " is left out: its schema holds a secret");
    } else {
      list.tools.push_back({.name = name,
                            .description = description_of(tool, secrets),
                            .parameters = *parameters,
                            .output_schema = tool["outputSchema"]});
    }
  }
  for (const auto& name : wanted)
    if (seen.count(name) == 0)
      list.left_out.push_back("the server has no tool " + one_line(name, 100));
  std::sort(list.tools.begin(), list.tools.end(),
            [](const auto& left, const auto& right) { return left.name < right.name; });
  return list;
}

std::string pin_of(std::vector<Json> listed) {
  std::vector<std::pair<std::string, std::string>> tools;
  for (Json& tool : listed) {
    std::erase_if(tool.members(), [](const Json::Member& member) {
      return member.first == "_meta" || member.first == "icons";
    });
    tools.emplace_back(tool.string_at("name"), write_json(ordered(tool)));
  }
  std::sort(tools.begin(), tools.end());
  std::string text = "[";
  for (const auto& [name, json] : tools) text += (text.size() == 1 ? "" : ",") + json;
  return "sha256:" + sha256_hex(text + "]");
}

std::string full_name(const ToolIdentity& tool) {
  return "mcp__" + mangled(tool.server) + "__" + mangled(tool.tool);
}

std::vector<std::string> shown_names(const std::vector<ToolIdentity>& tools) {
  std::map<std::string, int> times;
  std::vector<std::string> full;
  for (const auto& tool : tools) {
    full.push_back(full_name(tool));
    ++times[full.back()];
  }
  // A server may call a tool just as another one is called that is cut: then both are.
  std::vector<std::string> names = full;
  std::set<std::string> taken;
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < tools.size(); ++i) {
      const bool fits = full[i].size() <= kMostNameBytes && times[full[i]] == 1;
      if (names[i] != full[i] || (fits && taken.count(full[i]) == 0)) continue;
      names[i] = shortened(full[i], tools[i]);
      more = taken.insert(names[i]).second || more;
    }
  }
  return names;
}

}  // namespace sortie::mcp
