#include "policies/bounds/mcp_bounds.h"

#include <algorithm>
#include <sstream>

#include "core/text/pattern.h"

namespace sortie {
namespace {

constexpr std::string_view kSecure = "https://";
constexpr std::string_view kPlain = "http://";

bool covers(const McpAddress& entry, const McpAddress& asked) {
  return entry.secure == asked.secure && entry.host.port == asked.host.port &&
         entry.host.covers(asked.host.host.name);
}

bool begins_program(const std::string& entry, const std::vector<std::string>& argv) {
  std::istringstream words(entry);
  std::string glob;
  std::size_t at = 0;
  for (; words >> glob; ++at)
    if (at >= argv.size() || !Pattern::word_glob(glob).matches(argv[at])) return false;
  return at > 0;
}

}  // namespace

bool is_mcp_address(std::string_view entry) {
  return entry.substr(0, entry.find(' ')).find("://") != std::string_view::npos;
}

std::optional<McpAddress> parse_mcp_address(std::string_view text, std::string& problem) {
  McpAddress address{.secure = text.starts_with(kSecure)};
  if (!address.secure && !text.starts_with(kPlain)) {
    problem = "an address begins with https:// or http://";
    return std::nullopt;
  }
  text.remove_prefix(std::min(address.secure ? kSecure.size() : kPlain.size(), text.size()));
  auto host = parse_host_pattern(text, problem);
  if (!host) return std::nullopt;
  address.host = std::move(*host);
  if (address.host.port == 0) address.host.port = address.secure ? 443 : 80;
  const bool loopback = !address.host.any && is_loopback_host(address.host.host.name);
  if (address.host.is_broad() && !loopback)
    problem = "that would be nearly every host";
  else if (!address.secure && !loopback)
    problem = "plain http is for loopback hosts only; use https://";
  if (!problem.empty()) return std::nullopt;
  return address;
}

bool names_program(const std::vector<std::string>& entries, const std::vector<std::string>& argv) {
  return std::any_of(entries.begin(), entries.end(), [&argv](const std::string& entry) {
    return !is_mcp_address(entry) && begins_program(entry, argv);
  });
}

bool names_address(const std::vector<std::string>& entries, const std::string& address) {
  std::string problem;
  const auto asked = parse_mcp_address(address, problem);
  if (!asked || asked->host.subdomains) return false;
  return std::any_of(entries.begin(), entries.end(), [&](const std::string& text) {
    if (!is_mcp_address(text)) return false;
    std::string unread;
    const auto entry = parse_mcp_address(text, unread);
    return entry && covers(*entry, *asked);
  });
}

}  // namespace sortie
