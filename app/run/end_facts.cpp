#include "app/run/end_facts.h"

namespace sortie {

std::optional<bool> retryable_by(const EndFacts& facts) {
  if (facts.result.code == ExitCode::limited && facts.kind == "billing") return false;
  return {};
}

}  // namespace sortie
