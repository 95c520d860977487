#pragma once

#include <string>

namespace sortie {

/// A UUID of version 7 (RFC 9562 §5.7): sorts by the time it was made.
std::string new_run_id();

}  // namespace sortie
