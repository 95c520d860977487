#pragma once

#include <string_view>

#include "core/model/model.h"
#include "core/model/wire.h"
#include "core/provider/wires.h"

namespace sortie {

/// A response as it was when it was recorded.
/// @param wire      of its request
/// @param recorded  its `model.response`, with the texts of its blobs
/// @param settings  of its request: the tools that were declared
/// @throws Error  ExitCode::integrity: it can't be read as one of that wire
Response recorded_response(std::string_view wire, const RecordedResponse& recorded,
                           const ModelSettings& settings, const WireOptions& options = {});

}  // namespace sortie
