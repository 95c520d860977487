#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sortie {

/// Where two runs of the same responses differ, with both sides in words.
struct RunDifference {
  std::string where;  ///< "turn 3: the exit of shell (call_2)"
  std::string recorded;
  std::string replayed;
  std::string call{};  ///< what was called, where that helps: "shell pytest -q"
};

/// The result of comparing a run with its replay.
struct RunComparison {
  /// The first difference of decisions, results of calls, exit codes, changed files, verifications,
  /// the diff or the end; nothing if all are equal.
  std::optional<RunDifference> first;
  /// Differences of outputs, and of the contents of changed files that the diff does not have; up to
  /// the first one above, and 20 at most.
  std::vector<RunDifference> outputs;
  std::vector<std::string> gaps;  ///< what the replay could not do again
  std::size_t decisions = 0;      ///< equal ones
  std::size_t calls = 0;
  std::size_t verifications = 0;
  std::size_t diff_bytes = 0;
};

/// Compares two runs' folders, of which the first may hold the transcript alone, step by step, in the order of their records. Times, ids of runs, and
/// places of folders do not count.
/// @throws Error  integrity: a transcript can't be read
RunComparison compare_runs(const std::filesystem::path& recorded,
                           const std::filesystem::path& replayed);

}  // namespace sortie
