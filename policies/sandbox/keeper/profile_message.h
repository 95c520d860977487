#pragma once

#include <string>
#include <string_view>

#include "policies/sandbox/profile.h"

namespace sortie {

/// A profile for a keeper that was forked before it was known (early_keeper.h), passed in a memory file.
std::string encode_profile(const SandboxProfile& profile);
/// @throws Error  if it is truncated
SandboxProfile decode_profile(std::string_view bytes);

}  // namespace sortie
