#pragma once

#include <memory>
#include <string_view>

#include "core/model/wire.h"

namespace sortie {

/// Differences between servers of one wire format.
struct WireOptions {
  bool legacy_functions = false;  ///< chat: `functions` and `function_call` instead of tools
  bool chatgpt = false;           ///< responses: the key is a ChatGPT sign-in
  int source = 0;                 ///< the model's place in the run; see Item::source
};

/// The wire format of that name ("responses", "chat", "messages"); nothing for others.
std::unique_ptr<Wire> make_wire(std::string_view name, const WireOptions& options = {});

/// What an item of a response says, whatever its wire.
/// @param item  one of "items" of a `model.response`
SaidList said_in(const Json& item);

}  // namespace sortie
