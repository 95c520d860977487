#pragma once

#include <filesystem>

#include "core/batch/manifest.h"
#include "core/config/fields.h"

namespace sortie {

/// The table of the manifest's keys, over the manifest: for reading and the schema.
/// @param manifest  its `folder` is known
Fields manifest_fields(Manifest& manifest);

}  // namespace sortie
