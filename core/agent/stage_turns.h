#pragma once

#include <optional>
#include <string>

#include "core/agent/budget.h"

namespace sortie {

/// The requests that a stage may take, and has taken.
class StageTurns {
 public:
  /// Of a conversation without stages.
  StageTurns() = default;
  /// @param most  nothing: no limit of the stage's own
  StageTurns(std::string stage, std::optional<int> most) : stage_(std::move(stage)), most_(most) {}

  void count() noexcept { ++used_; }
  /// The limit, where it is reached.
  std::optional<Exhausted> spent() const;
  /// Once, when 80 % are used, and not before the first: what is left, worded for the model.
  std::optional<std::string> take_notice();

 private:
  std::string stage_;
  std::optional<int> most_;
  int used_ = 0;
  bool noticed_ = false;
};

}  // namespace sortie
