#include "ci/report/run_story.h"

#include "core/text/display_width.h"

namespace sortie {

std::size_t command_in_next(std::string_view next) noexcept {
  const std::size_t shown = next.find(kShownByHand);
  if (shown != next.npos) return shown;
  const bool applies = next.starts_with("git apply ") || next.starts_with("git -C ");
  return applies && next.find("; ") == next.npos ? next.size() : 0;
}

std::string words_of_lines(std::int64_t added, std::int64_t removed) {
  if (added < 0 || removed < 0) return "lines unknown";
  return "+" + with_thousands(added) + " -" + with_thousands(removed);
}

std::string RunStory::denied_words() const {
  const auto counted = [](int number, const char* noun) {
    return with_thousands(number) + " " + noun + (number == 1 ? "" : "s");
  };
  if (denied_connections == 0) return counted(denied_calls, "call");
  return (denied_calls == 0 ? "" : counted(denied_calls, "call") + ", ") +
         counted(denied_connections, "connection");
}

const StoryRound* RunStory::failing_round() const {
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round)
    if (round->phase == VerificationPhase::after) return round->passed ? nullptr : &*round;
  return nullptr;
}

}  // namespace sortie
