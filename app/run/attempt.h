#pragma once

#include <filesystem>

#include "core/agent/shared_budget.h"

namespace sortie {

/// What a run knows that is one of several attempts at its task.
struct Attempt {
  int number = 1;             ///< from 1
  std::filesystem::path top;  ///< --out of all of them: kept from every attempt's commands
  SharedBudget* budget = nullptr;
};

}  // namespace sortie
