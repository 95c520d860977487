#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json/json.h"

namespace sortie {

/// A call as its pieces have come together.
struct ChatCall {
  std::string id{};
  std::string name{};
  std::string arguments{};
  std::string type{};  ///< "" is "function"
  std::optional<std::int64_t> index{};
};

/// Puts the calls of a stream together from their pieces.
///
/// By the format a piece names its call by `index`, and the first one has id and name. Servers also
/// send whole calls in one piece, repeat id or name in each, give all calls the index 0, leave the
/// index out, or send arguments as an object.
class ChatCalls {
 public:
  /// `tool_calls` of a delta. @return the bytes that it added
  std::size_t add_tool_calls(const Json& pieces);
  /// `function_call` of a delta: the older form, of one call without an id.
  std::size_t add_function_call(const Json& piece);
  const std::vector<ChatCall>& calls() const noexcept { return calls_; }
  const std::optional<ChatCall>& function_call() const noexcept { return function_call_; }

 private:
  ChatCall& call_of(const Json& piece);
  std::vector<ChatCall> calls_;
  std::optional<ChatCall> function_call_;
};

}  // namespace sortie
