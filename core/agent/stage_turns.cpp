#include "core/agent/stage_turns.h"

namespace sortie {

std::optional<Exhausted> StageTurns::spent() const {
  if (!most_ || used_ < *most_) return {};
  const std::string used = std::to_string(used_);
  return Exhausted{.which = "stage_turns",
                   .limit = *most_,
                   .used = used_,
                   .text = "max_turns of the stage: " + used + " of " + used +
                           " turns, and its work has not ended",
                   .next = "a larger max_turns of the stage '" + stage_ + "' in the task"};
}

std::optional<std::string> StageTurns::take_notice() {
  if (!most_ || noticed_ || used_ == 0) return {};
  const int left = *most_ - used_;
  if (left * 5 > *most_ || left <= 0) return {};
  noticed_ = true;
  return "Budget notice: of this stage's turns " + std::to_string(left) +
         (left == 1 ? " is" : " are") + " left. Bring it to an end and close with your message.";
}

}  // namespace sortie
