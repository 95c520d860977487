#pragma once

#include <string>
#include <vector>

namespace sortie {

/// What doctor found for a task, in short.
struct DoctorBrief {
  bool works = false;
  std::vector<std::string> lines;  ///< for people: problems, what is proved, notes
};

/// Tries out what `sortie doctor --task TASK` tries.
/// @throws InputError  the task or its policy is wrong
DoctorBrief brief_doctor(const std::string& task);

}  // namespace sortie
