#pragma once

#include <memory>
#include <string_view>

#include "core/model/said.h"
#include "core/model/wire.h"

namespace sortie {

/// What a wire format's servers differ in, beside the settings of a request.
struct WireOptions {
  bool legacy_functions = false;  ///< chat: `functions` and `function_call` in place of tools
  bool chatgpt = false;           ///< responses: the key is a ChatGPT sign-in
  int source = 0;                 ///< how many models of the run come before the one it is for
};

/// The wire format of that name ("responses", "chat", "messages"); nothing for others.
std::unique_ptr<Wire> make_wire(std::string_view name, const WireOptions& options = {});

/// What an item of a response says, on whichever wire it came.
/// @param item  one of "items" of a `model.response`
SaidList said_in(const Json& item);

}  // namespace sortie
