#include "core/record/verify_result.h"

namespace sortie {

std::string VerifyResult::text() const {
  if (!problem.empty()) return problem;
  std::string line = std::to_string(records) + " records, " + std::to_string(blobs) + " blobs, " +
                     std::to_string(artifacts.size()) + " artifacts: all fit";
  if (torn_bytes > 0)
    line += "; valid prefix, torn last record (" + std::to_string(torn_bytes) + " bytes) cut off";
  if (!finished) line += "; the run is not finished";
  return line;
}

}  // namespace sortie
