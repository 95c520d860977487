#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"
#include "core/secrets/redact.h"

namespace sortie::mcp {

/// A server's text without invisible parts: control characters and sequences (except tab, newline
/// and carriage return), marks of text direction, and Unicode tags. Bytes that are not UTF-8 become
/// U+FFFD.
std::string plain_text(std::string_view text);

/// One tool of a server.
struct ServerTool {
  std::string name{};         ///< the server's name for it
  std::string description{};  ///< plain and redacted, cut if too long
  Json parameters{};          ///< inputSchema, plain, converted to an object schema
  Json output_schema{};       ///< schema of the structured content; null for none
  bool operator==(const ServerTool&) const = default;
};

struct ToolList {
  std::vector<ServerTool> tools{};      ///< sorted by name
  std::vector<std::string> left_out{};  ///< why tools were left out, a line each
  std::string pin{};                    ///< pin_of() of the whole list
};

/// Reads a server's list, without tools that can't be called here: duplicate names, tools that only
/// run as tasks, names and schemas with secrets or with control characters.
/// @param wanted  names that the task allows; empty: all
ToolList read_tools(const std::vector<Json>& listed, const std::vector<std::string>& wanted,
                    const Redactor& secrets = Redactor());

/// "sha256:…" of the list as compact JSON: the tools sorted by name, each with all its members
/// except `_meta` and `icons`, sorted by name. The server's order does not matter.
std::string pin_of(std::vector<Json> listed);

/// The names of tools for the model: "mcp__SERVER__TOOL", with '_' for characters outside of
/// [A-Za-z0-9_-]. A name longer than 64 bytes, or used twice, ends in the SHA-1 of "SERVER/TOOL"
/// instead, so that no server can influence the names of other tools.
/// @param tools  pairs of server and tool, each once
/// @return  one name per tool, in the same order
struct ToolIdentity {
  std::string server;
  std::string tool;
};
std::vector<std::string> shown_names(const std::vector<ToolIdentity>& tools);
/// The name before it is shortened.
std::string full_name(const ToolIdentity& tool);
inline constexpr std::size_t kMostNameBytes = 64;

}  // namespace sortie::mcp
