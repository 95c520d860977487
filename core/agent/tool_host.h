#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <vector>

#include "core/catalog/item.h"

namespace sortie {

/// Why the run must end after a tool call, although the call has its output.
enum class CallVerdict { go_on, forbidden, too_many_denials, protected_path_changed };

struct CallResult {
  ToolOutput output;
  CallVerdict verdict = CallVerdict::go_on;
  bool denied = false;
  std::string reason{};  ///< for the operator, where the verdict is not go_on
};

/// Cuts an output to what the conversation has room for.
/// @return  how many of its bytes are left out
using FitOutput = std::function<std::uint64_t(ToolOutput&)>;

/// The tools, as the loop sees them.
class ToolHost {
 public:
  virtual ~ToolHost() = default;
  /// In a stable order, so that requests keep their bytes.
  virtual std::vector<ToolSpec> specs() const = 0;
  /// Always yields an output with the call's id; a failed or denied call has one too.
  /// @param fit  to be asked once, of the output as it would be shown, before it is recorded
  virtual CallResult dispatch(const ToolCall& call, int turn, const FitOutput& fit,
                              std::stop_token stop) = 0;
  /// {"server","tool"} where another program offers the tool that is called, else null.
  virtual Json origin(const ToolCall&) const { return {}; }
  /// Whether the call, as far as its tool goes, changes nothing and may run beside others like it.
  virtual bool reads_only(const ToolCall&) const { return false; }
  /// Runs calls that only read, at the same time where the host can. Each result is handed out in
  /// the order of the calls, before the next is fitted. Behind one that ends the run stand those of
  /// calls that had begun by then, and no others.
  virtual void dispatch_together(std::span<const ToolCall> calls, int turn, const FitOutput& fit,
                                 const std::function<void(CallResult)>& take,
                                 std::stop_token stop) {
    for (const ToolCall& call : calls) {
      CallResult result = dispatch(call, turn, fit, stop);
      const bool ends = result.verdict != CallVerdict::go_on;
      take(std::move(result));
      if (ends) return;
    }
  }
};

}  // namespace sortie
