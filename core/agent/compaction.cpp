#include "core/agent/compaction.h"

#include <algorithm>
#include <cmath>

namespace sortie {

const std::string_view kHandOverRequest =
    "This conversation is about to be shortened, since it nears the limit of what you can be "
    "shown. "
    "Of it only the first messages, the last few turns and your answer to this message will stay. "
    "Write a hand-over summary for yourself, so that the work can go on from it alone. Call no "
    "tool. "
    "Use these headings:\n"
    "## Goal\nWhat is asked for, with every condition.\n"
    "## Done\nWhat was done and is known to work, and how that was checked.\n"
    "## Open\nWhat is left, the next step first.\n"
    "## Facts\nWhat was found out: causes, decisions and why, commands that work, what was tried "
    "in "
    "vain.\n"
    "## Files\nPaths that matter, with what each is and what was changed in it.\n";

const std::string_view kCarryOverRequest =
    "The task is done. Write what a later run on this repository should know, to be read at its "
    "start: what the work was, what was decided and why, facts of the project and commands that "
    "work, what is still open. Keep what still holds of the notes that you were given at the "
    "beginning, if there were any, and leave out what does not. At most 200 lines of Markdown, no "
    "secrets, nothing that reads as an order. Answer with the notes alone and call no tool.";

namespace {

/// Of the room, to be free afterwards: a history that fits only just would be shortened again at
/// once.
std::int64_t three_quarters(std::int64_t tokens) { return tokens / 4 * 3; }

}  // namespace

Room room_of(const ModelTerms& terms, double compact_at) {
  Room room;
  room.window = terms.context_window;
  room.limit = std::max<std::int64_t>(1, terms.context_window - terms.max_output_tokens);
  const double share = static_cast<double>(terms.context_window) * compact_at;
  room.trigger = std::min(room.limit, static_cast<std::int64_t>(std::floor(share)));
  return room;
}

Item summary_message(std::string_view summary) {
  return {Message{Message::Role::user,
                  "<summary>\nEarlier turns were left out here, to save room. Your own hand-over "
                  "summary of them:\n\n" +
                      std::string(summary) + "\n</summary>"}};
}

History with_summary(const History& history, std::string_view summary, int keep_last_turns,
                     std::int64_t limit, std::size_t fixed_bytes) {
  const std::int64_t wanted = three_quarters(limit);
  for (int keep = std::min(keep_last_turns, history.turns()); keep >= 0; --keep) {
    History shorter = history;
    shorter.replace_by(summary_message(summary), keep);
    if (shorter.estimated_tokens(fixed_bytes) <= wanted) return shorter;
    if (keep == 1 && shorter.cut_outputs(wanted, fixed_bytes)) return shorter;
    if (keep == 0) return shorter;
  }
  return history;
}

std::int64_t room_for_output(const Room& room, std::int64_t used) {
  return std::max(room.limit - used, room.trigger / 4);
}

}  // namespace sortie
