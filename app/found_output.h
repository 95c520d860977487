#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace sortie {

/// What a folder for outputs holds, as far as it can be told who left it there.
struct FoundOutput {
  std::string status;                ///< of result.json; "" where it is missing or torn
  bool has_run = false;              ///< a result or a transcript is there
  std::vector<std::string> foreign;  ///< names that no run has left, sorted; they are not touched
};

/// Looks, and changes nothing. A folder is a run's where a run's lock, result or transcript stands
/// in it: only then its other names (`state`, `blobs` …), what stages saved and what a killed write
/// left are a run's too.
FoundOutput look_at_output(const std::filesystem::path& folder);

/// Whether a name is one that a write in progress has, and a killed one leaves.
bool is_unfinished_write(const std::string& name);

}  // namespace sortie
