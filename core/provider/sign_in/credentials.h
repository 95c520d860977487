#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/provider/provider.h"

namespace sortie {

/// Reads a variable and erases it: its bytes are overwritten in place (so that /proc/PID/environ no
/// longer has them), then it is unset. Nothing if it is absent or empty.
std::optional<std::string> take_environment_key(const std::string& name);

/// Where the API key comes from: descriptor before file before variable.
struct KeySources {
  std::string variable = "OPENAI_API_KEY";
  std::filesystem::path file{};        ///< --api-key-file; "" is none
  std::optional<int> descriptor{};     ///< --api-key-fd; closed once read
  std::optional<std::string> taken{};  ///< the variable's value, if it was taken before
};

/// Reads the key of the descriptor or file, if one of them is named.
/// @throws Error  usage: it can't be read; auth: it is no key
std::optional<std::string> read_given_key(const KeySources& sources);

/// The policy's `bounds.credentials`: host patterns by variable, such as "api.openai.com",
/// "*.example.com", or "host:PORT" for that port only.
using CredentialBounds = std::map<std::string, std::vector<std::string>>;

/// Whether the bounds, or the operator's own address, let the variable's value go to the endpoint.
bool key_may_go(const std::string& variable, const Endpoint& endpoint,
                const CredentialBounds& bounds);

/// Finds the key and checks that it may go to the endpoint. Always erases the variable. Nothing if
/// the endpoint is loopback and no key is given.
/// @throws Error  usage: this host may not get the key; auth: no key, with what to do about it
std::optional<std::string> find_api_key(const KeySources& sources, const Endpoint& endpoint,
                                        const CredentialBounds& bounds);

}  // namespace sortie
