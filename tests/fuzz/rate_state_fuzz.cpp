// Reads any bytes as the state of rate limits, as they are and as a content whose checksum holds: what is
// read can be written, and read again as the same.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "core/rates/rate_state_bytes.h"

using namespace sortie;

namespace {

void read(std::string_view bytes) {
  const std::size_t length = state_length(bytes);
  if (length > kMostStateBytes) std::abort();
  const auto stored = read_state_bytes(bytes);
  if (!stored) return;
  if (length != bytes.size() || state_sequence(bytes) != stored->sequence) std::abort();
  if (stored->state.queues.size() > RateState::kMostQueues) std::abort();
  for (const RateQueue& queue : stored->state.queues)
    if (queue.name.size() > RateState::kMostNameBytes ||
        queue.waiting.size() > RateState::kMostWaiting)
      std::abort();
  const std::string written = state_bytes(*stored);
  const auto again = read_state_bytes(written);
  if (!again || again->boot != stored->boot || again->written_at != stored->written_at ||
      !(again->state == stored->state))
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read(bytes);
  read(with_state_head(bytes));
  return 0;
}
