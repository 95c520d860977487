#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/rates/rate_state.h"

namespace sortie {

/// A state as it lies in its file.
struct StoredState {
  std::uint64_t sequence = 0;              ///< one more with each change
  std::chrono::nanoseconds written_at{0};  ///< BootTime
  std::string boot{};                      ///< BootTime::boot()
  RateState state{};
};

/// What every such text begins with; a file that holds something else is not ours.
inline constexpr std::string_view kRateStateMagic = "sortie-rates-1\n";
/// The longest one.
inline constexpr std::size_t kMostStateBytes = 128u << 10;

/// The layout, integers of 8 bytes in the machine's order unless a size is named (the file never leaves
/// the machine):
///
///     magic (15 bytes), NUL, length of all, checksum of all that follows, sequence, written_at,
///     boot (a text), last_number, count of queues (4),
///     each: name (a text), used_at, next_request, next_tokens, paused_until, output_tokens, taken,
///           refused, window.part, window.newest, count of parts that are not 0 (4), each: place (4),
///           tokens; count of tickets (4), each: number, tokens, awake_at
///     a text: its length (4), its bytes
std::string state_bytes(const StoredState& stored);

/// The same of a content that was made elsewhere: puts magic, length and checksum before it.
std::string with_state_head(std::string_view content);

/// The length of the text that begins so; 0 if none does.
std::size_t state_length(std::string_view begin);

/// The sequence in a text that begins so, whether it is whole or not; 0 if none does.
std::uint64_t state_sequence(std::string_view begin);

/// Nothing if the text is not whole and unchanged.
std::optional<StoredState> read_state_bytes(std::string_view bytes);

}  // namespace sortie
