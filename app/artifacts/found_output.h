#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/json/json.h"

namespace sortie {

/// The largest result.json that a run may have written.
inline constexpr std::uint64_t kMostResultBytes = 64u << 20;

/// The content of a folder for outputs.
struct FoundOutput {
  std::string status;                ///< from result.json; "" if that is missing or torn
  Json result;                       ///< all of it, or null
  bool has_run = false;              ///< there is a result or a transcript
  std::vector<std::string> foreign;  ///< names that no run wrote, sorted; they are not touched
};

/// Inspects the folder without changing it. It is a run's if it has a result.json with the id of a
/// run, or a transcript that begins with a run's first record: only then do its other names (`state`,
/// `kept`, `blobs` …) and the files that stages saved belong to a run too. A lock alone only accounts
/// for unfinished writes, which a run may have before its result.
FoundOutput inspect_output(const std::filesystem::path& folder);

/// Whether the name is that of a write in progress, which a killed run may leave behind.
bool is_unfinished_write(const std::string& name);

}  // namespace sortie
