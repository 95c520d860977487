#pragma once

#include <string>

#include "core/batch/manifest.h"
#include "core/config/diagnostic.h"
#include "core/json/json.h"

namespace sortie {

/// A manifest as it was read. What is found wrong with it later is added to `findings`, at the places
/// that the manifest has.
struct ManifestFile {
  Manifest manifest;
  Diagnostics findings;
};

/// Reads a manifest.
/// @param called  what errors call the file
/// @throws InputError  all findings at once, each with FILE:LINE:COLUMN, the line and a caret
ManifestFile load_manifest(const std::string& called);

/// JSON Schema (draft 2020-12) of the manifest, from the same table as reading.
Json manifest_schema();

}  // namespace sortie
