#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.h"
#include "core/secrets/redact.h"

namespace sortie::mcp {

/// What a server says, without what a reader does not see: control characters and the sequences
/// that they begin (tab, newline and carriage return stay), marks that direct writing, and
/// Unicode's tags. Bytes that are not UTF-8 become U+FFFD.
std::string plain_text(std::string_view text);

/// A schema with plain_text() in its titles, descriptions and comments; nothing where anything else
/// of it would have to change, which then would be another schema.
std::optional<Json> plain_schema(const Json& schema);

/// One tool of a server, as far as it is used here.
struct ServerTool {
  std::string name{};         ///< the server's own
  std::string description{};  ///< plain and redacted, shortened where it is too long
  Json parameters{};          ///< its inputSchema, plain, made an object schema where it is none
  Json output_schema{};       ///< of the structured content; null for none
  bool operator==(const ServerTool&) const = default;
};

struct ToolList {
  std::vector<ServerTool> tools{};      ///< by name
  std::vector<std::string> left_out{};  ///< why a tool of the server is not among them, a line each
  std::string pin{};                    ///< pin_of() of the whole list
};

/// What a server listed, without what can't be called here: a name that comes twice, tools that are
/// for tasks only, a name or a schema that holds a secret or has control characters where they
/// count.
/// @param wanted  the names that the task lets in; empty: all
ToolList read_tools(const std::vector<Json>& listed, const std::vector<std::string>& wanted,
                    const Redactor& secrets = Redactor());

/// "sha256:…" of the list: of the tools by name, each with all that the server says of it (but
/// `_meta` and `icons`), its members in the order of their names, as compact JSON. The order in
/// which a server lists does not count.
std::string pin_of(std::vector<Json> listed);

/// The names by which the model knows tools: "mcp__SERVER__TOOL", with '_' for what is outside of
/// [A-Za-z0-9_-]. One that is longer than 64 bytes, or that another has too, ends in the SHA-1 of
/// "SERVER/TOOL" instead, so that no list decides what another tool is called.
/// @param tools  the server's name and its tool's, each pair once
/// @return  one name a tool, in the same order
struct ToolIdentity {
  std::string server;
  std::string tool;
};
std::vector<std::string> shown_names(const std::vector<ToolIdentity>& tools);
/// The same name before it is cut.
std::string full_name(const ToolIdentity& tool);
inline constexpr std::size_t kMostNameBytes = 64;

}  // namespace sortie::mcp
