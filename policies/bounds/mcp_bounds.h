#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/host/host.h"

namespace sortie {

/// The address of an MCP server, or an entry of `bounds.mcp` for such addresses: "https://HOST" or
/// "https://*.HOST", with ":PORT" if it is not the scheme's; "http://" only for loopback.
struct McpAddress {
  bool secure = true;
  HostPattern host{};  ///< with its port, even if the text has none
};

/// Whether an entry of `bounds.mcp` is an address: its first word has a scheme ("://"). All others
/// are globs over the first words of a program, and never allow a host.
bool is_mcp_address(std::string_view entry);

/// @param problem  on failure, the reason
std::optional<McpAddress> parse_mcp_address(std::string_view text, std::string& problem);

/// Whether an entry allows the program: the entry's words are globs over the first words of the argv,
/// one by one; "npx -y some-server" allows npx to run that server and no other.
bool names_program(const std::vector<std::string>& entries, const std::vector<std::string>& argv);

/// Whether an entry allows a server at this address, "https://mcp.example.com:8443".
bool names_address(const std::vector<std::string>& entries, const std::string& address);

}  // namespace sortie
