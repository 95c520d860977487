#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "core/task/task.h"

namespace sortie {

/// What `sortie land` takes of a finished run. All of it may have been made by somebody else: the
/// digests only show that the parts belong together.
struct LandedRun {
  std::string run_id;
  std::string task;         ///< its name
  std::string model;        ///< "openai gpt-5-codex"
  std::string base_commit;  ///< that the run began with; "" if there was none
  std::optional<bool> verified{};
  ExpectedDiff expected;  ///< of the recorded task
  std::string diff;
  /// The SHA-256 of each file that the diff moves, by its new path.
  std::map<std::string, std::string> moved_ends{};
  /// A submodule with changes, and their diff.
  struct Submodule {
    std::string path;  ///< from the repository's toplevel, as the run says
    std::string diff;
    std::map<std::string, std::string> moved_ends{};
  };
  std::vector<Submodule> submodules;
  std::string diff_digest;  ///< digest_of_diffs()
  std::string message;      ///< the agent's last; "" if there is none
  Json findings;            ///< array, where the answer has `findings`; else null
};

/// Reads a run's folder, and checks it as `sortie verify` does. Only regular files are opened, no
/// link is followed, and each file has a limit.
/// @throws Error  integrity: something does not fit; usage: no run, or one without a success
LandedRun read_landed_run(const std::filesystem::path& folder);

}  // namespace sortie
