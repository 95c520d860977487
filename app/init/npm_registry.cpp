#include "app/init/npm_registry.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "core/base/error.h"
#include "core/host/url.h"
#include "core/text/text.h"

namespace sortie {
namespace {

constexpr std::string_view kKey = "registry";

std::string_view without_quotes(std::string_view text) {
  if (text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
      text.back() == text.front())
    return text.substr(1, text.size() - 2);
  return text;
}

/// "npm.example.org:8443"; "" for what a policy should not get: the project wrote this.
std::string host_of(std::string_view address) {
  try {
    const Url url = parse_url(address);
    const bool plain =
        url.host.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-") == std::string::npos;
    return url.secure && plain ? url.host + ":" + std::to_string(url.port) : "";
  } catch (const InputError&) {
    return "";
  }
}

}  // namespace

NpmRegistries npm_registries(const std::string& npmrc) {
  std::map<std::string, std::string, std::less<>> hosts;
  for (const std::string_view whole : split_lines(npmrc)) {
    const std::string_view line = trimmed(whole);
    const std::size_t equals = line.find('=');
    if (line.starts_with('#') || line.starts_with(';') || equals == std::string_view::npos)
      continue;
    const std::string_view key = trimmed(line.substr(0, equals));
    if (key != kKey && !(key.starts_with('@') && key.ends_with(":registry"))) continue;
    // Of several lines with one key the last counts.
    hosts[std::string(key)] = host_of(without_quotes(trimmed(line.substr(equals + 1))));
  }
  NpmRegistries found;
  for (const auto& [key, host] : hosts)
    if (key == kKey)
      found.usual = host;
    else if (!host.empty())
      found.scoped.push_back(host);
  std::sort(found.scoped.begin(), found.scoped.end());
  found.scoped.erase(std::unique(found.scoped.begin(), found.scoped.end()), found.scoped.end());
  return found;
}

}  // namespace sortie
