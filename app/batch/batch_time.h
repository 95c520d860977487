#pragma once

#include <algorithm>
#include <chrono>
#include <optional>

namespace sortie {

/// The wall clock of a batch over all its starts.
class BatchTime {
 public:
  using Time = std::chrono::steady_clock::time_point;
  using Span = std::chrono::milliseconds;

  /// @param most     of all starts together; nothing: any time
  /// @param earlier  what earlier starts took
  BatchTime(std::optional<Span> most, Span earlier) : most_(most), earlier_(earlier) {}

  Time started() const noexcept { return started_; }
  /// Of this start.
  Span taken() const {
    return std::chrono::duration_cast<Span>(std::chrono::steady_clock::now() - started_);
  }
  /// What is left; nothing if it is not limited.
  std::optional<Span> left() const {
    if (!most_) return std::nullopt;
    return std::max(*most_ - earlier_ - taken(), Span(0));
  }
  bool over() const { return left() == Span(0); }

 private:
  Time started_ = std::chrono::steady_clock::now();
  std::optional<Span> most_;
  Span earlier_;
};

}  // namespace sortie
