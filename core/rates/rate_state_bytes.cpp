#include "core/rates/rate_state_bytes.h"

#include <cstring>
#include <utility>

namespace sortie {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kLengthAt = 16;
constexpr std::size_t kChecksumAt = kLengthAt + 8;
constexpr std::size_t kContentAt = kChecksumAt + 8;
constexpr std::size_t kMostBootBytes = 64;

/// FNV-1a, eight bytes at a time: for texts that were torn, not for those that were forged.
std::uint64_t checksum(std::string_view bytes) {
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t sum = 0xcbf29ce484222325;
  while (bytes.size() >= 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), 8);
    sum = (sum ^ word) * kPrime;
    sum ^= sum >> 29;
    bytes.remove_prefix(8);
  }
  for (const char byte : bytes) sum = (sum ^ static_cast<unsigned char>(byte)) * kPrime;
  return sum;
}

class Writer {
 public:
  explicit Writer(std::string& to) : to_(to) {}
  template <typename Int>
  void number(Int value) {
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    to_.append(bytes, sizeof value);
  }
  void time(nanoseconds value) { number<std::int64_t>(value.count()); }
  void count(std::size_t value) { number(static_cast<std::uint32_t>(value)); }
  void text(std::string_view value) {
    count(value.size());
    to_ += value;
  }

 private:
  std::string& to_;
};

/// Reads what Writer wrote; once something is missing, all that follows is 0 and ok() is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && left_.empty(); }
  template <typename Int>
  Int number() {
    Int value = 0;
    const std::string_view bytes = take(sizeof value);
    if (ok_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  nanoseconds time() { return nanoseconds(number<std::int64_t>()); }
  /// @param most  a larger one is an error
  std::size_t count(std::size_t most) {
    const auto value = number<std::uint32_t>();
    ok_ = ok_ && value <= most;
    return ok_ ? value : 0;
  }
  std::string text(std::size_t most) { return std::string(take(count(most))); }

 private:
  std::string_view take(std::size_t size) {
    ok_ = ok_ && left_.size() >= size;
    if (!ok_) return {};
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

  std::string_view left_;
  bool ok_ = true;
};

void write(const RateBucket& bucket, Writer& to) {
  to.time(bucket.next_request);
  to.time(bucket.next_tokens);
  to.time(bucket.paused_until);
  to.number(bucket.output_tokens);
  to.number(bucket.taken);
  to.number(bucket.refused);
  const TokenWindow& window = bucket.window;
  to.time(window.part);
  to.number(window.newest);
  std::size_t used = 0;
  for (const std::int64_t tokens : window.tokens) used += tokens == 0 ? 0 : 1;
  to.count(used);
  for (std::size_t i = 0; i < window.tokens.size(); ++i) {
    if (window.tokens[i] == 0) continue;
    to.count(i);
    to.number(window.tokens[i]);
  }
}

RateBucket read_bucket(Reader& from) {
  RateBucket bucket;
  bucket.next_request = from.time();
  bucket.next_tokens = from.time();
  bucket.paused_until = from.time();
  bucket.output_tokens = from.number<std::int64_t>();
  bucket.taken = from.number<std::int64_t>();
  bucket.refused = from.number<std::int64_t>();
  TokenWindow& window = bucket.window;
  window.part = from.time();
  window.newest = from.number<std::int64_t>();
  const std::size_t parts = window.tokens.size();
  for (std::size_t left = from.count(parts); left > 0; --left) {
    const std::size_t place = from.count(parts - 1);
    window.tokens[place] = from.number<std::int64_t>();
  }
  return bucket;
}

RateQueue read_queue(Reader& from) {
  RateQueue queue;
  queue.name = from.text(RateState::kMostNameBytes);
  queue.used_at = from.time();
  queue.bucket = read_bucket(from);
  for (std::size_t left = from.count(RateState::kMostWaiting); left > 0 && from.ok(); --left) {
    RateTicket ticket;
    ticket.number = from.number<std::uint64_t>();
    ticket.tokens = from.number<std::int64_t>();
    ticket.awake_at = from.time();
    queue.waiting.push_back(ticket);
  }
  return queue;
}

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

}  // namespace

std::string with_state_head(std::string_view content) {
  std::string bytes(kContentAt, '\0');
  bytes += content;
  const std::uint64_t length = bytes.size();
  const std::uint64_t sum = checksum(content);
  std::memcpy(bytes.data(), kRateStateMagic.data(), kRateStateMagic.size());
  std::memcpy(bytes.data() + kLengthAt, &length, sizeof length);
  std::memcpy(bytes.data() + kChecksumAt, &sum, sizeof sum);
  return bytes;
}

std::string state_bytes(const StoredState& stored) {
  std::string content;
  Writer to(content);
  to.number(stored.sequence);
  to.time(stored.written_at);
  to.text(std::string_view(stored.boot).substr(0, kMostBootBytes));
  to.number(stored.state.last_number);
  to.count(stored.state.queues.size());
  for (const RateQueue& queue : stored.state.queues) {
    to.text(queue.name);
    to.time(queue.used_at);
    write(queue.bucket, to);
    to.count(queue.waiting.size());
    for (const RateTicket& ticket : queue.waiting) {
      to.number(ticket.number);
      to.number(ticket.tokens);
      to.time(ticket.awake_at);
    }
  }
  return with_state_head(content);
}

std::size_t state_length(std::string_view begin) {
  if (begin.size() < kContentAt || !begin.starts_with(kRateStateMagic)) return 0;
  const std::uint64_t length = number_at(begin, kLengthAt);
  return length < kContentAt || length > kMostStateBytes ? 0 : static_cast<std::size_t>(length);
}

std::uint64_t state_sequence(std::string_view begin) {
  return state_length(begin) < kContentAt + 8 || begin.size() < kContentAt + 8
             ? 0
             : number_at(begin, kContentAt);
}

std::optional<StoredState> read_state_bytes(std::string_view bytes) {
  if (state_length(bytes) != bytes.size() || bytes.empty()) return std::nullopt;
  const std::string_view content = bytes.substr(kContentAt);
  if (checksum(content) != number_at(bytes, kChecksumAt)) return std::nullopt;
  Reader from(content);
  StoredState stored;
  stored.sequence = from.number<std::uint64_t>();
  stored.written_at = from.time();
  stored.boot = from.text(kMostBootBytes);
  stored.state.last_number = from.number<std::uint64_t>();
  for (std::size_t left = from.count(RateState::kMostQueues); left > 0 && from.ok(); --left)
    stored.state.queues.push_back(read_queue(from));
  if (!from.at_end()) return std::nullopt;
  return stored;
}

}  // namespace sortie
