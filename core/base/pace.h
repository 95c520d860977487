#pragma once

#include <functional>

namespace sortie {

/// Called again and again in the midst of long work; what it throws ends the work.
using Pace = std::function<void()>;

}  // namespace sortie
