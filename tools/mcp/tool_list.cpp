#include "tools/mcp/tool_list.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/hash.h"
#include "core/text/terminal_text.h"
#include "core/text/text.h"

namespace sortie::mcp {
namespace {

/// The length of an invisible character at `at` that changes how text is read: U+061C, U+200E,
/// U+200F, U+2028 to U+202E, U+2066 to U+2069 and the tags U+E0000 to U+E007F; 0 for all others.
std::size_t invisible_length(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) {
    return at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u;
  };
  if (byte(0) == 0xD8) return byte(1) == 0x9C ? 2 : 0;
  if (byte(0) == 0xE2 && byte(1) == 0x80)
    return byte(2) == 0x8E || byte(2) == 0x8F || (byte(2) >= 0xA8 && byte(2) <= 0xAE) ? 3 : 0;
  if (byte(0) == 0xE2 && byte(1) == 0x81) return byte(2) >= 0xA6 && byte(2) <= 0xA9 ? 3 : 0;
  const bool tag = byte(0) == 0xF3 && byte(1) == 0xA0 && (byte(2) == 0x80 || byte(2) == 0x81);
  return tag ? 4 : 0;
}

std::string without_invisible(std::string_view text) {
  std::string kept;
  kept.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (const std::size_t length = invisible_length(text, at); length > 0)
      at += length;
    else
      kept += text[at++];
  }
  return kept;
}

/// Makes titles, descriptions and comments plain. @return  whether all other strings are plain
bool make_plain(Json& value, const std::string& name) {
  if (value.is_string()) {
    std::string plain = plain_text(value.text());
    if (plain == value.text()) return true;
    if (name != "description" && name != "title" && name != "$comment") return false;
    value = Json(std::move(plain));
    return true;
  }
  if (value.is_array()) {
    for (Json& item : value.items())
      if (!make_plain(item, "")) return false;
  } else if (value.is_object()) {
    for (auto& [member, inner] : value.members())
      if (plain_text(member) != member || !make_plain(inner, member)) return false;
  }
  return true;
}

constexpr std::size_t kMostDescription = 8u << 10;

/// The value with the members of all objects sorted by name.
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

/// The input schema as providers require it: an object schema with `properties`.
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

/// A schema with plain_text() applied to titles, descriptions and comments; nothing if any other
/// part would change, which would alter its meaning.
std::optional<Json> plain_schema(const Json& schema) {
  Json plain = schema;
  if (!make_plain(plain, "")) return std::nullopt;
  return plain;
}

}  // namespace

std::string plain_text(std::string_view text) {
  std::string plain;
  // Split at carriage returns, since TerminalText would overwrite the line there.
  for (;;) {
    const std::size_t end = text.find('\r');
    TerminalText terminal;
    std::string part = terminal.feed(text.substr(0, end));
    part += terminal.finish();
    plain += without_invisible(part);
    if (end == std::string_view::npos) return plain;
    plain += '\r';
    text.remove_prefix(end + 1);
  }
}

ToolList read_tools(const std::vector<Json>& listed, const std::vector<std::string>& wanted,
                    const Redactor& secrets) {
  ToolList list;
  list.pin = pin_of(listed);
  std::set<std::string> seen;
  for (const Json& tool : listed) {
    const std::string name = tool.string_at("name");
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    if (!secrets.find(name).empty()) {
      list.left_out.push_back("a tool is left out: its name contains a secret");
      continue;
    }
    const std::string shown = "the tool " + one_line(name, 100);
    const auto parameters = plain_schema(parameters_of(tool));
    if (!seen.insert(name).second) {
      list.left_out.push_back(shown + " is listed twice: the first one is used");
    } else if (tool["execution"].string_at("taskSupport") == "required") {
      list.left_out.push_back(shown + " is left out: it can only be called as a task");
    } else if (!parameters) {
      list.left_out.push_back(shown + " is left out: its schema contains control characters");
    } else if (secrets.changed(*parameters)) {
      list.left_out.push_back(shown + " is left out: its schema contains a secret");
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
  // A tool may have the same name as another's shortened one: then both are shortened.
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
