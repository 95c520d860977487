#pragma once

#include <cstddef>

#include "core/config/diagnostic.h"
#include "core/config/yaml.h"
#include "core/json/json.h"

namespace sortie {

/// A JSON text as a value, and as a tree with the place of each node, which Fields can read.
struct PlacedJson {
  Json value;
  YamlNode tree;  ///< of kind `refused` if the text can't be read
};

/// Reads the JSON text of a source. Errors become findings, also a NUL in a string of the tree.
/// @param source     added to `findings` before, with its text
/// @param max_depth  of the tree: deeper lists and mappings are empty in it; the value has them
PlacedJson read_json(std::size_t source, Diagnostics& findings, int max_depth);

}  // namespace sortie
