#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/record/transcript_reader.h"

namespace sortie {

/// What else a check may use.
struct RunCheckOptions {
  std::filesystem::path repository{};  ///< as in check_recorded_diff()
  std::filesystem::path anchor{};      ///< a file of anchor lines (anchor.h); "": none
};

/// The result of checking a run.
struct RunCheck {
  VerifyResult record;             ///< `problem` is the first of all checks
  std::vector<std::string> notes;  ///< lines for people about what was checked, and how far
};

/// Checks a run as `sortie verify` does: the transcript's chain with blobs and artifacts
/// (verify_run), result.json (result_mismatch), the diff against the recorded base and end
/// (check_recorded_diff), the attestation, and the anchor.
/// @param path  a run's output folder, or its transcript
/// @throws Error  usage: there is no transcript, a file of the options can't be used; integrity: the
///                transcript or a blob can't be read
RunCheck check_run(const std::filesystem::path& path, const RunCheckOptions& options = {});

}  // namespace sortie
