#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/batch/manifest.h"

namespace sortie {

/// A line of an instances file.
struct BatchInstance {
  std::string id;      ///< its instance_id, or made of its digest
  VariableMap fields;  ///< its texts, by their names
  int line = 0;        ///< from 1
};

/// Reads a file of JSON objects, one a line; empty lines are skipped. Members that are no text, or
/// whose names are no variable's, are left out.
/// @throws InputError  "FILE:LINE:COLUMN: error: …": all errors at once
///
/// Source: SWE-bench's datasets as JSONL.
std::vector<BatchInstance> read_instances(const std::filesystem::path& file);

}  // namespace sortie
