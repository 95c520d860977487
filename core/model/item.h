#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/json.h"

namespace sortie {

/// Text from the user's side or the model's.
struct Message {
  enum class Role { user, assistant };
  Role role = Role::user;
  std::string text;
};

/// The model's reasoning; only the wire knows its content (encrypted), people see the summary.
struct Reasoning {
  std::string summary;
};

/// The model's request to use a tool.
struct ToolCall {
  enum class Form { function, custom };  ///< custom: the input is free text, not JSON
  std::string call_id;
  std::string name;
  std::string arguments;  ///< JSON text (function) or the free text (custom)
  Form form = Form::function;
};

/// What a tool call gave back, as the model sees it.
struct ToolOutput {
  std::string call_id;
  std::string text;
  bool success = true;
  ToolCall::Form form = ToolCall::Form::function;
};

/// One unit of the conversation.
struct Item {
  std::variant<Message, Reasoning, ToolCall, ToolOutput> content;
  /// What the provider sent, in its own JSON, to be handed back unchanged; "" for items of ours.
  std::string received{};
};

/// Tokens as the provider counted them.
struct Usage {
  std::int64_t input_tokens = 0;
  std::int64_t cached_input_tokens = 0;  ///< part of input_tokens
  std::int64_t output_tokens = 0;
  std::int64_t reasoning_output_tokens = 0;  ///< part of output_tokens
  Usage& operator+=(const Usage& other) noexcept {
    input_tokens += other.input_tokens;
    cached_input_tokens += other.cached_input_tokens;
    output_tokens += other.output_tokens;
    reasoning_output_tokens += other.reasoning_output_tokens;
    return *this;
  }
  bool operator==(const Usage&) const = default;
};

/// A tool as the model is told of it.
struct ToolSpec {
  std::string name;
  std::string description;
  Json parameters;  ///< JSON Schema of the arguments; unused for custom
  ToolCall::Form form = ToolCall::Form::function;
  std::string grammar{};  ///< Lark grammar of a custom tool's input
};

}  // namespace sortie
