#pragma once

#include <cstddef>

#include "core/config/diagnostic.h"
#include "core/config/yaml.h"
#include "core/json/json.h"

namespace sortie {

/// A JSON text as a value, and as a tree with each node's place: what tables of keys read.
struct PlacedJson {
  Json value;
  YamlNode tree;  ///< of kind `refused` where the text can't be read
};

/// Reads the one JSON text of a source. What is wrong with it is a finding, as is a NUL in a string
/// that the tree holds.
/// @param source     added to `findings` before, with its text
/// @param max_depth  of the tree: lists and mappings in that many others stand in it as empty ones;
///                   the value has all
PlacedJson read_json(std::size_t source, Diagnostics& findings, int max_depth);

}  // namespace sortie
