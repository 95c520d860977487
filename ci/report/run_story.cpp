#include "ci/report/run_story.h"

namespace sortie {

std::size_t command_in_next(std::string_view next) noexcept {
  const std::size_t shown = next.find(kShownByHand);
  if (shown != next.npos) return shown;
  const bool applies = next.starts_with("git apply ") || next.starts_with("git -C ");
  return applies && next.find("; ") == next.npos ? next.size() : 0;
}

const StoryRound* RunStory::failing_round() const {
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round)
    if (round->phase == VerificationPhase::after) return round->passed ? nullptr : &*round;
  return nullptr;
}

}  // namespace sortie
