#include "ci/report/run_story.h"

namespace sortie {

const StoryRound* RunStory::failing_round() const {
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round)
    if (round->phase == VerificationPhase::after) return round->passed ? nullptr : &*round;
  return nullptr;
}

}  // namespace sortie
