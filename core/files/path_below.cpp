#include "core/files/path_below.h"

#include <algorithm>

namespace sortie {

bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder) {
  const auto ends = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return ends.first == folder.end() || ends.first->empty();  // "": the part after a final "/"
}

}  // namespace sortie
