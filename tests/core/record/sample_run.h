#pragma once

#include <filesystem>
#include <vector>

#include "core/record/events.h"

namespace sortie::test {

/// One event of every type, in an order that a run could have.
std::vector<RunEvent> sample_events();

/// Writes them into FOLDER/transcript.jsonl, with FOLDER/changes.diff as the run's artifact.
void record_run(const std::filesystem::path& folder, const std::vector<RunEvent>& events);
inline void record_sample_run(const std::filesystem::path& folder) {
  record_run(folder, sample_events());
}

/// Fails the test for each record that does not fit transcript_schema().
void check_schema(const std::filesystem::path& folder);

}  // namespace sortie::test
