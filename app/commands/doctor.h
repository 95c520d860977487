#pragma once

#include <string>
#include <vector>

namespace sortie {

/// What doctor found for a task, in short.
struct DoctorBrief {
  bool works = false;         ///< nothing that it looked at stands in the way
  bool looked_at_all = true;  ///< of what the task's verification is known to need
  /// For people: problems, what is proved, what was not looked at, notes.
  std::vector<std::string> lines;
};

/// Tries out what `sortie doctor --task TASK` tries.
/// @throws InputError  the task or its policy is wrong
DoctorBrief brief_doctor(const std::string& task);

}  // namespace sortie
