#pragma once

#include <optional>
#include <string>

#include "app/inputs.h"
#include "core/model/provider.h"
#include "core/net/proxy.h"

namespace sortie {

/// Whether the model's responses come from a recording.
bool replays(const RunInputs& inputs);

/// Where requests go, by flag, environment and task.
/// @throws InputError  for an address that can't be used
Endpoint endpoint_of(const RunInputs& inputs, const RunOptions& options);

/// HTTPS_PROXY, else ALL_PROXY, and NO_PROXY; each also in small letters.
ProxySettings proxy_of_environment();

/// Looks at all that a request will need, apart from the key itself: address, proxy, headers, and
/// whether there is a file or descriptor to read the key from. Opens nothing.
/// @throws InputError  for the first that is wrong
void check_provider(const RunInputs& inputs, const RunOptions& options);

/// The variable that the key is in, where it is in one.
std::string key_variable(const RunInputs& inputs);

/// The API key that the run's provider takes, erased from the environment; nothing for replay.
/// @throws Error  usage, auth
std::optional<std::string> take_key(const RunInputs& inputs, const RunOptions& options);

}  // namespace sortie
