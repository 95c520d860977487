#pragma once

#include <string>

namespace sortie {

/// "sortie 0.1.0", of a released program "sortie 0.1.0 (1a2b3c4d5e6f)": with the commit it was built
/// from.
std::string version_text();

}  // namespace sortie
