#pragma once

#include <chrono>
#include <cstdint>
#include <functional>

#include "core/catalog/cost.h"

namespace sortie {

/// One budget for several processes: what each of them has used, and has set aside for what it does
/// now. It lies in memory that the processes share by fork(2); no other process can reach it.
///
/// A share of a process that was killed keeps what was set aside, since that may have to be paid for.
class SharedBudget {
 public:
  static constexpr int kMostShares = 16;

  struct Use {
    std::int64_t turns = 0;
    std::int64_t tool_calls = 0;
    std::int64_t tokens = 0;
    Cost cost{};
    friend Use operator+(const Use& a, const Use& b) {
      return {a.turns + b.turns, a.tool_calls + b.tool_calls, a.tokens + b.tokens, a.cost + b.cost};
    }
  };
  struct Share {
    Use used;
    Use aside;  ///< for the request and the calls that are under way
  };

  /// @param deadline  the end of the time of all of them
  explicit SharedBudget(std::chrono::steady_clock::time_point deadline);
  SharedBudget(const SharedBudget&) = delete;
  SharedBudget& operator=(const SharedBudget&) = delete;
  ~SharedBudget();

  std::chrono::steady_clock::time_point deadline() const noexcept { return deadline_; }
  /// Adds what no share has: earlier processes used it.
  void add_earlier(const Use& used);
  /// What a share has used before its process begins, in an earlier one.
  void take_up(int share, const Use& used);
  /// What all shares but one have used and set aside.
  Use others(int share) const;
  /// The share as it is now.
  Share share(int share) const;
  /// Changes a share, given what the others have used and set aside: nobody else does so meanwhile.
  void change(int share, const std::function<void(Share& own, const Use& others)>& step);
  /// Gives back what a process had set aside that has ended by itself.
  void settle(int share);

 private:
  struct Memory;
  class Lock;
  Memory* memory_;
  std::chrono::steady_clock::time_point deadline_;
};

}  // namespace sortie
