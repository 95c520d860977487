#include "core/rates/rate_limiter.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

namespace sortie {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// A wait that is expected to take this long is announced when it begins.
constexpr nanoseconds kLongWait = 1s;
/// How much a usual response follows the last one: an eighth.
constexpr std::int64_t kMemory = 8;

const char* word_of(RateCause cause) {
  switch (cause) {
    case RateCause::requests:
      return "requests";
    case RateCause::tokens:
      return "tokens";
    case RateCause::paused:
      return "paused";
    case RateCause::none:
      break;
  }
  return "queue";
}

milliseconds in_ms(nanoseconds time) { return std::chrono::ceil<milliseconds>(time); }

}  // namespace

class RateLimiter::Paced : public PacedRequest {
 public:
  Paced(RateLimiter& limiter, const RequestSize& size) : limiter_(limiter), size_(size) {}
  Paced(const Paced&) = delete;
  Paced& operator=(const Paced&) = delete;
  ~Paced() override { leave(); }

  Wait wait(std::chrono::steady_clock::time_point deadline, std::stop_token stop,
            const Told& told) override;
  void settle(const std::optional<Usage>& usage) override;
  void refuse(std::optional<milliseconds> retry_after) override;

 private:
  RateTurn ask(nanoseconds patience);
  void keep_on(const RateStore::Step& step) noexcept;
  void leave();

  RateLimiter& limiter_;
  RequestSize size_;
  std::uint64_t number_ = 0;  ///< of the ticket
  bool waits_ = false;        ///< it may have one in the queue
  std::int64_t reserved_ = 0;
  nanoseconds taken_at_{0};
};

std::unique_ptr<PacedRequest> RateLimiter::begin(const RequestSize& size) {
  return std::make_unique<Paced>(*this, size);
}

std::int64_t RateLimiter::counted_input(const Usage& usage) const {
  return parts_.counted == CountedInput::all
             ? usage.input_tokens
             : std::max<std::int64_t>(0, usage.input_tokens - usage.cached_input_tokens);
}

RateTurn RateLimiter::Paced::ask(nanoseconds patience) {
  const Parts& parts = limiter_.parts_;
  RateTurn turn;
  parts.store.change([&](RateState& state, nanoseconds now) {
    const std::int64_t usual = state.queue(parts.name, now).bucket.output_tokens;
    reserved_ = static_cast<std::int64_t>(
                    std::ceil(static_cast<double>(size_.input_tokens) * limiter_.input_ratio_)) +
                std::min(size_.max_output_tokens, usual);
    turn = state.ask(parts.name, parts.pace,
                     {.number = number_, .tokens = reserved_, .patience = patience}, now);
    taken_at_ = now;
  });
  number_ = turn.number;
  waits_ = !turn.go;
  return turn;
}

PacedRequest::Wait RateLimiter::Paced::wait(std::chrono::steady_clock::time_point deadline,
                                            std::stop_token stop, const Told& told) {
  Clock& clock = limiter_.parts_.clock;
  const auto began = clock.steady();
  std::optional<PacedWait> announced;
  const auto end = [&](Wait wait) {
    if (wait.ending != Ending::turn) leave();
    if (announced) {
      announced->waited = to_ms(clock.steady() - began);
      told(*announced);
    }
    return wait;
  };
  for (;;) {
    if (stop.stop_requested()) {
      end({Ending::out_of_time});
      throw Stopped();
    }
    const nanoseconds left = deadline - clock.steady();
    if (left <= 0ns) return end({Ending::out_of_time});
    const RateTurn turn = ask(left);
    if (turn.go) return end({Ending::turn});
    const bool first = !announced;
    if (first)
      announced = PacedWait{.limit = limiter_.parts_.name,
                            .cause = word_of(turn.cause),
                            .ahead = static_cast<std::int64_t>(turn.ahead),
                            .expected = in_ms(turn.expected)};
    if (turn.pause >= left) return end({Ending::paused, in_ms(turn.pause)});
    if (first && turn.expected >= kLongWait) told(*announced);
    clock.sleep_for(in_ms(std::min(turn.look_in, left)), stop);
  }
}

/// Without the state the run goes on: an estimate stands, and a ticket is passed over and forgotten. A
/// response that was paid for must not be lost for it.
void RateLimiter::Paced::keep_on(const RateStore::Step& step) noexcept {
  try {
    limiter_.parts_.store.change(step);
  } catch (const std::exception&) {
  }
}

void RateLimiter::Paced::leave() {
  if (!std::exchange(waits_, false)) return;
  keep_on([this](RateState& state, nanoseconds now) {
    state.leave(limiter_.parts_.name, number_, now);
  });
}

void RateLimiter::Paced::settle(const std::optional<Usage>& usage) {
  const Parts& parts = limiter_.parts_;
  if (!usage || parts.pace.tokens == 0) return;
  const std::int64_t input = limiter_.counted_input(*usage);
  if (size_.input_tokens > 0)
    limiter_.input_ratio_ = std::clamp(
        static_cast<double>(input) / static_cast<double>(size_.input_tokens), 0.01, 10.0);
  const std::int64_t more = input + usage->output_tokens - reserved_;
  keep_on([&](RateState& state, nanoseconds now) {
    RateBucket& bucket = state.queue(parts.name, now).bucket;
    correct(bucket, parts.pace, more, taken_at_, now);
    bucket.output_tokens += (usage->output_tokens - bucket.output_tokens) / kMemory;
  });
}

void RateLimiter::Paced::refuse(std::optional<milliseconds> retry_after) {
  const Parts& parts = limiter_.parts_;
  // A provider that names no time may count otherwise than it is said to: a sixtieth of its window.
  const nanoseconds pause = retry_after ? nanoseconds(*retry_after) : parts.pace.window / 60;
  keep_on([&](RateState& state, nanoseconds now) {
    state.pause(parts.name, now + pause, now);
    correct(state.queue(parts.name, now).bucket, parts.pace, -reserved_, taken_at_, now);
  });
}

}  // namespace sortie
