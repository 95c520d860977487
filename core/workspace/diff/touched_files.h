#pragma once

#include <map>
#include <string>

#include "core/workspace/workspace.h"

namespace sortie {

/// The touched files of a tree, by path.
using TouchedFiles = std::map<std::string, TreeEntry>;

}  // namespace sortie
