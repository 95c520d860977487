#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace sortie {

/// A result.json that is larger is none of a run.
inline constexpr std::uint64_t kMostResultBytes = 64u << 20;

/// What a folder for outputs holds, as far as it can be told who left it there.
struct FoundOutput {
  std::string status;                ///< of result.json; "" where it is missing or torn
  bool has_run = false;              ///< a result or a transcript is there
  std::vector<std::string> foreign;  ///< names that no run has left, sorted; they are not touched
};

/// Looks, and changes nothing. A folder is a run's where a result.json with the id of a run of
/// sortie stands in it, or a transcript that begins with a run's first record: only then its other
/// names (`state`, `kept`, `blobs` …) and what stages saved are a run's too. A lock proves none of
/// them: beside it only what a run has before its result may stand, unfinished writes.
FoundOutput look_at_output(const std::filesystem::path& folder);

/// Whether a name is one that a write in progress has, and a killed one leaves.
bool is_unfinished_write(const std::string& name);

}  // namespace sortie
