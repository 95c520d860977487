#pragma once

#include <filesystem>
#include <string>

#include "core/record/events.h"

namespace sortie {

/// A recorded run, as far as a replay needs it.
struct RecordedInputs {
  std::filesystem::path transcript;
  RunStart start;
  std::string approval;  ///< the mode that was in force
};

/// @param path  a run's output folder, or its transcript
/// @throws Error  integrity: there is no start, or it can't be read
RecordedInputs read_recorded_inputs(const std::filesystem::path& path);

/// Writes task.yaml and policy.yaml, as they were in effect, with the files that the task named, to
/// a folder. What a replay takes from the record is left out of them: variables, images, the
/// providers of tools, the model's address.
/// @throws Error  integrity: they can't be read
void write_recorded_inputs(const RecordedInputs& recorded, const std::filesystem::path& folder);

}  // namespace sortie
