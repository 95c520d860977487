#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/agent/history.h"
#include "core/agent/model_terms.h"

namespace sortie {

/// How many tokens a request may have as input.
struct Room {
  std::int64_t window = 0;   ///< past this it can't be answered at all
  std::int64_t limit = 0;    ///< leaves room for the longest response
  std::int64_t trigger = 0;  ///< from here on the history is shortened
};

Room room_of(const ModelTerms& terms, double compact_at);

/// What the model is asked for a hand-over with.
extern const std::string_view kHandOverRequest;
/// What it is asked for at the end of a run, for the runs to come.
extern const std::string_view kCarryOverRequest;

/// A user message that says what it is.
Item summary_message(std::string_view summary);

/// The history with a summary in place of all but its first items, the prompt in force and the last
/// turns; of those as many as leave a quarter of the room free, and with the last one's outputs cut
/// where even one is too many.
/// @param limit  tokens of input
/// @return       may still be too long, where the first items and the summary are
History with_summary(const History& history, std::string_view summary, int keep_last_turns,
                     std::int64_t limit, std::size_t fixed_bytes);

/// How many tokens a single output may have: what is left, and always a part of the room, since
/// older turns can make way for it.
std::int64_t room_for_output(const Room& room, std::int64_t used);

}  // namespace sortie
