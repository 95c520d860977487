#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/host/host.h"

namespace sortie {

/// Where an MCP server is reached over the network, or an entry of `bounds.mcp` that names such:
/// "https://HOST" or "https://*.HOST", with ":PORT" where it is not the scheme's; "http://" to
/// loopback alone.
struct McpAddress {
  bool secure = true;
  HostPattern host{};  ///< with its port, also where the text has none
};

/// Whether an entry of `bounds.mcp` is an address: its first word has a scheme ("://"). All others
/// are globs over the first words of a program, and none of them lets in a host.
bool is_mcp_address(std::string_view entry);

/// @param problem  on failure: why, in words that follow the text
std::optional<McpAddress> parse_mcp_address(std::string_view text, std::string& problem);

/// Whether an entry lets a task name the program: its words are globs over the argv's first ones,
/// one by one; "npx -y some-server" lets that server be run by npx and no other.
bool names_program(const std::vector<std::string>& entries, const std::vector<std::string>& argv);

/// Whether an entry lets a task name a server at this address, "https://mcp.example.com:8443".
bool names_address(const std::vector<std::string>& entries, const std::string& address);

}  // namespace sortie
